#include "store/audit_store.h"

namespace holdpoint::audit_store {
namespace {

#define AUDIT_COLUMNS "seq, at, actor, credential, address, action, subject, detail, hash"

Entry read_entry(const Row& row) {
  return {row.integer(0), row.string(1), {row.string(2), row.string(3), row.string(4)},
          row.string(5),  row.string(6), row.string(7),
          row.string(8)};
}

}  // namespace

Head head(Transaction& tx) {
  Head head;
  tx.query("SELECT seq, hash FROM audit_head WHERE id = 1", [&](const Row& row) {
    head = {row.integer(0), row.string(1)};
  });
  return head;
}

void append(Transaction& tx, const Entry& e) {
  tx.execute(
      "INSERT INTO audit_log (seq, at, actor, credential, address, action, subject, detail, hash) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      e.seq, e.at, e.actor.name, e.actor.credential, e.actor.address, e.action, e.subject, e.detail,
      e.hash);
  tx.execute(
      "INSERT INTO audit_head (id, seq, hash) VALUES (1, $1, $2) ON CONFLICT (id) DO UPDATE SET "
      "seq = $1, hash = $2",
      e.seq, e.hash);
}

void each(Transaction& tx, const std::function<void(const Entry&)>& visit) {
  tx.query("SELECT " AUDIT_COLUMNS " FROM audit_log ORDER BY COALESCE(seq, 0)",
           [&](const Row& row) { visit(read_entry(row)); });
}

void each(Transaction& tx, std::int64_t seq, std::int64_t limit,
          const std::function<void(const Entry&)>& visit) {
  tx.query(
      "SELECT " AUDIT_COLUMNS " FROM audit_log WHERE seq > $1 ORDER BY seq LIMIT $2",
      [&](const Row& row) { visit(read_entry(row)); }, seq, limit);
}

}  // namespace holdpoint::audit_store
