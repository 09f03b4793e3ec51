#include "flow/notary.h"

#include "base/log.h"
#include "flow/audit.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

// Rows of this long share one commit.
constexpr auto kBetween = 200ms;

}  // namespace

Notary::Notary(Database& db, const Clock& clock)
    : db_(db), loop_("hp-notary", clock, [this](Time now) { return run_once(now); }) {}

void Notary::stop() {
  loop_.stop();
  try {
    audit::link_all(db_, audit_store::Wait::yes);
  } catch (const StoreError& e) {
    log(Level::warning, "audit_not_linked",
        {{"reason", e.what()}, {"what_now", "the next start does it"}});
  }
}

std::optional<Time> Notary::run_once(Time now) {
  if (now < linked_at_ + kBetween && now >= linked_at_) return linked_at_ + kBetween;
  linked_at_ = now;
  asked_ = false;
  audit::link_all(db_, audit_store::Wait::no);
  return std::nullopt;
}

}  // namespace holdpoint
