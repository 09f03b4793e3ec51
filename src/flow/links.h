#pragma once

#include <optional>
#include <string>

#include "agents/definition.h"
#include "domain/actor.h"
#include "domain/delivery.h"
#include "domain/question.h"
#include "store/link_store.h"

namespace holdpoint {

// Answer links: each lets its holder answer one question, in its recipient's name.
class Links {
 public:
  Links(Database& db, Agents& agents) : db_(db), agents_(agents) {}

  // A new link's token; nothing if there is no such question. Throws BadRequest if it is settled,
  // or if the agent's answerers do not list the recipient.
  std::optional<std::string> make(const QuestionId& question, const std::string& recipient,
                                  const Actor& by, Time now);

  struct Opened {
    Question question;
    std::string channel;
    Actor actor;  // The recipient, by this link; from where, the caller knows.
  };
  // What the token opens; nothing if it opens nothing, or belongs to another session.
  std::optional<Opened> open(const SessionId& session, const std::string& token);

 private:
  Database& db_;
  Agents& agents_;
};

namespace links {

// Gives a delivery its own tokens, one for each question it is about: into the body or beside it as
// text, into the store as a hash. A step of the transaction that claims the delivery for an
// attempt.
void put_token(Transaction& tx, Delivery& delivery, Time now);

}  // namespace links
}  // namespace holdpoint
