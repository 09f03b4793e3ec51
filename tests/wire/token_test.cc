#include "wire/token.h"

#include <doctest/doctest.h>

#include <set>

#include "wire/digest.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow{1'800'000'000s};

TEST_CASE("a new key reads back as itself, and no two are alike") {
  std::set<std::string> ids, secrets;
  for (int i = 0; i < 100; ++i) {
    const ApiKey key = ApiKey::make();
    CHECK(key.id.size() == 16);
    CHECK(key.id.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(is_token(key.secret));
    CHECK(key.text() == "hp_" + key.id + "_" + key.secret);
    const auto read = ApiKey::parse(key.text());
    REQUIRE(read);
    CHECK(read->id == key.id);
    CHECK(read->secret == key.secret);
    ids.insert(key.id);
    secrets.insert(key.secret);
  }
  CHECK(ids.size() == 100);
  CHECK(secrets.size() == 100);
}

TEST_CASE("what has not the form of a key is none") {
  const std::string id = "0123456789abcdef";
  const std::string secret = std::string(41, 'a') + "-_";
  REQUIRE(ApiKey::parse("hp_" + id + "_" + secret));
  for (const std::string& text :
       {std::string(), std::string("hp_"), "HP_" + id + "_" + secret, id + "_" + secret,
        "hp_" + id + secret, "hp_" + id + "-" + secret, "hp_" + id + "_" + secret + "a",
        "hp_" + id + "_" + secret.substr(1), "hp_" + id.substr(1) + "_" + secret,
        "hp_0123456789ABCDEF_" + secret, "hp_0123456789abcdeg_" + secret,
        "hp_" + id + "_" + secret.substr(1) + "=", "hp_" + id + "_" + secret.substr(1) + "+",
        "hp_" + id + "_" + secret.substr(1) + "/", " hp_" + id + "_" + secret,
        "hp_" + id + "_" + secret + "\n",
        "hp_" + id + "_" + secret.substr(1) + std::string(1, '\0'),
        "hp_" + id + "_" + secret.substr(2) + "é"}) {
    CAPTURE(text);
    CHECK_FALSE(ApiKey::parse(text));
  }
}

TEST_CASE("a token is 32 random bytes for a URL") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = new_token();
    CHECK(is_token(token));
    seen.insert(token);
  }
  CHECK(seen.size() == 100);
  CHECK(is_token(to_base64url(std::string(32, '\xff'))));
}

TEST_CASE("what has not the form of a token is none") {
  const std::string good(43, 'a');
  REQUIRE(is_token(good));
  CHECK_FALSE(is_token(""));
  CHECK_FALSE(is_token(good + "a"));
  CHECK_FALSE(is_token(good.substr(1)));
  for (const char c : std::string("=+/ .%'\"\n\0\x80\xff", 12)) {
    CHECK_FALSE(is_token(good.substr(1) + c));
    CHECK_FALSE(is_token(c + good.substr(1)));
  }
}

TEST_CASE("a form's nonce holds for a day, from the second it was made") {
  const FormNonce nonce("secret");
  const std::string made = nonce.make("ana", kNow);
  CHECK(nonce.check(made, "ana", kNow));
  CHECK(nonce.check(made, "ana", kNow + 24h));
  CHECK(nonce.check(made, "ana", kNow + 24h + 999ms));
  CHECK_FALSE(nonce.check(made, "ana", kNow + 24h + 1s));
  CHECK_FALSE(nonce.check(made, "ana", kNow + 24h * 365));
}

TEST_CASE("a nonce of the future is none: nobody was shown a form yet") {
  const FormNonce nonce("secret");
  const std::string made = nonce.make("ana", kNow);
  CHECK_FALSE(nonce.check(made, "ana", kNow - 1s));
  CHECK_FALSE(nonce.check(made, "ana", kNow - 1ms));
}

TEST_CASE("a nonce is good for its subject and its server only") {
  const FormNonce nonce("secret");
  const std::string made = nonce.make("link:abc", kNow);
  for (const char* subject : {"", "link:ab", "link:abcd", "LINK:abc", "link:abd", "open"}) {
    CHECK_FALSE(nonce.check(made, subject, kNow));
  }
  CHECK_FALSE(FormNonce("secret2").check(made, "link:abc", kNow));
  CHECK_FALSE(FormNonce("").check(made, "link:abc", kNow));
  CHECK(FormNonce("secret").check(made, "link:abc", kNow));
}

TEST_CASE("the subject cannot take over digits of the time") {
  const FormNonce nonce("secret");
  const std::string made = nonce.make("5:x", kNow);
  const std::string signature = made.substr(made.find('.'));
  CHECK_FALSE(nonce.check("18000000005" + signature, "x", Time{18'000'000'005s}));
}

TEST_CASE("a nonce that was tampered with is none") {
  const FormNonce nonce("secret");
  const std::string made = nonce.make("ana", kNow);
  const auto dot = made.find('.');
  REQUIRE(dot != std::string::npos);
  for (std::size_t i = 0; i < made.size(); ++i) {
    CAPTURE(i);
    std::string changed = made;
    changed[i] = made[i] == 'A' ? 'B' : made[i] == '1' ? '0' : made[i] == '.' ? ',' : 'A';
    CHECK_FALSE(nonce.check(changed, "ana", kNow));
    CHECK_FALSE(nonce.check(made.substr(0, i), "ana", kNow));
    CHECK_FALSE(nonce.check(made.substr(i + 1), "ana", kNow));
  }
  const std::string time = made.substr(0, dot), signature = made.substr(dot);
  const std::string later = std::to_string(std::stoll(time) + 1);
  CHECK_FALSE(nonce.check(later + signature, "ana", kNow + 1s));
  for (const std::string& text :
       {std::string(), std::string("."), signature, time, time + ".", made + "A", " " + made,
        "+" + made, "-" + made, "0x" + made, time + " " + signature, time + ".0" + signature,
        "99999999999999999999" + signature}) {
    CAPTURE(text);
    CHECK_FALSE(nonce.check(text, "ana", kNow));
  }
}

}  // namespace
}  // namespace holdpoint
