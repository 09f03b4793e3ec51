#pragma once

#include <string>
#include <string_view>

#include "http/router.h"

namespace holdpoint {

// Text as it may stand in HTML, in attributes too.
std::string escape_html(std::string_view text);

// A whole page around `body`, which is HTML.
Response html_page(int status, std::string_view title, std::string_view body);
// A page that only says something, in plain text.
Response message_page(int status, std::string_view title, std::string_view message);

Response redirect_to(std::string path);

}  // namespace holdpoint
