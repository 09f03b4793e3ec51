#include "wire/sealed.h"

#include <doctest/doctest.h>

using namespace holdpoint;

TEST_CASE("a sealed text comes back as it was, by letters that every header takes") {
  const Seals seals("secret");
  for (const std::string& text : {std::string(R"({"a":"ü?>"})"), std::string("a"),
                                  std::string("ab"), std::string(), std::string("\0\xff", 2)}) {
    const std::string token = seals.seal("session", text);
    CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "-_.") == std::string::npos);
    if (text.empty()) continue;  // Nobody seals nothing.
    CHECK(seals.open("session", token) == text);
  }
}

TEST_CASE("a seal is of one secret and one purpose") {
  const Seals seals("secret"), others("another");
  const std::string token = seals.seal("session", "text");
  CHECK(Seals("secret").open("session", token) == "text");
  CHECK_FALSE(others.open("session", token));
  CHECK_FALSE(seals.open("event", token));
  // The purpose and the text do not run into each other.
  CHECK_FALSE(seals.open("a", seals.seal("a\nb", "c")));
}

TEST_CASE("what was changed anywhere is none of ours") {
  const Seals seals("secret");
  const std::string token = seals.seal("session", R"({"owner":"key:1"})");
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CAPTURE(changed);
    // The last letter of either half has bits that stand for nothing.
    const auto opened = seals.open("session", changed);
    CHECK((!opened || *opened == R"({"owner":"key:1"})"));
  }
  for (const char* text : {"", ".", "a", "a.b", ".b", "a.", "..", "\x01.\x02"}) {
    CHECK_FALSE(seals.open("session", text));
  }
  CHECK_FALSE(seals.open("session", token + "A"));
  CHECK_FALSE(seals.open("session", token.substr(0, token.size() - 1)));
}
