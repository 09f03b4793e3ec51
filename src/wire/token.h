#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace holdpoint {

// An API key as its owner types it: `hp_<id>_<secret>`. The id is public and names the row; of the
// secret only a hash is kept.
struct ApiKey {
  std::string id;      // 16 hex digits.
  std::string secret;  // 43 characters: 32 bytes in base64url.

  static ApiKey make();
  // Nothing if it cannot be one.
  static std::optional<ApiKey> parse(std::string_view text);
  std::string text() const { return "hp_" + id + "_" + secret; }
};

// 32 random bytes in base64url: what an answer link or a login's cookie carries.
std::string new_token();
// Whether it has the form of one; saves looking for what cannot be there.
bool is_token(std::string_view text);

// Proof that a form was made by this server for `subject` within the last day. Nothing is stored:
// showing a page changes nothing.
class FormNonce {
 public:
  explicit FormNonce(std::string secret) : secret_(std::move(secret)) {}
  std::string make(std::string_view subject, Time now) const;
  bool check(std::string_view nonce, std::string_view subject, Time now) const;

 private:
  std::string sign(std::string_view subject, std::int64_t issued) const;
  const std::string secret_;
};

}  // namespace holdpoint
