#pragma once

#include "base/time.h"
#include "net/http_client.h"

namespace holdpoint {

// Whether a model that did not reply may do so later: nobody was reached, it is about load or
// health, or the other side says so.
bool may_pass(const HttpResponse& response);

// How long to wait after the `attempt`-th failure: as long as the other side says, up to five
// minutes; else from 0.5 s doubling to 8 s, less up to a quarter by `jitter` in [0, 1).
Duration model_backoff(const HttpResponse& response, std::int64_t attempt, double jitter);

}  // namespace holdpoint
