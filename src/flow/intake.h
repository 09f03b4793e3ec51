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
#include "wire/card_json.h"
#include "wire/outside_ask.h"

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
    std::vector<std::string> channels = {};  // Where a card goes.
  };

  // Nothing if there is no such agent. Throws BadRequest.
  std::optional<Admitted> admit(const Trigger& trigger, Time now);

  // One transaction admits the session and parks it on its ask, or joins the one that is the same:
  // then `duplicate` is set. Nothing if there is no such agent. Throws BadRequest.
  std::optional<Admitted> admit_ask(const OutsideAsk& outside, const Actor& by, Time now);

  // One transaction admits a session that is over at once, and owes the messages that tell people
  // what it says; or finds the one of the same key. Nothing if there is no such agent. Throws
  // BadRequest.
  std::optional<Admitted> admit_card(const OutsideCard& outside, const Actor& by, Time now);

  // What an ask for this agent may leave out.
  AskDefaults ask_defaults(const AgentDefinition& agent) const;

 private:
  // Throws BadRequest for one that does not live elsewhere.
  std::shared_ptr<const AgentDefinition> find_outside_agent(const std::string& name) const;

  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Agents& agents_;
  const Options options_;
};

}  // namespace holdpoint
