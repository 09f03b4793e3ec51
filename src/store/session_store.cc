#include "store/session_store.h"

#include <algorithm>

namespace holdpoint::session_store {
namespace {

#define SESSION_COLUMNS                                                                 \
  "id, agent_name, status, parent_id, turn, attempts, questions_asked, result, error, " \
  "created_at, updated_at, completed_at, model_steps, input_tokens, output_tokens, "    \
  "cached_tokens, cost_micros"

// Of model_steps and the four columns after it.
ModelSpent read_spent(const Row& row, int from) {
  ModelSpent spent;
  spent.steps = row.integer(from);
  spent.input_tokens = row.integer(from + 1);
  spent.output_tokens = row.integer(from + 2);
  spent.cached_tokens = row.integer(from + 3);
  if (!row.is_null(from + 4)) spent.cost_micros = row.integer(from + 4);
  return spent;
}

Session read_session(const Row& row) {
  Session s;
  s.id = SessionId(row.string(0));
  s.agent_name = row.string(1);
  s.status = session_status_from(row.text(2)).value();
  if (!row.is_null(3)) s.parent_id = SessionId(row.string(3));
  s.turn = row.integer(4);
  s.attempts = row.integer(5);
  s.questions_asked = row.integer(6);
  s.result = row.optional_string(7);
  s.error = row.optional_string(8);
  s.created_at = row.time(9);
  s.updated_at = row.time(10);
  s.completed_at = row.optional_time(11);
  s.spent = read_spent(row, 12);
  return s;
}

Commit committed(std::int64_t rows) { return rows == 1 ? Commit::done : Commit::lease_lost; }

std::vector<std::string> hand_over_messages(Transaction& tx, const SessionId& session,
                                            std::int64_t turn, bool first_attempt) {
  // Only the first attempt takes what waits: a turn that runs again gets the same messages again.
  if (first_attempt) {
    tx.post("UPDATE agent_messages SET turn = $1 WHERE session_id = $2 AND turn IS NULL", turn,
            session);
  }
  std::vector<std::string> messages;
  tx.query(
      "SELECT body FROM agent_messages WHERE session_id = $1 AND turn = $2 ORDER BY id",
      [&](const Row& row) { messages.push_back(row.string(0)); }, session, turn);
  return messages;
}

std::vector<SessionRecord::Message> oldest_messages(Transaction& tx, const SessionId& session,
                                                    std::int64_t most, std::size_t max_bytes) {
  constexpr std::int64_t kLot = 8;  // Each may be large.
  std::vector<SessionRecord::Message> messages;
  std::size_t bytes = 0;
  bool more = true;
  while (more && bytes < max_bytes) {
    const auto lot = std::min(kLot, most - static_cast<std::int64_t>(messages.size()));
    std::int64_t read = 0;
    tx.query(
        "SELECT id, body, created_at, turn FROM agent_messages WHERE session_id = $1 AND id > $2 "
        "ORDER BY id LIMIT $3",
        [&](const Row& row) {
          ++read;
          if (bytes >= max_bytes) return;
          bytes += row.text(1).size();
          SessionRecord::Message message{MessageId(row.string(0)), row.string(1), row.time(2),
                                         std::nullopt};
          if (!row.is_null(3)) message.turn = row.integer(3);
          messages.push_back(std::move(message));
        },
        session, messages.empty() ? std::string() : messages.back().id.text(), lot);
    more = read == lot && static_cast<std::int64_t>(messages.size()) < most;
  }
  return messages;
}

}  // namespace

bool insert(Transaction& tx, const NewSession& session, Time now) {
  std::optional<Time> due, ended;
  std::optional<std::string> node;
  if (is_finished(session.status)) ended = now;
  if (session.status == SessionStatus::running) due = now;
  if (session.seat) {
    due = session.seat->lease_until;
    node = session.seat->node;
  }
  const int claims = session.seat ? 1 : 0;
  return tx.execute(
             "INSERT INTO agent_sessions (id, agent_name, status, original_payload, parent_id, "
             "idempotency_key, questions_asked, created_at, updated_at, due_at, leased_by, "
             "lease_number, attempts, spawned_by, spawn_call, dedupe_key, completed_at) VALUES "
             "($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $11, $12, $13, $14, $15) "
             "ON CONFLICT DO NOTHING",
             session.id, session.agent_name, to_text(session.status), session.payload,
             session.parent_id, session.idempotency_key, session.questions_asked, now, due, node,
             claims, session.spawned_by, session.spawn_call, session.dedupe_key, ended) == 1;
}

void lock(Transaction& tx, const SessionId& id) {
  tx.lock("SELECT 1 FROM agent_sessions WHERE id = $1 FOR UPDATE", id);
}

bool lock_if_free(Transaction& tx, const SessionId& id) {
  bool got = false;
  tx.query(
      "SELECT 1 FROM agent_sessions WHERE id = $1 FOR UPDATE SKIP LOCKED",
      [&](const Row&) { got = true; }, id);
  return got;
}

std::optional<Session> find(Transaction& tx, const SessionId& id) {
  std::optional<Session> found;
  tx.query(
      "SELECT " SESSION_COLUMNS " FROM agent_sessions WHERE id = $1",
      [&](const Row& row) { found = read_session(row); }, id);
  return found;
}

std::optional<Session> find_by_key(Transaction& tx, const std::string& agent_name,
                                   const std::string& idempotency_key) {
  std::optional<Session> found;
  tx.query(
      "SELECT " SESSION_COLUMNS
      " FROM agent_sessions WHERE agent_name = $1 AND idempotency_key = $2",
      [&](const Row& row) { found = read_session(row); }, agent_name, idempotency_key);
  return found;
}

std::vector<Session> list(Transaction& tx, const Filter& filter) {
  std::vector<Session> sessions;
  const auto add = [&](const Row& row) { sessions.push_back(read_session(row)); };
  const std::string before = filter.before.empty() ? "~" : filter.before;  // "~" sorts last.
  if (filter.status) {
    tx.query("SELECT " SESSION_COLUMNS
             " FROM agent_sessions WHERE status = $1 AND id < $2 AND "
             "($3 IS NULL OR agent_name = $3) ORDER BY id DESC LIMIT $4",
             add, to_text(*filter.status), before, filter.agent_name, filter.limit);
  } else {
    tx.query("SELECT " SESSION_COLUMNS
             " FROM agent_sessions WHERE id < $1 AND ($2 IS NULL OR agent_name = $2) "
             "ORDER BY id DESC LIMIT $3",
             add, before, filter.agent_name, filter.limit);
  }
  return sessions;
}

std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  tx.query("SELECT status, COUNT(*) FROM agent_sessions GROUP BY status",
           [&](const Row& row) { counts.emplace_back(row.string(0), row.integer(1)); });
  return counts;
}

std::optional<SessionRecord> find_record(Transaction& tx, const SessionId& id, std::int64_t most,
                                         std::size_t max_bytes) {
  std::optional<SessionRecord> found;
  tx.query(
      "SELECT original_payload, execution_state, resume FROM agent_sessions WHERE id = $1",
      [&](const Row& row) {
        found =
            SessionRecord{row.string(0), row.optional_string(1), row.optional_string(2), {}, {}};
      },
      id);
  if (!found) return found;
  found->messages = oldest_messages(tx, id, most, max_bytes);
  tx.query(
      "SELECT id, agent_name, status, created_at FROM agent_sessions WHERE parent_id = $1 "
      "ORDER BY id LIMIT $2",
      [&](const Row& row) {
        found->children.push_back({SessionId(row.string(0)), row.string(1),
                                   session_status_from(row.text(2)).value(), row.time(3)});
      },
      id, most);
  return found;
}

std::optional<std::string> find_state(Transaction& tx, const SessionId& id) {
  std::optional<std::string> state;
  tx.query(
      "SELECT execution_state FROM agent_sessions WHERE id = $1",
      [&](const Row& row) { state = row.optional_string(0); }, id);
  return state;
}

void each_newest(Transaction& tx, std::int64_t most,
                 const std::function<void(const Brief&)>& visit) {
  tx.query(
      "SELECT agent_name, status, questions_asked, model_steps, input_tokens, output_tokens, "
      "cached_tokens, cost_micros FROM agent_sessions ORDER BY id DESC LIMIT $1",
      [&](const Row& row) {
        visit({row.text(0), session_status_from(row.text(1)).value(), row.integer(2),
               read_spent(row, 3)});
      },
      most);
}

std::vector<ClaimedTurn> claim(Transaction& tx, const std::string& node, Time now, Time lease_until,
                               std::int64_t most) {
  std::vector<ClaimedTurn> claimed;
  std::vector<std::size_t> with_messages;
  tx.query(
      "SELECT id, agent_name, turn, attempts + 1, refusals, turn_reason, due_at, parent_id, "
      "original_payload, execution_state, resume, lease_number + 1, "
      "EXISTS (SELECT 1 FROM agent_messages m WHERE m.session_id = agent_sessions.id) "
      "FROM agent_sessions WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED",
      [&](const Row& row) {
        ClaimedTurn c;
        c.lease = {SessionId(row.string(0)), row.integer(11)};
        c.agent_name = row.string(1);
        c.turn = row.integer(2);
        c.attempts = row.integer(3);
        c.refusals = row.integer(4);
        c.reason = turn_reason_from(row.text(5));
        c.due_since = row.time(6);
        if (!row.is_null(7)) c.parent_id = SessionId(row.string(7));
        c.payload = row.string(8);
        c.state = row.optional_string(9);
        c.resume = row.optional_string(10);
        if (row.integer(12)) with_messages.push_back(claimed.size());
        claimed.push_back(std::move(c));
      },
      now, most);
  for (auto& c : claimed) {
    tx.post(
        "UPDATE agent_sessions SET due_at = $1, leased_by = $2, lease_number = $3, attempts = $4 "
        "WHERE id = $5",
        lease_until, node, c.lease.number, c.attempts, c.lease.session);
  }
  for (const std::size_t i : with_messages) {
    auto& c = claimed[i];
    c.messages = hand_over_messages(tx, c.lease.session, c.turn, c.attempts == 1);
  }
  return claimed;
}

std::optional<Time> next_due(Transaction& tx) {
  std::optional<Time> next;
  tx.query("SELECT due_at FROM agent_sessions WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1",
           [&](const Row& row) { next = row.time(0); });
  return next;
}

std::int64_t count_due(Transaction& tx, Time now) {
  std::int64_t count = 0;
  tx.query(
      "SELECT COUNT(*) FROM agent_sessions WHERE due_at <= $1",
      [&](const Row& row) { count = row.integer(0); }, now);
  return count;
}

Commit extend(Transaction& tx, const Lease& lease, Time lease_until) {
  return committed(
      tx.execute("UPDATE agent_sessions SET due_at = $1 WHERE id = $2 AND lease_number = $3 AND "
                 "status = 'running' AND leased_by IS NOT NULL",
                 lease_until, lease.session, lease.number));
}

Commit release(Transaction& tx, const Lease& lease, Time due, bool count_attempt, Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET due_at = $1, leased_by = NULL, attempts = attempts - $2, "
      "updated_at = $3 WHERE id = $4 AND lease_number = $5 AND status = 'running' AND "
      "leased_by IS NOT NULL",
      due, count_attempt ? 0 : 1, now, lease.session, lease.number));
}

Commit park(Transaction& tx, const Lease& lease, std::int64_t asked,
            const std::optional<std::string>& state, Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET status = 'pending_input', due_at = NULL, leased_by = NULL, "
      "questions_asked = questions_asked + $1, execution_state = COALESCE($2, execution_state), "
      "resume = NULL, refusals = 0, updated_at = $3 "
      "WHERE id = $4 AND lease_number = $5 AND status = 'running' AND leased_by IS NOT NULL",
      asked, state, now, lease.session, lease.number));
}

Commit advance(Transaction& tx, const Lease& lease, const Next& next, Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET turn = turn + 1, turn_reason = $1, resume = $2, "
      "execution_state = COALESCE($3, execution_state), attempts = 0, due_at = $4, "
      "leased_by = NULL, updated_at = $4, refusals = CASE WHEN $5 = 1 THEN refusals + 1 ELSE 0 END "
      "WHERE id = $6 AND lease_number = $7 AND status = 'running' AND leased_by IS NOT NULL",
      to_text(next.reason), next.resume, next.state, now, next.refused, lease.session,
      lease.number));
}

Commit checkpoint(Transaction& tx, const Lease& lease, std::string_view state,
                  const ModelSpent& more, Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET execution_state = $1, attempts = 1, "
      "model_steps = model_steps + $2, input_tokens = input_tokens + $3, "
      "output_tokens = output_tokens + $4, cached_tokens = cached_tokens + $5, "
      "cost_micros = COALESCE(cost_micros + $6, cost_micros, $6), updated_at = $7 "
      "WHERE id = $8 AND lease_number = $9 AND status = 'running' AND leased_by IS NOT NULL",
      state, more.steps, more.input_tokens, more.output_tokens, more.cached_tokens,
      more.cost_micros, now, lease.session, lease.number));
}

Commit wait_for_agents(Transaction& tx, const Lease& lease, const std::optional<std::string>& state,
                       Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET due_at = NULL, leased_by = NULL, resume = NULL, refusals = 0, "
      "execution_state = COALESCE($1, execution_state), updated_at = $2 "
      "WHERE id = $3 AND lease_number = $4 AND status = 'running' AND leased_by IS NOT NULL",
      state, now, lease.session, lease.number));
}

Commit finish(Transaction& tx, const Lease& lease, SessionStatus status,
              const std::optional<std::string>& result, const std::optional<std::string>& error,
              Time now) {
  return committed(tx.execute(
      "UPDATE agent_sessions SET status = $1, result = $2, error = $3, due_at = NULL, "
      "leased_by = NULL, updated_at = $4, completed_at = $4 "
      "WHERE id = $5 AND lease_number = $6 AND status = 'running' AND leased_by IS NOT NULL",
      to_text(status), result, error, now, lease.session, lease.number));
}

bool resume(Transaction& tx, const SessionId& id, TurnReason reason, const std::string& resume,
            Time now) {
  return tx.execute(
             "UPDATE agent_sessions SET status = 'running', turn = turn + 1, attempts = 0, "
             "turn_reason = $1, resume = $2, due_at = $3, updated_at = $3 "
             "WHERE id = $4 AND status = 'pending_input'",
             to_text(reason), resume, now, id) == 1;
}

std::optional<ClaimedTurn> resume_claimed(Transaction& tx, const SessionId& id, TurnReason reason,
                                          const std::string& resume, const Seat& seat, Time now) {
  std::optional<ClaimedTurn> claimed;
  bool has_messages = false;
  tx.query(
      "UPDATE agent_sessions SET status = 'running', turn = turn + 1, attempts = 1, "
      "turn_reason = $1, resume = $2, due_at = $3, leased_by = $4, "
      "lease_number = lease_number + 1, updated_at = $5 "
      "WHERE id = $6 AND status = 'pending_input' "
      "RETURNING agent_name, turn, refusals, parent_id, original_payload, execution_state, "
      "lease_number, EXISTS (SELECT 1 FROM agent_messages m WHERE m.session_id = "
      "agent_sessions.id)",
      [&](const Row& row) {
        ClaimedTurn c;
        c.lease = {id, row.integer(6)};
        c.agent_name = row.string(0);
        c.turn = row.integer(1);
        c.attempts = 1;
        c.refusals = row.integer(2);
        c.reason = reason;
        c.due_since = now;
        if (!row.is_null(3)) c.parent_id = SessionId(row.string(3));
        c.payload = row.string(4);
        c.state = row.optional_string(5);
        c.resume = resume;
        has_messages = row.integer(7) != 0;
        claimed = std::move(c);
      },
      to_text(reason), resume, seat.lease_until, seat.node, now, id);
  if (has_messages) claimed->messages = hand_over_messages(tx, id, claimed->turn, true);
  return claimed;
}

bool end_parked(Transaction& tx, const SessionId& id, const ParkedEnd& end, Time now) {
  return tx.execute(
             "UPDATE agent_sessions SET status = $1, turn = turn + 1, attempts = 0, "
             "turn_reason = $2, resume = $3, result = $4, error = $5, "
             "execution_state = COALESCE($6, execution_state), updated_at = $7, "
             "completed_at = $7 WHERE id = $8 AND status = 'pending_input'",
             to_text(end.status), to_text(end.reason), end.resume, end.result, end.error, end.state,
             now, id) == 1;
}

std::optional<Spawned> find_spawned(Transaction& tx, const SessionId& id) {
  std::optional<Spawned> found;
  tx.query(
      "SELECT parent_id, spawned_by, spawn_call FROM agent_sessions WHERE id = $1 AND spawned_by "
      "IS NOT NULL",
      [&](const Row& row) {
        found = Spawned{SessionId(row.string(0)), row.integer(1), row.optional_string(2)};
      },
      id);
  return found;
}

std::vector<Session> spawned_by(Transaction& tx, const SessionId& parent, std::int64_t turn) {
  std::vector<Session> children;
  tx.query(
      "SELECT " SESSION_COLUMNS
      " FROM agent_sessions WHERE parent_id = $1 AND spawned_by = $2 ORDER BY id",
      [&](const Row& row) { children.push_back(read_session(row)); }, parent, turn);
  return children;
}

bool awaits_agents(Transaction& tx, const SessionId& parent, std::int64_t turn) {
  bool waits = false;
  tx.query(
      "SELECT 1 FROM agent_sessions WHERE id = $1 AND turn = $2 AND status = 'running' AND due_at "
      "IS NULL AND NOT EXISTS (SELECT 1 FROM agent_sessions c WHERE c.parent_id = $1 AND "
      "c.spawned_by = $2 AND c.completed_at IS NULL)",
      [&](const Row&) { waits = true; }, parent, turn);
  return waits;
}

void resume_parent(Transaction& tx, const SessionId& id, const std::string& resume, Time now) {
  tx.post(
      "UPDATE agent_sessions SET turn = turn + 1, attempts = 0, turn_reason = $1, resume = $2, "
      "due_at = $3, updated_at = $3 WHERE id = $4 AND status = 'running' AND due_at IS NULL",
      to_text(TurnReason::agents), resume, now, id);
}

bool cancel_running(Transaction& tx, const SessionId& id, const std::string& error, Time now) {
  return tx.execute(
             "UPDATE agent_sessions SET status = 'cancelled', error = $1, due_at = NULL, "
             "leased_by = NULL, lease_number = lease_number + 1, updated_at = $2, "
             "completed_at = $2 WHERE id = $3 AND status = 'running'",
             error, now, id) == 1;
}

bool retry(Transaction& tx, const SessionId& id, Time now) {
  return tx.execute(
             "UPDATE agent_sessions SET status = 'running', attempts = 0, refusals = 0, "
             "error = NULL, completed_at = NULL, due_at = $1, updated_at = $1 "
             "WHERE id = $2 AND status = 'failed'",
             now, id) == 1;
}

std::int64_t reclaim(Transaction& tx, Time now) {
  return tx.execute(
      "UPDATE agent_sessions SET due_at = $1, leased_by = NULL WHERE due_at IS NOT NULL AND "
      "leased_by IS NOT NULL",
      now);
}

void add_message(Transaction& tx, const SessionId& session, const MessageId& id,
                 std::string_view body, Time now) {
  tx.post("INSERT INTO agent_messages (id, session_id, body, created_at) VALUES ($1, $2, $3, $4)",
          id, session, body, now);
}

Waiting waiting_messages(Transaction& tx, const SessionId& session) {
  Waiting waiting;
  tx.query(
      "SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM agent_messages WHERE session_id = $1 "
      "AND turn IS NULL",
      [&](const Row& row) {
        waiting = {row.integer(0), row.integer(1)};
      },
      session);
  return waiting;
}

std::int64_t remove_finished(Transaction& tx, Time before, std::int64_t most) {
  std::vector<SessionId> old;
  // A parent stays for as long as it has children, so that their parent_id always names a row; and
  // a child for as long as its parent may want its result.
  tx.query(
      "SELECT id FROM agent_sessions s WHERE completed_at < $1 AND NOT EXISTS "
      "(SELECT 1 FROM agent_sessions c WHERE c.parent_id = s.id) AND NOT EXISTS "
      "(SELECT 1 FROM agent_sessions p WHERE p.id = s.parent_id AND s.spawned_by IS NOT NULL AND "
      "p.completed_at IS NULL) ORDER BY completed_at LIMIT $2 "
      "FOR UPDATE SKIP LOCKED",
      [&](const Row& row) { old.emplace_back(row.string(0)); }, before, most);
  for (const auto& id : old) {
    tx.post("DELETE FROM deliveries WHERE session_id = $1", id);
    tx.post("DELETE FROM agent_messages WHERE session_id = $1", id);
    tx.post("DELETE FROM joined_asks WHERE session_id = $1", id);
    tx.post("DELETE FROM answer_links WHERE session_id = $1", id);
    tx.post("DELETE FROM agent_questions WHERE session_id = $1", id);
    // The newest event stays, so that its number is never given out again: clients resume by it.
    tx.post(
        "DELETE FROM agent_events WHERE session_id = $1 AND seq < (SELECT MAX(seq) FROM "
        "agent_events)",
        id);
    tx.post("DELETE FROM agent_sessions WHERE id = $1", id);
  }
  return static_cast<std::int64_t>(old.size());
}

}  // namespace holdpoint::session_store
