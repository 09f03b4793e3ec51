#pragma once

#include <optional>
#include <string>

#include "domain/delivery.h"
#include "flow/journal.h"
#include "wire/reply_token.h"

namespace holdpoint {

// Lets who gets our mails have no more of them, by the token that each mail brings along.
class Unsubscribe {
 public:
  Unsubscribe(Database& db, Journal& journal, ReplyTokens tokens)
      : db_(db), journal_(journal), tokens_(std::move(tokens)) {}

  // The mail that the token came with; nothing if it is none of ours.
  std::optional<Delivery> find(const std::string& token);
  // No more mails to its recipient, and what they are owed dies. Redelivering one lifts that.
  // `address` is the caller's, for the audit log.
  void stop(const Delivery& mail, const std::string& address, Time now);

 private:
  Database& db_;
  Journal& journal_;
  const ReplyTokens tokens_;
};

}  // namespace holdpoint
