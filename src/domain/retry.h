#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace holdpoint {

// How long to wait after a turn's `attempts`-th failure: from 1 s doubling to 5 min, less up to
// half by `jitter` in [0, 1).
Duration turn_backoff(std::int64_t attempts, double jitter);

// How long to wait after a delivery's `attempts`-th failure; nothing after the tenth, about three
// days after the first. `jitter` in [0, 1) spreads it by ±20 %. A receiver's Retry-After is obeyed
// when it asks for more.
std::optional<Duration> delivery_backoff(std::int64_t attempts, double jitter,
                                         std::optional<Duration> retry_after);

}  // namespace holdpoint
