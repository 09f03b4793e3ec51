#include "wire/digest.h"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

namespace holdpoint {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST_CASE("SHA-256 gives what FIPS 180-4's examples say") {
  for (const auto& [text, hex] :
       Pairs{{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
             {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
             {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
             {std::string(1'000'000, 'a'),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}}) {
    CHECK(sha256_hex(text) == hex);
    CHECK(to_hex(sha256(text)) == hex);
  }
}

TEST_CASE("a NUL does not end what is hashed") {
  CHECK(sha256_hex(std::string("a\0b", 3)) != sha256_hex("a"));
  CHECK(hmac_sha256(std::string("k\0a", 3), "x") != hmac_sha256(std::string("k\0b", 3), "x"));
  CHECK(hmac_sha256("k", std::string("x\0a", 3)) != hmac_sha256("k", std::string("x\0b", 3)));
}

TEST_CASE("HMAC-SHA-256 gives what RFC 4231 says") {
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  struct Vector {
    std::string key, text, hex;
  };
  for (const auto& [key, text, hex] : std::vector<Vector>{
           {std::string(20, '\x0b'), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
           {"Jefe", "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
           {std::string(20, '\xaa'), std::string(50, '\xdd'),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
           {counting, std::string(50, '\xcd'),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
           {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
           {std::string(131, '\xaa'),
            "This is a test using a larger than block-size key and a larger than block-size data. "
            "The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}}) {
    CHECK(to_hex(hmac_sha256(key, text)) == hex);
  }
}

TEST_CASE("hex has two digits a byte, in lower case") {
  CHECK(to_hex("") == "");
  CHECK(to_hex(std::string("\x00\x0f\xf0\xff", 4)) == "000ff0ff");
}

TEST_CASE("base64 is RFC 4648's, with padding") {
  for (const auto& [text, encoded] : Pairs{{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}}) {
    CHECK(to_base64(text) == encoded);
    if (!text.empty()) CHECK(from_base64(encoded) == text);
  }
  CHECK(from_base64(to_base64(all_bytes())) == all_bytes());
}

TEST_CASE("base64 for URLs has no padding, and - and _ for + and /") {
  CHECK(to_base64("\xfb\xff\xbf") == "+/+/");
  CHECK(to_base64url("\xfb\xff\xbf") == "-_-_");
  CHECK(to_base64url("f") == "Zg");
  CHECK(to_base64url("fo") == "Zm8");
  CHECK(to_base64url(all_bytes()).find_first_of("+/=") == std::string::npos);
  CHECK(to_base64url(std::string(32, 'x')).size() == 43);
}

TEST_CASE("what is no base64 decodes to nothing") {
  for (const std::string text : {"", "Z", "Zg", "Zg=", "Zm9vY", "Zm9*", "Zm9_", "-_-_", "Zm\n9"}) {
    CAPTURE(text);
    CHECK_FALSE(from_base64(text));
  }
  CHECK_FALSE(from_base64(std::string("Zm9\0", 4)));
  CHECK_FALSE(from_base64(std::string(4100, 'A')));
}

TEST_CASE("padding stands at the end and nowhere else, and spaces are no base64") {
  for (const std::string text : {"====", "=AAA", "A=AA", "AA=A", "A===", "Zg==Zg==", "    Zm9v",
                                 "Zm9v    ", "Zg==\n\n\n\n"}) {
    CAPTURE(text);
    CHECK_FALSE(from_base64(text));
  }
}

TEST_CASE("only equal texts are equal") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(equal_in_constant_time("abc", "bbc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abcd"));
  CHECK_FALSE(equal_in_constant_time("abc", ""));
  CHECK_FALSE(equal_in_constant_time(std::string("a\0b", 3), std::string("a\0c", 3)));
}

TEST_CASE("random bytes are as many as asked for, and others each time") {
  CHECK(random_bytes(0).empty());
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string bytes = random_bytes(16);
    CHECK(bytes.size() == 16);
    seen.insert(bytes);
  }
  CHECK(seen.size() == 100);
}

}  // namespace
}  // namespace holdpoint
