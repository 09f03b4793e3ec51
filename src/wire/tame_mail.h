#pragma once

#include <string>
#include <string_view>

namespace holdpoint {

// A mail, or any MIME text, as GMime can take it from anybody: it reads addresses as soon as it
// sees their field, one frame of the stack for each group in a group, and parts in time that grows
// with their square. So fields of addresses, also those of enclosed mails, end after 16 KiB, and
// the text where it has more parts than any mail that was written.
std::string tame_mail(std::string_view raw);

}  // namespace holdpoint
