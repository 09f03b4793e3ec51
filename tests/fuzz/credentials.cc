// Webhook secrets and signatures, our own and those of each scheme upstream may use. The input: a
// line each of scheme, secret, id, seconds and signature, then the body.
#include <charconv>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/digest.h"
#include "wire/signature.h"

namespace holdpoint {
namespace {

using std::chrono::seconds;

std::string next_line(std::string_view& text) {
  const std::string line(text.substr(0, text.find('\n')));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string with_flipped_byte(std::string text, std::size_t at) {
  if (!text.empty()) text[at % text.size()] ^= 1;
  return text;
}

void check_key(const std::string& key, std::string_view text) {
  if (text.starts_with("whsec_")) text.remove_prefix(6);
  const std::size_t padding = text.size() - 1 - text.find_last_not_of('=');
  const std::string_view digits = text.substr(0, text.size() - padding);
  expect(key.size() >= 16, "a key has its length");
  expect(digits.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "+/") == std::string_view::npos,
         "a key is written in base64");
  expect(padding <= 2 && key.size() == text.size() / 4 * 3 - padding,
         "a key has a byte for every byte that is written");
}

std::string right_signature(WebhookScheme scheme, const std::string& key,
                            const WebhookHeaders& headers, const std::string& body) {
  switch (scheme) {
    case WebhookScheme::github:
      return "sha256=" + to_hex(hmac_sha256(key, body));
    case WebhookScheme::standard:
      return "v1," + to_base64(hmac_sha256(key, headers.id + "." + headers.timestamp + "." + body));
    case WebhookScheme::slack:
      return "v0=" + to_hex(hmac_sha256(key, "v0:" + headers.timestamp + ":" + body));
    case WebhookScheme::bearer:
      return key;
    case WebhookScheme::none:
      break;
  }
  return "none";
}

// One webhook with its right signature, and how little may change about it.
struct Webhook {
  WebhookScheme scheme;
  std::string key;
  WebhookHeaders headers;
  std::string body;
  Time now;

  bool valid() const {
    return verify_webhook(scheme, {Secret(key)}, headers, body, now) == Verdict::valid;
  }
  bool has_time() const {
    return scheme == WebhookScheme::standard || scheme == WebhookScheme::slack;
  }

  template <class Change>
  void expect_refused(const char* property, Change change) const {
    Webhook other = *this;
    change(other);
    expect(!other.valid(), property);
  }

  void check() const {
    expect(valid(), "what is signed right is valid");
    const std::size_t at = body.size();
    expect_refused("another key", [&](Webhook& w) { w.key = with_flipped_byte(w.key, at); });
    expect_refused("another signature", [&](Webhook& w) {
      w.headers.signature = with_flipped_byte(w.headers.signature, at);
    });
    expect_refused("a part of the signature", [](Webhook& w) { w.headers.signature.pop_back(); });
    expect_refused("no signature", [](Webhook& w) { w.headers.signature.clear(); });
    if (scheme != WebhookScheme::bearer) {
      expect_refused("a longer body", [](Webhook& w) { w.body += ' '; });
      if (!body.empty()) {
        expect_refused("another body", [&](Webhook& w) { w.body = with_flipped_byte(w.body, at); });
      }
      expect(signed_hash(scheme, headers, body) != signed_hash(scheme, headers, body + " "),
             "another body is no replay");
    }
    if (scheme == WebhookScheme::standard) {
      expect_refused("another id",
                     [&](Webhook& w) { w.headers.id = with_flipped_byte(w.headers.id, at); });
    }
    if (has_time()) check_time();
    expect(verify_webhook(scheme, {}, headers, body, now) != Verdict::valid, "no key, no proof");
    const std::vector<Secret> both{Secret(with_flipped_byte(key, at)), Secret(key)};
    expect(verify_webhook(scheme, both, headers, body, now) == Verdict::valid, "either of two");
  }

  void check_time() const {
    for (const int off : {-300, 300}) {
      Webhook other = *this;
      other.now += seconds{off};
      expect(other.valid(), "300 s off is valid");
      other.now += seconds{off / 300};
      expect(!other.valid(), "301 s off is stale");
    }
    expect_refused("another time", [](Webhook& w) {
      w.headers.timestamp = with_flipped_byte(w.headers.timestamp, 3);
    });
  }
};

void check_own(const WebhookSecret& secret, const Webhook& webhook) {
  const std::string signature =
      sign_webhook({secret}, webhook.headers.id, webhook.now, webhook.body);
  expect(sign_webhook({secret, secret}, webhook.headers.id, webhook.now, webhook.body) ==
             signature + " " + signature,
         "each secret signs the same");
  Webhook own = webhook;
  own.scheme = WebhookScheme::standard;
  own.key = secret.key();
  own.headers.signature = "v1,other " + signature;
  expect(own.valid() == !own.headers.id.empty(), "what we sign we would take");
}

void run(std::string_view text) {
  const auto scheme = webhook_scheme_from(next_line(text));
  const std::string secret_text = next_line(text);
  Webhook webhook{scheme.value_or(WebhookScheme::none), secret_text, {}, "", {}};
  webhook.headers.id = next_line(text);
  std::int32_t at = 0;
  const std::string at_text = next_line(text);
  std::from_chars(at_text.data(), at_text.data() + at_text.size(), at);
  webhook.now = Time{seconds{std::max(at, 1000)}};
  webhook.headers.timestamp = std::to_string(std::max(at, 1000));
  webhook.headers.signature = next_line(text);
  webhook.body = text;

  if (const auto secret = unless_refused([&] { return WebhookSecret::parse(secret_text); })) {
    check_key(secret->key(), secret_text);
    if (webhook.scheme == WebhookScheme::standard) webhook.key = secret->key();
    check_own(*secret, webhook);
  }
  const std::string right =
      right_signature(webhook.scheme, webhook.key, webhook.headers, webhook.body);
  if (webhook.headers.signature.find(right) == std::string::npos) {
    expect(!webhook.valid(), "what is not signed right is not valid");
  }
  webhook.headers.signature = right;
  if (webhook.scheme == WebhookScheme::none) {
    expect(!webhook.valid(), "without a scheme nothing is proved");
  } else if (!webhook.key.empty() && !webhook.headers.id.empty()) {
    webhook.check();
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
