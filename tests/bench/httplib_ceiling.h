#pragma once

#include "instant.h"

namespace holdpoint::bench {

constexpr int kCeilingConnections = 64;

// Requests a second of a bare cpp-httplib server in this process: a GET with a tiny body, from the
// same load generator as everything else.
double measure_httplib(Seconds span);

}  // namespace holdpoint::bench
