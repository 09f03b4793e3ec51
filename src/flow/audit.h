#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/actor.h"
#include "store/audit_store.h"

namespace holdpoint {

// Who did what: a chain of rows in which each carries the hash of the one before, so that none can
// be edited, removed or moved without a trace.
namespace audit {

// Adds a row in the transaction of the change that it tells of; it is linked into the chain soon
// after, so that changes do not wait for each other. `subject` is what was changed, as `kind:id`;
// neither it nor `detail` holds answers or secrets.
void record(Transaction& tx, const Actor& actor, std::string_view action, std::string_view subject,
            std::string_view detail, Time now);

// Links rows that wait, in one transaction. One process at a time does so; whether another waits
// for it, or leaves it all to it, is `wait`. True if more may wait.
constexpr std::int64_t kLot = 500;
bool link_pending(Database& db, std::int64_t most, audit_store::Wait wait);
// All that waits now.
void link_all(Database& db, audit_store::Wait wait);

struct Verdict {
  std::int64_t rows = 0;  // That were found in order.
  audit_store::Head head;
  std::string broken;  // Empty: the chain is whole.
};
// Links what waits, then reads the whole chain in one snapshot. `expected`, if not empty, is the
// hash of a row that was noted elsewhere earlier: who rewrites the whole chain cannot keep it.
Verdict verify(Database& db, const std::string& expected);
// Rows after number `after`, in their order.
std::vector<audit_store::Entry> list(Database& db, std::int64_t after, std::int64_t limit);

}  // namespace audit
}  // namespace holdpoint
