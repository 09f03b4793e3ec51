#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/delivery.h"
#include "domain/question.h"
#include "store/database.h"

// The outbox. Each function is one step of the caller's transaction.
namespace holdpoint::delivery_store {

// `delivery.status` decides whether it is owed (`pending`) or only recorded.
void insert(Transaction& tx, const Delivery& delivery);

std::optional<Delivery> find(Transaction& tx, const DeliveryId& id);

struct Filter {
  std::optional<DeliveryStatus> status;
  std::optional<SessionId> session;
  std::string before;  // Deliveries older than this id; empty: from the newest.
  std::int64_t limit = 50;
};
std::vector<Delivery> list(Transaction& tx, const Filter& filter);
// The messages that people got about a question, on whatever channel.
std::vector<Delivery> posts_about(Transaction& tx, const Question& question);
// What was owed after it, to edit or to answer its message.
std::vector<Delivery> following(Transaction& tx, const DeliveryId& id, std::string_view event);
std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx);
// What figures are made of; valid only while the visitor runs. The newest first, `most` of them.
struct Brief {
  std::string_view channel;
  DeliveryStatus status;
  Time created_at;
  std::optional<Time> delivered_at;
  std::optional<std::string_view> last_error;
};
void each_newest(Transaction& tx, std::int64_t most,
                 const std::function<void(const Brief&)>& visit);

// The hosts that are owed something, each with when its next attempt is due.
struct OwedHost {
  std::string host;
  Time next_attempt_at;
};
std::vector<OwedHost> owed_hosts(Transaction& tx);

// Takes up to `most` due messages for `host` for one attempt each, counted now; they are not due
// again before `until`.
std::vector<Delivery> claim(Transaction& tx, const std::string& host, Time now, Time until,
                            std::int64_t most);

// The outcome of the attempt that `delivery.attempts` names. False if another attempt has begun
// since, or it was settled.
struct Attempt {
  DeliveryStatus status = DeliveryStatus::delivered;
  std::optional<Time> next_attempt_at;  // Only for `pending`.
  std::optional<std::int64_t> http_status;
  std::optional<std::string> error;
  std::optional<std::string> message_ref;  // None: as it was.
};
[[nodiscard]] bool record(Transaction& tx, const Delivery& delivery, const Attempt& attempt,
                          Time now);
// Ends the attempt that `delivery.attempts` names without an outcome: it may be made again at once.
void release(Transaction& tx, const Delivery& delivery, Time now);
// Puts the messages that a dead process was sending back in line; like any, they may arrive twice.
void reclaim(Transaction& tx, Time now);

// Owes a settled delivery again, with a fresh schedule.
bool redeliver(Transaction& tx, const DeliveryId& id, Time now);

bool is_disabled(Transaction& tx, const std::string& destination);
// No more messages to `destination`. False if that is so already.
bool ban(Transaction& tx, const std::string& destination, const std::string& reason, Time now);
// What is owed to it dies. Returns those deliveries' ids and sessions.
std::vector<std::pair<DeliveryId, SessionId>> kill_owed(Transaction& tx,
                                                        const std::string& destination,
                                                        const std::string& reason);
void enable(Transaction& tx, const std::string& destination);

}  // namespace holdpoint::delivery_store
