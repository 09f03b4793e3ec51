#include "wire/ed25519.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// RFC 8032, section 7.1, tests 1 to 3.
const struct {
  const char* key;
  const char* message;
  const char* signature;
} kVectors[] = {
    {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
};

TEST_CASE("the standard's signatures are valid, and for nothing else") {
  for (const auto& vector : kVectors) {
    CAPTURE(vector.key);
    CHECK(verify_ed25519(vector.key, vector.signature, vector.message));
    CHECK_FALSE(verify_ed25519(vector.key, vector.signature, std::string(vector.message) + " "));
    CHECK_FALSE(verify_ed25519(kVectors[&vector == kVectors ? 1 : 0].key, vector.signature,
                               vector.message));
    std::string bent = vector.signature;
    bent[10] = bent[10] == '0' ? '1' : '0';
    CHECK_FALSE(verify_ed25519(vector.key, bent, vector.message));
  }
}

TEST_CASE("what is no key or no signature verifies nothing") {
  const auto& [key, message, signature] = kVectors[0];
  CHECK_FALSE(verify_ed25519("", signature, message));
  CHECK_FALSE(verify_ed25519(key, "", message));
  CHECK_FALSE(verify_ed25519(key, std::string(128, 'z'), message));
  CHECK_FALSE(verify_ed25519(key, std::string(signature) + "00", message));
  CHECK_FALSE(verify_ed25519(std::string(key) + "0", signature, message));
  CHECK(is_ed25519_key(key));
  CHECK(is_ed25519_key("D75A980182B10AB7D54BFED3C964073A0EE172F3DAA62325AF021A68F707511A"));
  CHECK_FALSE(is_ed25519_key(""));
  CHECK_FALSE(is_ed25519_key(std::string(64, 'g')));
  CHECK_FALSE(is_ed25519_key(std::string(62, '0')));
}

TEST_CASE("Discord's proof is over timestamp and body, and old after five minutes") {
  // Signed by `openssl pkeyutl` over `1763280000{"type":1}`.
  const std::string key = "3d7ae537a7b2b1b76b64bce4abe68808926ae253d95d1f0539dfb11be865e319";
  const std::string signature =
      "363dc6fc2a1fe7154419e5146f6057f7b7cf3eccb257b27dcbd1561071283f960515a0c7c330a6c67d87752d164f"
      "382d4fea9ab0ba9c48160711b7247079a009";
  const std::string body = R"({"type":1})";
  const Time then{std::chrono::seconds{1763280000}};
  const auto verdict = [&](const std::string& timestamp, const std::string& text, Time now) {
    return verify_discord(key, timestamp, signature, text, now);
  };
  CHECK(verdict("1763280000", body, then) == Verdict::valid);
  CHECK(verdict("1763280000", body, then + 300s) == Verdict::valid);
  CHECK(verdict("1763280000", body, then - 300s) == Verdict::valid);
  CHECK(verdict("1763280000", body, then + 301s) == Verdict::stale);
  CHECK(verdict("1763280000", body, then - 301s) == Verdict::stale);
  CHECK(verdict("1763280001", body, then) == Verdict::wrong);
  CHECK(verdict("1763280000", R"({"type":2})", then) == Verdict::wrong);
  // The same bytes in all, cut elsewhere: signed, but no timestamp of today.
  CHECK(verdict("176328000", "0" + body, then) == Verdict::stale);
  CHECK(verdict("", body, then) == Verdict::missing);
  CHECK(verify_discord(key, "1763280000", "", body, then) == Verdict::missing);
  CHECK(verify_discord("", "1763280000", signature, body, then) == Verdict::wrong);
}

}  // namespace
}  // namespace holdpoint
