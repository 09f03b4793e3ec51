#pragma once

#include <map>
#include <string>
#include <string_view>

namespace holdpoint {

// The fields of a `multipart/form-data` body, as bytes; files are fields, too. `content_type` is
// the header, with its boundary. Throws Unreadable if it is no such body, or has more than 100
// fields.
std::multimap<std::string, std::string> parse_multipart_form(const std::string& content_type,
                                                             std::string_view body);

}  // namespace holdpoint
