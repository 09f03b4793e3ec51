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

TEST_CASE("well-formed UTF-8 is clean, up to the ends of every range") {
  for (const std::string_view text : {
           "",
           "haiku\t\r\n\x7f",
           "\x01",
           "\xc2\x80",          // U+0080
           "\xdf\xbf",          // U+07FF
           "\xe0\xa0\x80",      // U+0800
           "\xed\x9f\xbf",      // U+D7FF, the last before the surrogates
           "\xee\x80\x80",      // U+E000, the first after them
           "\xef\xbf\xbf",      // U+FFFF
           "\xf0\x90\x80\x80",  // U+10000
           "\xf3\xbf\xbf\xbf",  // U+FFFFF
           "\xf4\x8f\xbf\xbf",  // U+10FFFF
           "aé日👍",
       }) {
    CAPTURE(text);
    CHECK(is_clean_utf8(text));
  }
}

TEST_CASE("what is no well-formed UTF-8 is not clean, wherever it stands") {
  for (const std::string_view bad : {
           std::string_view("\0", 1),
           std::string_view("\x80"),  // A byte that only goes on.
           std::string_view("\xbf"),
           std::string_view("\xc0\x80"),          // NUL in two bytes.
           std::string_view("\xc1\xbf"),          // DEL in two bytes.
           std::string_view("\xe0\x80\xaf"),      // A slash in three bytes.
           std::string_view("\xe0\x9f\xbf"),      // U+07FF in three bytes.
           std::string_view("\xf0\x80\x80\xaf"),  // A slash in four bytes.
           std::string_view("\xf0\x8f\xbf\xbf"),  // U+FFFF in four bytes.
           std::string_view("\xed\xa0\x80"),      // U+D800, a surrogate.
           std::string_view("\xed\xbf\xbf"),      // U+DFFF
           std::string_view("\xf4\x90\x80\x80"),  // U+110000
           std::string_view("\xf5\x80\x80\x80"),
           std::string_view("\xf8\x88\x80\x80\x80"),
           std::string_view("\xfe"),
           std::string_view("\xff"),
           std::string_view("\xc3("),
           std::string_view("\xe6\x97("),
           std::string_view("\xf0\x9f\x91("),
           std::string_view("\xf0\x9f(\x8d"),
       }) {
    const std::string text(bad);
    CAPTURE(text);
    CHECK_FALSE(is_clean_utf8(text));
    CHECK_FALSE(is_clean_utf8("a" + text));
    CHECK_FALSE(is_clean_utf8(text + "a"));
    CHECK_FALSE(is_clean_utf8("日" + text + "日"));
  }
}

TEST_CASE("a character that is cut off is not clean") {
  for (const std::string whole : {"é", "日", "👍"}) {
    for (std::size_t size = 1; size < whole.size(); ++size) {
      CHECK_FALSE(is_clean_utf8(whole.substr(0, size)));
      CHECK_FALSE(is_clean_utf8("abc" + whole.substr(0, size)));
    }
  }
}

}  // namespace
}  // namespace holdpoint
