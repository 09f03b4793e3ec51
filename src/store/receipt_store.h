#pragma once

#include <string>

#include "store/database.h"

// The rows of webhook_receipts: signed webhooks that were taken.
namespace holdpoint::receipt_store {

struct Receipt {
  std::string agent_name;
  std::string signature_hash;
  std::string webhook_id;  // Empty: the scheme has none.
  std::string body_hash;
};

// False, and nothing is kept, if the same signature was taken before, or the same id with another
// body. The same id and body under a new signature is the sender's own retry.
[[nodiscard]] bool insert(Transaction& tx, const Receipt& receipt, Time now);
// Whether the id was taken with another body.
bool has_other_body(Transaction& tx, const Receipt& receipt);
std::int64_t remove_older(Transaction& tx, Time before);

}  // namespace holdpoint::receipt_store
