#pragma once

#include <vector>

#include "domain/limits.h"
#include "domain/target.h"
#include "wire/json.h"

namespace holdpoint {

// The places that an object's `channels` adds; none if it has no such member. Throws BadRequest.
std::vector<Target> read_channels(const Json& object, const Limits& limits);

}  // namespace holdpoint
