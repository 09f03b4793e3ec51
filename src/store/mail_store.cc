#include "store/mail_store.h"

namespace holdpoint::mail_store {

bool receive(Transaction& tx, const std::string& mail_hash, Time now) {
  return tx.execute(
             "INSERT INTO mail_receipts (mail_hash, received_at) VALUES ($1, $2) "
             "ON CONFLICT DO NOTHING",
             mail_hash, now) == 1;
}

void remove_older(Transaction& tx, Time before) {
  tx.post("DELETE FROM mail_receipts WHERE received_at < $1", before);
}

}  // namespace holdpoint::mail_store
