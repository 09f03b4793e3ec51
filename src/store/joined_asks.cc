#include "store/session_store.h"

// Asks that are the same as another: who joins which.
namespace holdpoint::session_store {

std::optional<Session> lock_open_ask(Transaction& tx, const std::string& dedupe_key) {
  std::optional<SessionId> id;
  tx.query(
      "SELECT id FROM agent_sessions WHERE dedupe_key = $1 AND status = 'pending_input' AND "
      "dedupe_key IS NOT NULL",
      [&](const Row& row) { id = SessionId(row.string(0)); }, dedupe_key);
  if (!id) return std::nullopt;
  lock(tx, *id);
  auto open = find(tx, *id);
  if (!open || open->status != SessionStatus::pending_input) return std::nullopt;
  return open;
}

void join(Transaction& tx, const std::string& agent_name, const std::string& idempotency_key,
          const SessionId& session) {
  tx.post(
      "INSERT INTO joined_asks (agent_name, idempotency_key, session_id) VALUES ($1, $2, $3) "
      "ON CONFLICT DO NOTHING",
      agent_name, idempotency_key, session);
}

void withdraw(Transaction& tx, const SessionId& id) {
  tx.post("DELETE FROM agent_sessions WHERE id = $1", id);
}

std::optional<Session> find_joined(Transaction& tx, const std::string& agent_name,
                                   const std::string& idempotency_key) {
  std::optional<SessionId> id;
  tx.query(
      "SELECT session_id FROM joined_asks WHERE agent_name = $1 AND idempotency_key = $2",
      [&](const Row& row) { id = SessionId(row.string(0)); }, agent_name, idempotency_key);
  return id ? find(tx, *id) : std::nullopt;
}

}  // namespace holdpoint::session_store
