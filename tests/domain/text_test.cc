#include "domain/text.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

TEST_CASE("characters are counted, not bytes") {
  CHECK(count_chars("") == 0);
  CHECK(count_chars("haiku") == 5);
  CHECK(count_chars("é") == 1);
  CHECK(count_chars("日本語") == 3);
  CHECK(count_chars("👍👍") == 2);
  CHECK(count_chars("e\u0301") == 2);  // Two code points, though people see one letter.
}

TEST_CASE("a text of nothing but white space is blank") {
  CHECK(is_blank(""));
  CHECK(is_blank(" \t\r\n\f\v"));
  CHECK_FALSE(is_blank("."));
  CHECK_FALSE(is_blank("  a  "));
  CHECK_FALSE(is_blank(std::string_view("\0", 1)));
}

TEST_CASE("a text that is short enough is kept whole") {
  CHECK(shorten("", 5) == "");
  CHECK(shorten("haiku", 5) == "haiku");
  CHECK(shorten("日本語", 3) == "日本語");
}

TEST_CASE("a text that is too long is cut between characters, and the cut is marked") {
  CHECK(shorten("sonnet", 5) == "sonn…");
  CHECK(shorten("日本語", 2) == "日…");
  CHECK(shorten("👍👍👍", 2) == "👍…");
  CHECK(shorten("haiku", 1) == "…");
  for (std::size_t most = 1; most < 12; ++most) {
    CHECK(count_chars(shorten("aé日👍aé日👍aé日👍", most)) == most);
  }
}

TEST_CASE("only A to Z change to lower case") {
  CHECK(lower_case("Content-TYPE: [AZ] az 09") == "content-type: [az] az 09");
  CHECK(lower_case("ÉÄ") == "ÉÄ");
}

}  // namespace
}  // namespace holdpoint
