#include "wire/token.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "wire/digest.h"

namespace holdpoint {
namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kTokenChars = 43;
constexpr std::chrono::seconds kNonceLife = std::chrono::hours{24};

bool is_base64url(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
}
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::int64_t seconds_of(Time now) {
  return std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
}

}  // namespace

ApiKey ApiKey::make() { return {to_hex(random_bytes(kIdDigits / 2)), new_token()}; }

std::optional<ApiKey> ApiKey::parse(std::string_view text) {
  constexpr std::string_view prefix = "hp_";
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (text.size() != kIdDigits + 1 + kTokenChars || text[kIdDigits] != '_') return std::nullopt;
  const auto id = text.substr(0, kIdDigits);
  const auto secret = text.substr(kIdDigits + 1);
  if (!std::all_of(id.begin(), id.end(), is_hex) || !is_token(secret)) return std::nullopt;
  return ApiKey{std::string(id), std::string(secret)};
}

std::string new_token() { return to_base64url(random_bytes(32)); }

bool is_token(std::string_view text) {
  return text.size() == kTokenChars && std::all_of(text.begin(), text.end(), is_base64url);
}

std::string FormNonce::sign(std::string_view subject, std::int64_t issued) const {
  return to_base64url(hmac_sha256(secret_, std::to_string(issued).append(1, ':').append(subject)));
}

std::string FormNonce::make(std::string_view subject, Time now) const {
  const std::int64_t issued = seconds_of(now);
  return std::to_string(issued) + "." + sign(subject, issued);
}

bool FormNonce::check(std::string_view nonce, std::string_view subject, Time now) const {
  const auto dot = nonce.find('.');
  if (dot == std::string_view::npos) return false;
  std::int64_t issued = 0;
  const auto [stop, error] = std::from_chars(nonce.data(), nonce.data() + dot, issued);
  if (error != std::errc{} || stop != nonce.data() + dot) return false;
  const std::int64_t current = seconds_of(now);
  if (issued > current || issued < current - kNonceLife.count()) return false;
  return equal_in_constant_time(nonce.substr(dot + 1), sign(subject, issued));
}

}  // namespace holdpoint
