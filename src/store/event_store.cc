#include "store/event_store.h"

#include "store/dialect.h"

namespace holdpoint::event_store {
namespace {

StoredEvent read_event(const Row& row) {
  return {row.integer(0), SessionId(row.string(1)), row.string(2), row.time(3), row.string(4)};
}

}  // namespace

void append(Transaction& tx, const SessionId& session, std::string_view type, Time at,
            std::string_view data) {
  tx.post("INSERT INTO agent_events (session_id, type, at, data) VALUES ($1, $2, $3, $4)", session,
          type, at, data);
}

std::vector<StoredEvent> after(Transaction& tx, std::int64_t seq, std::int64_t limit) {
  std::vector<StoredEvent> events;
  tx.query(
      "SELECT seq, session_id, type, at, data FROM agent_events WHERE seq > $1 ORDER BY seq LIMIT "
      "$2",
      [&](const Row& row) { events.push_back(read_event(row)); }, seq, limit);
  return events;
}

std::vector<StoredEvent> after(Transaction& tx, const SessionId& session, std::int64_t seq,
                               std::int64_t limit) {
  std::vector<StoredEvent> events;
  tx.query(
      "SELECT seq, session_id, type, at, data FROM agent_events WHERE session_id = $1 AND seq > $2 "
      "ORDER BY seq LIMIT $3",
      [&](const Row& row) { events.push_back(read_event(row)); }, session, seq, limit);
  return events;
}

std::int64_t this_transaction(Transaction& tx) {
  std::int64_t number = 0;
  tx.query(dialect::kThisTransactionOnPostgres, [&](const Row& row) { number = row.integer(0); });
  return number;
}

std::int64_t oldest_transaction(Transaction& tx) {
  std::int64_t number = 0;
  tx.query(dialect::kOldestTransactionOnPostgres, [&](const Row& row) { number = row.integer(0); });
  return number;
}

std::int64_t last_seq(Transaction& tx) {
  std::int64_t seq = 0;
  tx.query("SELECT COALESCE(MAX(seq), 0) FROM agent_events",
           [&](const Row& row) { seq = row.integer(0); });
  return seq;
}

}  // namespace holdpoint::event_store
