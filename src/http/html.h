#pragma once

#include <string>
#include <string_view>

#include "http/router.h"
#include "wire/escape_html.h"

namespace holdpoint {

// A whole page around `body`, which is HTML.
Response html_page(int status, std::string_view title, std::string_view body);
// A page that only says something, in plain text.
Response message_page(int status, std::string_view title, std::string_view message);

Response redirect_to(std::string path);

}  // namespace holdpoint
