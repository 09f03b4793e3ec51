#include "wire/password.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

TEST_CASE("only the password itself fits its hash, to the byte") {
  const std::string hash = hash_password("correct horse");
  CHECK(check_password(hash, "correct horse"));
  for (const std::string& wrong :
       {std::string(), std::string("correct horse "), std::string("Correct horse"),
        std::string("correct hors"), std::string("correct horse\0", 14)}) {
    CAPTURE(wrong);
    CHECK_FALSE(check_password(hash, wrong));
  }
}

TEST_CASE("a NUL does not end a password") {
  const std::string hash = hash_password(std::string("abc\0def", 7));
  CHECK(check_password(hash, std::string("abc\0def", 7)));
  CHECK_FALSE(check_password(hash, "abc"));
  CHECK_FALSE(check_password(hash, std::string("abc\0deg", 7)));
}

TEST_CASE("a hash is Argon2id's, salted, and does not hold the password") {
  const std::string hash = hash_password("correct horse");
  CHECK(hash.starts_with("$argon2id$"));
  CHECK(hash != hash_password("correct horse"));
  CHECK(hash.find("horse") == std::string::npos);
}

TEST_CASE("an empty hash matches nothing, not even the password that stands in for it") {
  for (const char* password : {"", "nobody's password", "x"}) {
    CHECK_FALSE(check_password("", password));
  }
}

TEST_CASE("what is no hash matches nothing") {
  for (const char* hash : {"x", "correct horse", "$argon2id$", "$2b$12$abc"}) {
    CHECK_FALSE(check_password(hash, "correct horse"));
  }
}

}  // namespace
}  // namespace holdpoint
