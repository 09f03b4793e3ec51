#include "flow/retention.h"

#include "base/log.h"
#include "store/commit_marks.h"
#include "store/mail_store.h"
#include "store/receipt_store.h"
#include "store/session_store.h"

namespace holdpoint {

using namespace std::chrono_literals;

Retention::Retention(Database& db, std::chrono::days keep, const Clock& clock)
    : db_(db),
      keep_(keep),
      loop_("hp-retention", clock, [this](Time now) { return run_once(now); }) {}

std::optional<Time> Retention::run_once(Time now) {
  constexpr std::int64_t kLot = 50;
  const auto removed = db_.write(
      [&](Transaction& tx) { return session_store::remove_finished(tx, now - keep_, kLot); });
  db_.write([&](Transaction& tx) {
    receipt_store::remove_older(tx, now - 24h);
    mail_store::remove_older(tx, now - keep_);
    commit_marks::remove_older(tx, now - 48h);
  });
  if (removed > 0) log(Level::info, "sessions_removed", {{"count", removed}});
  return removed == kLot ? now + 100ms : now + 1h;
}

}  // namespace holdpoint
