#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint {

// Where asks go: `slack`, `slack:#ops`, `discord:<channel id>`, `email:ana@example.org`, `url`. An
// empty `to` is the settings' own.
struct Target {
  std::string channel;
  std::string to;
  bool operator==(const Target&) const = default;
  std::string text() const { return to.empty() ? channel : channel + ":" + to; }
};

// Throws BadRequest naming `field` for what is no target.
Target parse_target(std::string_view text, const std::string& field);

// One address, as mail servers take it everywhere: nothing that could end a line or begin another.
bool is_mail_address(std::string_view text);

}  // namespace holdpoint
