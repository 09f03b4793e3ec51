#pragma once

#include <string>
#include <vector>

#include "agents/definition.h"
#include "domain/question.h"
#include "domain/session.h"
#include "flow/journal.h"
#include "wire/signature.h"

namespace holdpoint {

// Decides which messages a step owes to whom, and puts them into the outbox in that step's
// transaction.
class Notices {
 public:
  struct Options {
    std::string public_url;  // Where answer links point, without a slash at the end.
    std::optional<std::string> callback_url;  // For agents that name none.
    std::vector<WebhookSecret> callback_secrets;
    std::vector<std::string> callback_events;  // Besides question_pending.
  };
  Notices(Agents& agents, Options options) : agents_(agents), options_(std::move(options)) {}

  void question_pending(Transaction& tx, Story& story, const Question& question, Time now);
  void question_settled(Transaction& tx, Story& story, const Question& question, Time now);
  // session_completed, session_failed or session_cancelled, by the status the session has just got.
  void session_ended(Transaction& tx, Story& story, const SessionId& session,
                     const std::string& agent_name, SessionStatus status, Time now);

  // What signs messages of an agent.
  std::vector<WebhookSecret> secrets_for(const std::string& agent_name);

 private:
  struct Destination {
    std::string url;
    std::vector<std::string> events;
  };
  std::optional<Destination> destination_for(const std::string& agent_name, std::string_view event);
  void owe(Transaction& tx, Story& story, Delivery delivery, const Destination& to, Time now);

  Agents& agents_;
  const Options options_;
};

}  // namespace holdpoint
