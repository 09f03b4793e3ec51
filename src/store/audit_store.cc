#include "store/audit_store.h"

#include <limits>

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

void add_pending(Transaction& tx, const std::string& id, const Entry& e) {
  tx.post(
      "INSERT INTO audit_pending (id, at, actor, credential, address, action, subject, detail) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
      id, e.at, e.actor.name, e.actor.credential, e.actor.address, e.action, e.subject, e.detail);
}

bool any_pending(Transaction& tx) {
  bool any = false;
  tx.query("SELECT 1 FROM audit_pending LIMIT 1", [&](const Row&) { any = true; });
  return any;
}

std::optional<Head> lock_head(Transaction& tx, Wait wait) {
  std::optional<Head> head;
  tx.query(wait == Wait::yes
               ? "SELECT seq, hash FROM audit_head WHERE id = 1 FOR UPDATE"
               : "SELECT seq, hash FROM audit_head WHERE id = 1 FOR UPDATE SKIP LOCKED",
           [&](const Row& row) {
             head = Head{row.integer(0), row.string(1)};
           });
  return head;
}

std::vector<std::pair<std::string, Entry>> pending(Transaction& tx, std::int64_t most) {
  std::vector<std::pair<std::string, Entry>> waiting;
  tx.query(
      "SELECT id, at, actor, credential, address, action, subject, detail FROM audit_pending ORDER "
      "BY id LIMIT $1",
      [&](const Row& row) {
        Entry entry{0,
                    row.string(1),
                    {row.string(2), row.string(3), row.string(4)},
                    row.string(5),
                    row.string(6),
                    row.string(7),
                    ""};
        waiting.emplace_back(row.string(0), std::move(entry));
      },
      most);
  return waiting;
}

void link(Transaction& tx, const std::string& id, const Entry& e) {
  tx.post(
      "INSERT INTO audit_log (seq, at, actor, credential, address, action, subject, detail, hash) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      e.seq, e.at, e.actor.name, e.actor.credential, e.actor.address, e.action, e.subject, e.detail,
      e.hash);
  tx.post("DELETE FROM audit_pending WHERE id = $1", id);
}

void move_head(Transaction& tx, const Head& head) {
  tx.post("UPDATE audit_head SET seq = $1, hash = $2 WHERE id = 1", head.seq, head.hash);
}

void each(Transaction& tx, const std::function<void(const Entry&)>& visit) {
  constexpr std::int64_t kPage = 1000;
  tx.query("SELECT " AUDIT_COLUMNS " FROM audit_log WHERE seq IS NULL",
           [&](const Row& row) { visit(read_entry(row)); });
  std::int64_t after = std::numeric_limits<std::int64_t>::min();
  bool more = true;
  while (more) {
    std::int64_t rows = 0;
    std::int64_t last = after;
    each(tx, after, kPage, [&](const Entry& entry) {
      ++rows;
      last = entry.seq;
      visit(entry);
    });
    more = rows == kPage && last > after;  // A number that is none could repeat for ever.
    after = last;
  }
}

void each(Transaction& tx, std::int64_t seq, std::int64_t limit,
          const std::function<void(const Entry&)>& visit) {
  tx.query(
      "SELECT " AUDIT_COLUMNS " FROM audit_log WHERE seq > $1 ORDER BY seq LIMIT $2",
      [&](const Row& row) { visit(read_entry(row)); }, seq, limit);
}

}  // namespace holdpoint::audit_store
