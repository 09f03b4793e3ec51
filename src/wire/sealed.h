#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdpoint {

// Texts that we hand out and know again when they come back, on any node and after any restart.
// Who holds one can read it, and cannot change it. `purpose` keeps one kind from passing for
// another.
class Seals {
 public:
  explicit Seals(std::string secret) : secret_(std::move(secret)) {}
  // Letters, digits, `-`, `_` and `.`.
  std::string seal(std::string_view purpose, std::string_view text) const;
  // Nothing if it is none of ours.
  std::optional<std::string> open(std::string_view purpose, std::string_view token) const;

 private:
  std::string sign(std::string_view purpose, std::string_view text) const;
  const std::string secret_;
};

}  // namespace holdpoint
