#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "domain/actor.h"
#include "store/database.h"

// The rows of audit_log and its head. Each function is one step of the caller's transaction.
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
// Adds the row and moves the head to it.
void append(Transaction& tx, const Entry& entry);
// All rows in the order of their numbers, those that have none or an impossible one first.
void each(Transaction& tx, const std::function<void(const Entry&)>& visit);
// In the order of their numbers, those after `seq`.
void each(Transaction& tx, std::int64_t seq, std::int64_t limit,
          const std::function<void(const Entry&)>& visit);

}  // namespace holdpoint::audit_store
