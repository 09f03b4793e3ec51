#include "store/delivery_store.h"

namespace holdpoint::delivery_store {
namespace {

#define DELIVERY_COLUMNS                                                                   \
  "id, session_id, question_id, agent_name, channel, event, destination, host, body, "     \
  "status, attempts, next_attempt_at, last_status, last_error, created_at, delivered_at, " \
  "link_for, "                                                                             \
  "ask, message_ref, follows"

Delivery read_delivery(const Row& row) {
  Delivery d;
  d.id = DeliveryId(row.string(0));
  d.session_id = SessionId(row.string(1));
  if (!row.is_null(2)) d.question_id = QuestionId(row.string(2));
  d.agent_name = row.string(3);
  d.channel = row.string(4);
  d.event = row.string(5);
  d.destination = row.string(6);
  d.host = row.string(7);
  d.body = row.string(8);
  d.status = delivery_status_from(row.text(9)).value();
  d.attempts = row.integer(10);
  d.next_attempt_at = row.optional_time(11);
  if (!row.is_null(12)) d.last_status = row.integer(12);
  d.last_error = row.optional_string(13);
  d.created_at = row.time(14);
  d.delivered_at = row.optional_time(15);
  d.link_for = row.optional_string(16);
  if (!row.is_null(17)) d.ask = row.integer(17);
  d.message_ref = row.optional_string(18);
  if (!row.is_null(19)) d.follows = DeliveryId(row.string(19));
  return d;
}

}  // namespace

void insert(Transaction& tx, const Delivery& d) {
  tx.post(
      "INSERT INTO deliveries (id, session_id, question_id, agent_name, channel, event, "
      "destination, host, body, status, next_attempt_at, last_error, created_at, link_for, ask, "
      "follows) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
      d.id, d.session_id, d.question_id, d.agent_name, d.channel, d.event, d.destination, d.host,
      d.body, to_text(d.status), d.next_attempt_at, d.last_error, d.created_at, d.link_for, d.ask,
      d.follows);
}

std::optional<Delivery> find(Transaction& tx, const DeliveryId& id) {
  std::optional<Delivery> found;
  tx.query(
      "SELECT " DELIVERY_COLUMNS " FROM deliveries WHERE id = $1",
      [&](const Row& row) { found = read_delivery(row); }, id);
  return found;
}

std::vector<Delivery> list(Transaction& tx, const Filter& filter) {
  std::vector<Delivery> deliveries;
  const auto add = [&](const Row& row) { deliveries.push_back(read_delivery(row)); };
  const std::string before = filter.before.empty() ? "~" : filter.before;  // "~" sorts last.
  std::optional<std::string> status;
  if (filter.status) status = to_text(*filter.status);
  if (filter.session) {
    tx.query("SELECT " DELIVERY_COLUMNS
             " FROM deliveries WHERE session_id = $1 AND id < $2 AND ($3 IS NULL OR status = $3) "
             "ORDER BY id DESC LIMIT $4",
             add, *filter.session, before, status, filter.limit);
  } else if (status) {
    tx.query("SELECT " DELIVERY_COLUMNS
             " FROM deliveries WHERE status = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
             add, *status, before, filter.limit);
  } else {
    tx.query("SELECT " DELIVERY_COLUMNS " FROM deliveries WHERE id < $1 ORDER BY id DESC LIMIT $2",
             add, before, filter.limit);
  }
  return deliveries;
}

std::vector<Delivery> posts_about(Transaction& tx, const Question& question) {
  std::vector<Delivery> posts;
  tx.query(
      "SELECT " DELIVERY_COLUMNS
      " FROM deliveries WHERE session_id = $1 AND channel <> 'url' AND event = 'question_pending' "
      "AND status = 'delivered' AND (ask = $2 OR (ask IS NULL AND question_id = $3))",
      [&](const Row& row) { posts.push_back(read_delivery(row)); }, question.session_id,
      question.ask, question.id);
  return posts;
}

std::vector<Delivery> following(Transaction& tx, const DeliveryId& id, std::string_view event) {
  std::vector<Delivery> found;
  tx.query(
      "SELECT " DELIVERY_COLUMNS " FROM deliveries WHERE follows = $1 AND event = $2 ORDER BY id",
      [&](const Row& row) { found.push_back(read_delivery(row)); }, id, event);
  return found;
}

std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  tx.query("SELECT status, COUNT(*) FROM deliveries GROUP BY status",
           [&](const Row& row) { counts.emplace_back(row.string(0), row.integer(1)); });
  return counts;
}

void each_newest(Transaction& tx, std::int64_t most,
                 const std::function<void(const Brief&)>& visit) {
  tx.query(
      "SELECT channel, status, created_at, delivered_at, last_error FROM deliveries "
      "ORDER BY id DESC LIMIT $1",
      [&](const Row& row) {
        visit({row.text(0), delivery_status_from(row.text(1)).value(), row.time(2),
               row.optional_time(3), row.is_null(4) ? std::nullopt : std::optional(row.text(4))});
      },
      most);
}

std::vector<OwedHost> owed_hosts(Transaction& tx) {
  std::vector<OwedHost> hosts;
  // Steps from host to host along the index, so that a long backlog for one costs no more than a
  // short one.
  tx.query(
      "WITH RECURSIVE owed(host) AS ("
      "  SELECT MIN(host) FROM deliveries WHERE status = 'pending' "
      "  UNION ALL "
      "  SELECT (SELECT MIN(d.host) FROM deliveries d WHERE d.status = 'pending' AND "
      "          d.host > owed.host) FROM owed WHERE owed.host IS NOT NULL) "
      "SELECT host, (SELECT MIN(d.next_attempt_at) FROM deliveries d WHERE d.status = 'pending' "
      "AND d.host = owed.host) FROM owed WHERE host IS NOT NULL",
      [&](const Row& row) {
        hosts.push_back({row.string(0), row.time(1)});
      });
  return hosts;
}

std::vector<Delivery> claim(Transaction& tx, const std::string& host, Time now, Time until,
                            std::int64_t most) {
  std::vector<Delivery> claimed;
  tx.query(
      "SELECT " DELIVERY_COLUMNS
      " FROM deliveries WHERE status = 'pending' AND host = $1 AND next_attempt_at <= $2 "
      "ORDER BY next_attempt_at, id LIMIT $3 FOR UPDATE SKIP LOCKED",
      [&](const Row& row) { claimed.push_back(read_delivery(row)); }, host, now, most);
  for (auto& d : claimed) {
    ++d.attempts;
    tx.post("UPDATE deliveries SET attempts = $1, next_attempt_at = $2 WHERE id = $3", d.attempts,
            until, d.id);
  }
  return claimed;
}

bool record(Transaction& tx, const Delivery& d, const Attempt& attempt, Time now) {
  const bool delivered = attempt.status == DeliveryStatus::delivered;
  return tx.execute(
             "UPDATE deliveries SET status = $1, next_attempt_at = $2, last_status = $3, "
             "last_error = $4, delivered_at = $5, message_ref = COALESCE($8, message_ref) "
             "WHERE id = $6 AND attempts = $7 AND status = 'pending'",
             to_text(attempt.status), attempt.next_attempt_at, attempt.http_status, attempt.error,
             delivered ? std::optional(now) : std::nullopt, d.id, d.attempts,
             attempt.message_ref) == 1;
}

void release(Transaction& tx, const Delivery& d, Time now) {
  tx.post(
      "UPDATE deliveries SET next_attempt_at = $1 WHERE id = $2 AND attempts = $3 AND status = "
      "'pending'",
      now, d.id, d.attempts);
}

void reclaim(Transaction& tx, Time now) {
  // An attempt under way has a next time but no outcome yet: only the claim's lease holds it back.
  tx.execute(
      "UPDATE deliveries SET next_attempt_at = $1 WHERE status = 'pending' AND attempts > 0 AND "
      "last_status IS NULL AND last_error IS NULL AND next_attempt_at > $1",
      now);
}

bool redeliver(Transaction& tx, const DeliveryId& id, Time now) {
  return tx.execute(
             "UPDATE deliveries SET status = 'pending', attempts = 0, next_attempt_at = $1, "
             "delivered_at = NULL WHERE id = $2 AND status <> 'pending'",
             now, id) == 1;
}

bool is_disabled(Transaction& tx, const std::string& destination) {
  bool disabled = false;
  tx.query(
      "SELECT 1 FROM disabled_destinations WHERE destination = $1",
      [&](const Row&) { disabled = true; }, destination);
  return disabled;
}

bool ban(Transaction& tx, const std::string& destination, const std::string& reason, Time now) {
  return tx.execute(
             "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, "
             "$3) ON CONFLICT DO NOTHING",
             destination, now, reason) == 1;
}

std::vector<std::pair<DeliveryId, SessionId>> kill_owed(Transaction& tx,
                                                        const std::string& destination,
                                                        const std::string& reason) {
  std::vector<std::pair<DeliveryId, SessionId>> dead;
  tx.query(
      "UPDATE deliveries SET status = 'dead', next_attempt_at = NULL, last_error = $1 "
      "WHERE status = 'pending' AND destination = $2 RETURNING id, session_id",
      [&](const Row& row) {
        dead.emplace_back(DeliveryId(row.string(0)), SessionId(row.string(1)));
      },
      reason, destination);
  return dead;
}

void enable(Transaction& tx, const std::string& destination) {
  tx.post("DELETE FROM disabled_destinations WHERE destination = $1", destination);
}

}  // namespace holdpoint::delivery_store
