#include <doctest/doctest.h>

#include "wire/digest.h"
#include "wire/signature.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// A request that was signed right: what each case changes one thing of.
struct Signed {
  WebhookScheme scheme;
  std::string key;
  WebhookHeaders headers;
  std::string body;
  Time now;

  Verdict verdict() const { return verify_webhook(scheme, {Secret(key)}, headers, body, now); }
};

// As GitHub's documentation has it.
Signed github() {
  return {WebhookScheme::github,
          "It's a Secret to Everybody",
          {"72d3162e-cc78-11e3-81ab-4c9367dc0958", "",
           "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
          "Hello, World!",
          Time{1'700'000'000s}};
}

// As the specification of Standard Webhooks has it.
Signed standard() {
  return {WebhookScheme::standard,
          WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").key(),
          {"msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
           "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
          R"({"test": 2432232314})",
          Time{1'614'265'330s}};
}

// As Slack's documentation has it.
Signed slack() {
  return {WebhookScheme::slack,
          "8f742231b10e8888abcd99yyyzzz85a5",
          {"", "1531420618", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"},
          "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id="
          "G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-"
          "collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%"
          "2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
          "803a0bc887a14d10d2c447fce8b6703c",
          Time{1'531'420'618s}};
}

Signed bearer() {
  return {WebhookScheme::bearer,
          "a long enough secret",
          {"", "", "a long enough secret"},
          "{}",
          Time{1'700'000'000s}};
}

std::vector<Signed> all_schemes() { return {github(), standard(), slack(), bearer()}; }

// The same request under another time, signed right for it.
Signed signed_at(Signed request, const std::string& timestamp) {
  request.headers.timestamp = timestamp;
  if (request.scheme == WebhookScheme::slack) {
    request.headers.signature =
        "v0=" + to_hex(hmac_sha256(request.key, "v0:" + timestamp + ":" + request.body));
  } else {
    request.headers.signature =
        "v1," + to_base64(hmac_sha256(request.key,
                                      request.headers.id + "." + timestamp + "." + request.body));
  }
  return request;
}

TEST_CASE("the documented example of each scheme is valid") {
  for (const auto& request : all_schemes()) {
    CAPTURE(to_text(request.scheme));
    CHECK(request.verdict() == Verdict::valid);
  }
}

TEST_CASE("an altered body is wrong, whatever byte was altered") {
  for (const auto& original : {github(), standard(), slack()}) {
    CAPTURE(to_text(original.scheme));
    for (std::size_t i = 0; i < original.body.size(); ++i) {
      Signed request = original;
      request.body[i] = static_cast<char>(request.body[i] ^ 1);
      REQUIRE(request.verdict() == Verdict::wrong);
    }
    for (const std::string& body : {std::string(), original.body + " ", original.body.substr(1),
                                    original.body + std::string(1, '\0')}) {
      Signed request = original;
      request.body = body;
      CHECK(request.verdict() == Verdict::wrong);
    }
  }
}

TEST_CASE("an altered signature is wrong, whatever byte was altered") {
  for (const auto& original : all_schemes()) {
    CAPTURE(to_text(original.scheme));
    const std::string& signature = original.headers.signature;
    for (std::size_t i = 0; i < signature.size(); ++i) {
      Signed request = original;
      request.headers.signature[i] = static_cast<char>(signature[i] ^ 1);
      REQUIRE(request.verdict() == Verdict::wrong);
      request.headers.signature = signature.substr(0, i);
      REQUIRE(request.verdict() == (i == 0 ? Verdict::missing : Verdict::wrong));
    }
    Signed longer = original;
    longer.headers.signature += "0";
    CHECK(longer.verdict() == Verdict::wrong);
  }
}

TEST_CASE("a signature by another key is wrong, and so is any without keys") {
  for (auto request : all_schemes()) {
    CAPTURE(to_text(request.scheme));
    CHECK(verify_webhook(request.scheme, {}, request.headers, request.body, request.now) ==
          Verdict::wrong);
    request.key += "x";
    CHECK(request.verdict() == Verdict::wrong);
  }
}

TEST_CASE("either of two keys will do, while upstream changes over") {
  for (const auto& request : all_schemes()) {
    CAPTURE(to_text(request.scheme));
    const Secret right(request.key), other("another secret, as long");
    for (const auto& keys : {std::vector{right, other}, std::vector{other, right}}) {
      CHECK(verify_webhook(request.scheme, keys, request.headers, request.body, request.now) ==
            Verdict::valid);
    }
    CHECK(verify_webhook(request.scheme, {other, other}, request.headers, request.body,
                         request.now) == Verdict::wrong);
  }
}

TEST_CASE("a header that is not there is missing, never a pass") {
  for (const auto& original : all_schemes()) {
    CAPTURE(to_text(original.scheme));
    Signed request = original;
    request.headers.signature = "";
    CHECK(request.verdict() == Verdict::missing);
    request.headers = {};
    CHECK(request.verdict() == Verdict::missing);
  }
  for (const auto& original : {standard(), slack()}) {
    CHECK(signed_at(original, "").verdict() == Verdict::missing);
  }
  Signed nameless = standard();
  nameless.headers.id = "";
  CHECK(signed_at(nameless, "1614265330").verdict() == Verdict::missing);
}

TEST_CASE("an empty secret opens nothing") {
  for (const auto& original : all_schemes()) {
    CAPTURE(to_text(original.scheme));
    CHECK(verify_webhook(original.scheme, {Secret("")}, {"id", "1", ""}, "", original.now) ==
          Verdict::missing);
  }
}

TEST_CASE("a timestamp may be 300 s off either way, and not one more") {
  for (const auto& original : {standard(), slack()}) {
    CAPTURE(to_text(original.scheme));
    Signed request = original;
    for (const auto off : {-300s, -299s, 0s, 299s, 300s}) {
      CAPTURE(off.count());
      request.now = original.now + off;
      CHECK(request.verdict() == Verdict::valid);
    }
    request.now = original.now + 300s + 999ms;
    CHECK(request.verdict() == Verdict::valid);
    for (const Duration off : {Duration{-301s}, Duration{301s}, Duration{-24h}, Duration{24h}}) {
      CAPTURE(off.count());
      request.now = original.now + off;
      CHECK(request.verdict() == Verdict::stale);
    }
  }
}

TEST_CASE("a timestamp is part of what is signed") {
  for (const auto& original : {standard(), slack()}) {
    Signed request = original;
    request.headers.timestamp = std::to_string(std::stoll(request.headers.timestamp) + 1);
    CHECK(request.verdict() == Verdict::wrong);
    CHECK(signed_at(original, request.headers.timestamp).verdict() == Verdict::valid);
  }
}

TEST_CASE("a timestamp that is no number of seconds is stale, even signed right") {
  for (const auto& original : {standard(), slack()}) {
    const std::string seconds = original.headers.timestamp;
    for (const std::string& text :
         {std::string("now"), " " + seconds, seconds + " ", "+" + seconds, "-" + seconds,
          seconds + ".0", seconds + "000", std::string("0x60d5"), std::string("1e9"),
          std::string("99999999999999999999")}) {
      CAPTURE(text);
      CHECK(signed_at(original, text).verdict() == Verdict::stale);
    }
  }
}

TEST_CASE("an old request with a wrong signature is wrong, not stale: the clock is not told") {
  Signed request = slack();
  request.now += 1h;
  request.body += " ";
  CHECK(request.verdict() == Verdict::wrong);
}

TEST_CASE("the id of Standard Webhooks is signed, and cannot run into the time or the body") {
  Signed request = standard();
  request.headers.id += "x";
  CHECK(request.verdict() == Verdict::wrong);
  // The same bytes "id.1614265330.body", cut elsewhere.
  request = standard();
  request.headers.id = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330";
  request.headers.timestamp = R"({"test": 2432232314})";
  request.body = "";
  CHECK(request.verdict() != Verdict::valid);
}

TEST_CASE("any of the signatures that Standard Webhooks lists may fit") {
  const std::string right = standard().headers.signature;
  Signed request = standard();
  for (const std::string& header :
       {"v1,AAAA " + right, right + " v1,AAAA", "v1a,AAAA v2,BBBB " + right, " " + right + " "}) {
    CAPTURE(header);
    request.headers.signature = header;
    CHECK(request.verdict() == Verdict::valid);
  }
  for (const std::string& header :
       {"v2" + right.substr(2), "V1" + right.substr(2), right.substr(3), "v1, " + right.substr(3),
        "v1," + right, right + "," + right, "v1,AAAA," + right}) {
    CAPTURE(header);
    request.headers.signature = header;
    CHECK(request.verdict() == Verdict::wrong);
  }
}

TEST_CASE("GitHub's old signature and its digest in capitals are wrong") {
  Signed request = github();
  request.headers.signature = "sha1=757107ea0eb2509fc211221cce984b8a37570b6d";
  CHECK(request.verdict() == Verdict::wrong);
  request.headers.signature =
      "sha256=757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17";
  CHECK(request.verdict() == Verdict::wrong);
  request.headers.signature = github().headers.signature.substr(7);
  CHECK(request.verdict() == Verdict::wrong);
}

TEST_CASE("one scheme's signature is no other's") {
  for (const auto& request : all_schemes()) {
    for (const auto scheme : {WebhookScheme::github, WebhookScheme::standard, WebhookScheme::slack,
                              WebhookScheme::bearer}) {
      if (scheme == request.scheme) continue;
      CHECK(verify_webhook(scheme, {Secret(request.key)}, request.headers, request.body,
                           request.now) != Verdict::valid);
    }
  }
}

TEST_CASE("the scheme none proves nothing") {
  for (const auto& request : all_schemes()) {
    CHECK(verify_webhook(WebhookScheme::none, {Secret(request.key)}, request.headers, request.body,
                         request.now) != Verdict::valid);
  }
}

TEST_CASE("schemes have names, and only those") {
  for (const auto scheme : {WebhookScheme::none, WebhookScheme::github, WebhookScheme::standard,
                            WebhookScheme::slack, WebhookScheme::bearer}) {
    CHECK(webhook_scheme_from(to_text(scheme)) == scheme);
  }
  for (const char* text : {"", "GitHub", "sha256", "None"}) CHECK_FALSE(webhook_scheme_from(text));
}

}  // namespace
}  // namespace holdpoint
