// What callers show: API keys, tokens of links and cookies, and the nonces of forms. The input is
// each of them, and a form's subject.
#include "tests/fuzz/expect.h"
#include "wire/digest.h"
#include "wire/token.h"

namespace holdpoint {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr Time kNow{seconds{1'700'000'000}};

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

void check_key(std::string_view text) {
  const auto key = ApiKey::parse(text);
  if (!key) return;
  expect(key->text() == text, "a key is written in one way only");
  expect(key->id.size() == 16 && consists_of(key->id, "0123456789abcdef"), "an id is 16 digits");
  expect(is_token(key->secret), "a key's secret has the form of a token");
}

void check_token(std::string_view text) {
  expect(is_token(text) == (text.size() == 43 && consists_of(text, kBase64Url)),
         "a token is 43 characters of base64url");
}

void check_base64(std::string_view text) {
  if (!text.empty() && text.size() <= 3000) {
    expect(from_base64(to_base64(text)) == text, "base64 gives back what it was given");
  }
  expect(consists_of(to_base64url(text), kBase64Url), "base64url needs no escapes");
  if (const auto bytes = from_base64(text)) {
    expect(to_base64(*bytes).size() == text.size(), "base64 has no second length");
  }
}

void check_nonce(std::string_view text) {
  const FormNonce nonce("a secret of this server's"), other("another's secret");
  expect(!nonce.check(text, text, kNow), "nobody else makes a nonce");
  const std::string made = nonce.make(text, kNow);
  expect(nonce.check(made, text, kNow), "a nonce fits the form it was made for");
  expect(nonce.check(made, text, kNow + hours{24}), "a nonce lives for a day");
  expect(!nonce.check(made, text, kNow + hours{24} + seconds{1}), "a nonce lives no longer");
  expect(!nonce.check(made, text, kNow - seconds{1}), "a nonce is not made in advance");
  expect(!nonce.check(made, std::string(text) + "x", kNow), "a nonce fits no other form");
  expect(!other.check(made, text, kNow), "a nonce fits no other server");
  std::string flipped = made;
  flipped[text.size() % flipped.size()] ^= 1;
  expect(!nonce.check(flipped, text, kNow), "a nonce cannot be altered");
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = holdpoint::text_of(data, size);
  holdpoint::check_key(text);
  holdpoint::check_token(text);
  holdpoint::check_base64(text);
  holdpoint::check_nonce(text);
  return 0;
}
