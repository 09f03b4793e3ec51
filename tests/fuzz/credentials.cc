// Webhook secrets, and the signatures they make. The input: a line each of secret, id and seconds,
// then the body.
#include <charconv>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/signature.h"

namespace holdpoint {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

void check_key(const std::string& key, std::string_view text) {
  if (text.starts_with("whsec_")) text.remove_prefix(6);
  const std::size_t padding = text.size() - 1 - text.find_last_not_of('=');
  expect(key.size() >= 16, "a key has its length");
  expect(
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") >=
          text.size() - padding,
      "a key is written in base64");
  expect(padding <= 2 && key.size() == text.size() / 4 * 3 - padding,
         "a key has a byte for every byte that is written");
}

std::string with_flipped_byte(std::string_view text, std::size_t at) {
  std::string flipped(text);
  flipped[at % flipped.size()] ^= 1;
  return flipped;
}

void check_signature(const WebhookSecret& secret, std::string_view id, Time at,
                     std::string_view body) {
  const auto sign = [&](std::string_view i, Time t, std::string_view b) {
    return sign_webhook({secret}, i, t, b);
  };
  const std::string signature = sign(id, at, body);
  expect(signature.size() == 3 + 44 && signature.starts_with("v1,"),
         "a signature is v1 and base64");
  expect(sign_webhook({secret, secret}, id, at, body) == signature + " " + signature,
         "each secret signs the same");
  expect(sign(id, at + std::chrono::seconds{1}, body) != signature, "the time is signed");
  if (!id.empty()) {
    expect(sign(with_flipped_byte(id, body.size()), at, body) != signature, "the id is signed");
  }
  if (!body.empty()) {
    expect(sign(id, at, with_flipped_byte(body, id.size())) != signature, "the body is signed");
  }
}

void run(std::string_view text) {
  const std::string_view secret_text = next_line(text);
  const std::string_view id = next_line(text);
  const std::string_view seconds_text = next_line(text);
  const auto secret = unless_refused([&] { return WebhookSecret::parse(secret_text); });
  if (!secret) return;
  check_key(secret->key(), secret_text);
  std::int32_t seconds = 0;
  std::from_chars(seconds_text.data(), seconds_text.data() + seconds_text.size(), seconds);
  check_signature(*secret, id, Time{std::chrono::seconds{seconds}}, text);
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
