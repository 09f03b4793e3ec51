#include "wire/reply_token.h"

#include <doctest/doctest.h>

#include "domain/text.h"

using namespace holdpoint;

namespace {

const DeliveryId kId("0199a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b");
const ReplyTokens kTokens("a secret of this server");

}  // namespace

TEST_CASE("a reply token names its delivery, the same at every attempt") {
  const std::string token = kTokens.make(kId);
  CHECK(token.size() == 42);
  CHECK(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string::npos);
  CHECK(kTokens.make(kId) == token);
  CHECK(kTokens.read(token) == kId);
  for (int i = 0; i < 200; ++i) {
    const auto id = DeliveryId::make(Time{Duration{1'700'000'000'000 + i * 7919}});
    CHECK(kTokens.read(kTokens.make(id)) == id);
  }
}

TEST_CASE("a reply token is read in any case, as mail servers change it") {
  std::string token = kTokens.make(kId);
  for (std::size_t i = 0; i < token.size(); i += 2) {
    if (token[i] >= 'a') token[i] = static_cast<char>(token[i] - 32);
  }
  CHECK(kTokens.read(token) == kId);
}

TEST_CASE("a reply token cannot be altered, made up, or made for another server") {
  const std::string token = kTokens.make(kId);
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == 'a' ? 'b' : 'a';
    CHECK_FALSE(kTokens.read(other));
  }
  CHECK_FALSE(ReplyTokens("another secret").read(token));
  CHECK_FALSE(kTokens.read(""));
  CHECK_FALSE(kTokens.read(token + "a"));
  CHECK_FALSE(kTokens.read(token.substr(1)));
  CHECK_FALSE(kTokens.read(std::string(42, '=')));
  CHECK_FALSE(kTokens.read(std::string(42, '\xff')));
}

TEST_CASE("a reply address carries the token after a plus, and gives it back") {
  const std::string token = kTokens.make(kId);
  const std::string address = reply_address("Reply@Example.org", token);
  CHECK(address == "Reply+" + token + "@Example.org");
  CHECK(find_reply_token(address, "reply@example.ORG") == token);
  CHECK(find_reply_token("REPLY+ABC@EXAMPLE.ORG", "reply@example.org") == "abc");
  for (const char* none :
       {"reply@example.org", "reply+x@example.com", "other+x@example.org", "x+reply+y@example.org",
        "reply+x", "@", "", "reply+x@evil@example.com"}) {
    CHECK_FALSE(find_reply_token(none, "reply@example.org"));
  }
  CHECK_FALSE(find_reply_token("reply+x@example.org", ""));
}
