#include "wire/sealed.h"

#include <algorithm>

#include "wire/digest.h"

namespace holdpoint {
namespace {

std::optional<std::string> from_base64url(std::string_view text) {
  std::string padded(text);
  std::replace(padded.begin(), padded.end(), '-', '+');
  std::replace(padded.begin(), padded.end(), '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return from_base64(padded);
}

}  // namespace

std::string Seals::sign(std::string_view purpose, std::string_view text) const {
  return to_base64url(hmac_sha256(secret_, std::string(purpose).append(1, '\n').append(text)));
}

std::string Seals::seal(std::string_view purpose, std::string_view text) const {
  return to_base64url(text) + "." + sign(purpose, text);
}

std::optional<std::string> Seals::open(std::string_view purpose, std::string_view token) const {
  const auto dot = token.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  auto text = from_base64url(token.substr(0, dot));
  if (!text || !equal_in_constant_time(token.substr(dot + 1), sign(purpose, *text))) {
    return std::nullopt;
  }
  return text;
}

}  // namespace holdpoint
