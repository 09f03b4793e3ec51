#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/actor.h"
#include "store/database.h"

// The rows of audit_log and its head, and those that wait to be linked to them. Each function is
// one step of the caller's transaction.
namespace holdpoint::audit_store {

struct Entry {
  std::int64_t seq = 0;
  std::string at;  // As it is written: an edited one may be no time.
  Actor actor;
  std::string action;
  std::string subject;
  std::string detail;
  std::string hash;
};

// The last row's number and hash; 0 and empty before the first.
struct Head {
  std::int64_t seq = 0;
  std::string hash;
};
Head head(Transaction& tx);

// Writes a row that is in no chain yet; its number and hash do not count. `id` tells its order.
void add_pending(Transaction& tx, const std::string& id, const Entry& entry);
bool any_pending(Transaction& tx);
// The head for the caller alone until its transaction ends; nothing if another has it and the
// caller does not want to wait, or if it is gone.
enum class Wait { no, yes };
std::optional<Head> lock_head(Transaction& tx, Wait wait);
// Up to `most` rows that wait, oldest first, with their ids.
std::vector<std::pair<std::string, Entry>> pending(Transaction& tx, std::int64_t most);
// Moves the row from those that wait to the chain.
void link(Transaction& tx, const std::string& id, const Entry& entry);
void move_head(Transaction& tx, const Head& head);

// All rows in the order of their numbers, those that have none or an impossible one first.
void each(Transaction& tx, const std::function<void(const Entry&)>& visit);
// In the order of their numbers, those after `seq`.
void each(Transaction& tx, std::int64_t seq, std::int64_t limit,
          const std::function<void(const Entry&)>& visit);

}  // namespace holdpoint::audit_store
