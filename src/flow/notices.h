#pragma once

#include <set>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "domain/ask.h"
#include "domain/card.h"
#include "domain/session.h"
#include "flow/addresses.h"
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
    Addresses addresses;
  };
  Notices(Agents& agents, Options options) : agents_(agents), options_(std::move(options)) {}

  // Where an ask or a card of this agent goes besides its callback. Throws BadRequest for what it
  // adds itself and nobody can reach.
  std::vector<Address> addresses_for(const std::string& agent_name,
                                     const std::vector<Target>& added);

  // The platforms that an ask for these places, and its callback, goes to; or a card.
  std::vector<std::string> channels_of(const std::string& agent_name,
                                       const std::vector<Address>& to,
                                       std::string_view event = "question_pending");

  // Where its asks go of themselves, as targets that leave nothing open: `slack:#ops`; and whether
  // its callback, or the settings' for it, is called too.
  std::vector<std::string> targets_of(const AgentDefinition& agent) const;
  bool has_callback(const std::string& agent_name);

  // The questions of one ask are pending.
  void asked(Transaction& tx, Story& story, const std::vector<Question>& ask,
             const std::vector<Address>& to, Time now);
  // People are told what a card of this session says.
  void card_posted(Transaction& tx, Story& story, const SessionId& session,
                   const std::string& agent_name, const Card& card, const std::vector<Address>& to,
                   Time now);
  void question_settled(Transaction& tx, Story& story, const Question& question, Time now);
  // session_completed, session_failed or session_cancelled, by the status the session has just got.
  void session_ended(Transaction& tx, Story& story, const SessionId& session,
                     const std::string& agent_name, SessionStatus status, Time now);

  // People have this message, and of the `questions` it is about some are settled: owes what shows
  // that. Once for all that is owed at a time, as it shows how things are when it is sent.
  void settle_message(Transaction& tx, Story& story, const Delivery& post,
                      const std::vector<Question>& questions, Time now);
  // A mail to whom the original went, about the reply that came back.
  void mail_back(Transaction& tx, Story& story, const Delivery& original, const std::string& reason,
                 Time now);

  // What signs messages of an agent.
  std::vector<WebhookSecret> secrets_for(const std::string& agent_name);
  // The platforms that messages can go to, as the settings and the agents are now: `url`, `slack`,
  // `discord`, `email`.
  std::set<std::string> platforms();

 private:
  struct Destination {
    std::string url;
    std::vector<std::string> events;
  };
  std::optional<Destination> destination_for(const std::string& agent_name, std::string_view event);
  void call_back(Transaction& tx, Story& story, const Question& question, const Destination& to,
                 Time now);
  void owe(Transaction& tx, Story& story, Delivery delivery, const Address& to, Time now);

  Agents& agents_;
  const Options options_;
};

}  // namespace holdpoint
