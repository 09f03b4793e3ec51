#pragma once

#include <string>
#include <string_view>

namespace holdpoint {

// Text as it may stand in HTML, in attributes too.
std::string escape_html(std::string_view text);

}  // namespace holdpoint
