#include "wire/reply_token.h"

#include "domain/text.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kSignatureBytes = 10;
constexpr std::size_t kTokenChars = ((kIdBytes + kSignatureBytes) * 8 + 4) / 5;

std::string to_base32(std::string_view bytes) {
  std::string out;
  unsigned held = 0, bits = 0;
  for (const char c : bytes) {
    held = (held << 8 | static_cast<unsigned char>(c)) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) out += kAlphabet[held >> (bits - 5) & 31];
  }
  if (bits > 0) out += kAlphabet[held << (5 - bits) & 31];
  return out;
}

// Nothing for a letter outside of the alphabet, or for bits behind the last byte that are not
// zero: a token has one spelling only.
std::optional<std::string> from_base32(std::string_view text) {
  std::string out;
  unsigned held = 0, bits = 0;
  for (const char c : text) {
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    held = (held << 5 | static_cast<unsigned>(digit)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xff);
  }
  if (bits >= 5 || (held & ((1u << bits) - 1)) != 0) return std::nullopt;
  return out;
}

std::string bytes_of(const std::string& uuid) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  std::size_t high = std::string_view::npos;
  for (const char c : uuid) {
    const auto digit = hex.find(c);
    if (digit == std::string_view::npos) continue;
    if (high == std::string_view::npos) {
      high = digit;
    } else {
      out += static_cast<char>(high << 4 | digit);
      high = std::string_view::npos;
    }
  }
  return out;
}

std::string uuid_of(std::string_view bytes) {
  std::string out = to_hex(bytes);
  for (const std::size_t place : {8u, 13u, 18u, 23u}) out.insert(place, "-");
  return out;
}

}  // namespace

std::string ReplyTokens::sign(std::string_view bytes) const {
  return hmac_sha256(secret_, bytes).substr(0, kSignatureBytes);
}

std::string ReplyTokens::make(const DeliveryId& id) const {
  const std::string bytes = bytes_of(id.text());
  return to_base32(bytes + sign(bytes));
}

std::optional<DeliveryId> ReplyTokens::read(std::string_view token) const {
  if (token.size() != kTokenChars) return std::nullopt;
  const auto bytes = from_base32(lower_case(std::string(token)));
  if (!bytes) return std::nullopt;
  const std::string_view id = std::string_view(*bytes).substr(0, kIdBytes);
  if (!equal_in_constant_time(std::string_view(*bytes).substr(kIdBytes), sign(id))) {
    return std::nullopt;
  }
  return DeliveryId(uuid_of(id));
}

std::string reply_address(const std::string& reply_to, const std::string& token) {
  const auto at = reply_to.rfind('@');
  if (at == std::string::npos) return reply_to;
  return reply_to.substr(0, at) + "+" + token + reply_to.substr(at);
}

std::optional<std::string> find_reply_token(std::string_view address, std::string_view reply_to) {
  const auto at = address.rfind('@'), our_at = reply_to.rfind('@');
  if (at == std::string_view::npos || our_at == std::string_view::npos) return std::nullopt;
  const std::string given = lower_case(std::string(address));
  const std::string ours = lower_case(std::string(reply_to));
  const std::string before = ours.substr(0, our_at) + "+";
  if (given.substr(at) != ours.substr(our_at) || !given.starts_with(before)) return std::nullopt;
  return given.substr(before.size(), at - before.size());
}

}  // namespace holdpoint
