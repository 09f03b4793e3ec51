#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/definition.h"
#include "domain/actor.h"
#include "domain/ask.h"
#include "domain/session.h"
#include "flow/journal.h"
#include "flow/notices.h"
#include "store/receipt_store.h"
#include "wire/question_json.h"

namespace holdpoint {

// Admits sessions: triggers from upstream, and asks of agents that live elsewhere.
class Intake {
 public:
  struct Options {
    AskDefaults ask;
    Limits limits;
  };
  Intake(Database& db, Journal& journal, Notices& notices, Agents& agents, Options options)
      : db_(db), journal_(journal), notices_(notices), agents_(agents), options_(options) {}

  struct Trigger {
    std::string agent_name;
    std::string_view payload;  // JSON that passed check_json.
    std::optional<std::string> idempotency_key;
    std::optional<SessionId> parent_id;
    Actor by;
    std::optional<receipt_store::Receipt> receipt;  // Of a signed webhook.
  };
  struct Admitted {
    SessionId session;
    SessionStatus status = SessionStatus::running;
    bool duplicate = false;  // There already was a session for this key.
    std::vector<Question> questions;
    bool replayed = false;  // The signed webhook was taken before: nothing was admitted.
  };

  // Nothing if there is no such agent. Throws BadRequest.
  std::optional<Admitted> admit(const Trigger& trigger, Time now);

  // One transaction admits the session and parks it on its ask. Nothing if there is no such agent.
  // Throws BadRequest.
  std::optional<Admitted> admit_ask(const std::string& agent_name, const Ask& ask,
                                    const std::optional<std::string>& idempotency_key,
                                    const Actor& by, Time now);

  // What an ask for this agent may leave out.
  AskDefaults ask_defaults(const AgentDefinition& agent) const;

 private:
  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Agents& agents_;
  const Options options_;
};

}  // namespace holdpoint
