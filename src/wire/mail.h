#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace holdpoint {

struct Mailbox {
  std::string name;  // Empty: none.
  std::string address;
  bool operator==(const Mailbox&) const = default;

  std::string domain() const { return address.substr(address.rfind('@') + 1); }
};

// `Holdpoint <holdpoint@example.org>` or an address alone; nothing if it is not exactly one.
std::optional<Mailbox> read_mailbox(std::string_view text);

// A message to one person. Ids are written with their angle brackets.
struct Mail {
  Mailbox from;
  std::string to;
  std::string reply_to;  // Empty: none.
  std::string subject;
  std::string text;
  std::string html;  // Empty: text alone.
  std::string message_id;
  std::string in_reply_to;  // Empty: none.
  std::vector<std::string> references;
  Time date;
  // Of ASCII. What is not a letter, digit or hyphen in a name, or would end a line in a value, is
  // left out.
  std::vector<std::pair<std::string, std::string>> headers;
};

// The text as a header may hold it: a line break, or any run of white space, is one space.
std::string one_line(std::string_view text);

// The message as it goes over the wire, in seven bits and with CRLF. Addresses must hold by
// is_mail_address; whatever the texts hold, they make neither a header nor a part.
std::string write_mail(const Mail& mail);

}  // namespace holdpoint
