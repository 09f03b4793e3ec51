#pragma once

#include <string>
#include <string_view>

#include "http/router.h"
#include "wire/escape_html.h"

namespace holdpoint {

// Who sees a page: for people of this server its name leads to the inbox; who has but a link has
// none.
enum class Visitor { of_link, of_inbox };

// A whole page around `body`, which is HTML.
Response html_page(int status, std::string_view title, std::string_view body,
                   Visitor visitor = Visitor::of_link);
// A page that only says something, in plain text.
Response message_page(int status, std::string_view title, std::string_view message);

Response redirect_to(std::string path);

}  // namespace holdpoint
