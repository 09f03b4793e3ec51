#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdpoint {

// The header fields of a mail, decoded, in their order.
class MailHeaders {
 public:
  void add(std::string_view name, std::string_view value);
  bool has(std::string_view name) const { return count(name) > 0; }
  std::size_t count(std::string_view name) const;
  // The first of that name, in any case of letters; empty if it is not there.
  std::string text(std::string_view name) const;
  // The bare addresses in all fields of that name, in lower case.
  std::vector<std::string> addresses(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;  // With names in lower case.
};

// The bare addresses of an address list, in lower case; whatever is none is left out.
std::vector<std::string> read_addresses(std::string_view text);

// Why a mail is no person's answer.
struct AutomaticMail {
  enum class Kind { auto_reply, bounce };
  Kind kind = Kind::auto_reply;
  std::string why;  // The field that says so, in words.
};
// Nothing if a person may have written it.
std::optional<AutomaticMail> find_automatic(const MailHeaders& headers);

}  // namespace holdpoint
