#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <utility>

namespace holdpoint {

// A text that shows itself only to who asks by name; wherever it is printed it reads `***`.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "***"; }

 private:
  std::string value_;
};

// The value of a secret setting: `env:NAME` and `file:path` (relative to `folder`) are looked up,
// anything else is itself. Throws std::runtime_error when it is not there, or in a file that
// everybody on this machine may read.
Secret read_secret(const std::string& text, const std::filesystem::path& folder);

// A URL as it may be shown: with *** for its password, if it has one.
std::string hide_password(std::string url);

}  // namespace holdpoint
