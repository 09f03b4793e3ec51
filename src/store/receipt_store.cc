#include "store/receipt_store.h"

namespace holdpoint::receipt_store {

bool has_other_body(Transaction& tx, const Receipt& receipt) {
  if (receipt.webhook_id.empty()) return false;
  bool found = false;
  tx.query(
      "SELECT 1 FROM webhook_receipts WHERE agent_name = $1 AND webhook_id = $2 AND body_hash <> "
      "$3 "
      "LIMIT 1",
      [&](const Row&) { found = true; }, receipt.agent_name, receipt.webhook_id, receipt.body_hash);
  return found;
}

bool insert(Transaction& tx, const Receipt& receipt, Time now) {
  if (has_other_body(tx, receipt)) return false;
  return tx.execute(
             "INSERT INTO webhook_receipts (agent_name, signature_hash, webhook_id, body_hash, "
             "received_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
             receipt.agent_name, receipt.signature_hash, receipt.webhook_id, receipt.body_hash,
             now) == 1;
}

std::int64_t remove_older(Transaction& tx, Time before) {
  return tx.execute("DELETE FROM webhook_receipts WHERE received_at < $1", before);
}

}  // namespace holdpoint::receipt_store
