#pragma once

#include <string_view>

#include "http/router.h"

namespace holdpoint {

// What the inbox's own pages may do beyond the others: run their modules, and call this server.
// Nothing can make text into script: not even the modules themselves.
inline constexpr std::string_view kAppPolicy =
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

}  // namespace holdpoint
