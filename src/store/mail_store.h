#pragma once

#include <string>

#include "store/database.h"

// The rows of mail_receipts. Each function is one step of the caller's transaction.
namespace holdpoint::mail_store {

// Notes that a mail gets a mail back. False if that was noted before: it has got its own.
[[nodiscard]] bool receive(Transaction& tx, const std::string& mail_hash, Time now);
void remove_older(Transaction& tx, Time before);

}  // namespace holdpoint::mail_store
