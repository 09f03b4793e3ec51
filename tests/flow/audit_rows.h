#pragma once

#include <map>
#include <string>
#include <vector>

#include "flow/audit.h"

namespace holdpoint::test {

inline std::vector<audit_store::Entry> audit_rows(Database& db) {
  return audit::list(db, 0, 1'000'000);
}

// How many rows tell of each action.
inline std::map<std::string, std::int64_t> audited(Database& db) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : audit_rows(db)) ++counts[row.action];
  return counts;
}

}  // namespace holdpoint::test
