#include "cli/terminal_text.h"

#include <doctest/doctest.h>

#include "cli/progress_line.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::cli;
using namespace std::chrono_literals;

TEST_CASE("nothing in a text can steer the terminal") {
  CHECK(printable("a\x1b[31mb\x07\r\nc\x7f") == "a [31mb   c");
  CHECK(printable("C1: \u009b2J \u0085.") == "C1: 2J .");
  CHECK(printable("bidi \u202eevil\u202c \u2066x\u2069") == "bidi evil x");
  CHECK(printable("fine: ü 日本 🚀 —") == "fine: ü 日本 🚀 —");
  // Not even in what is no UTF-8, where a lone byte may be a C1 control too.
  CHECK(printable("\xe2\x1b[2J \x9b"
                  "2J") == "\xe2 [2J 2J");
}

TEST_CASE("JSON keeps its value when it is made printable") {
  const std::string text = "{\"a\":\"\u009b \u202e \x7f ü\"}";
  const std::string shown = printable_json(text);
  CHECK(shown == "{\"a\":\"\\u009b \\u202e \\u007f ü\"}");
  CHECK(read_json(shown) == read_json(text));
}

TEST_CASE("columns count what terminals draw") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("日本") == 4);
  CHECK(columns_of("🚀") == 2);
  CHECK(columns_of("e\u0301") == 1);
  CHECK(columns_of("") == 0);
}

TEST_CASE("what does not fit is cut between characters, with a mark") {
  CHECK(fit("abcdef", 6) == "abcdef");
  CHECK(fit("abcdef", 5) == "abcd…");
  CHECK(fit("日本語", 5) == "日本…");
  CHECK(fit("日本語", 4) == "日…");
  CHECK(fit("abc", 1) == "…");
  CHECK(fit("abc", 0) == "");
}

TEST_CASE("lines break at spaces, at new lines, and inside words that are too long") {
  using Lines = std::vector<std::string>;
  CHECK(wrap("one two three", 8) == Lines{"one two", "three"});
  CHECK(wrap("one\ntwo\n\nx", 8) == Lines{"one", "two", "", "x"});
  CHECK(wrap("abcdefghij", 4) == Lines{"abcd", "efgh", "ij"});
  CHECK(wrap("日本語", 4) == Lines{"日本", "語"});
  CHECK(wrap("日", 1) == Lines{"日", ""});
  CHECK(wrap("", 4) == Lines{""});
  CHECK(wrap("a\x1b[2Jb", 80) == Lines{"a [2Jb"});
}

TEST_CASE("spans are short and have two units at most") {
  CHECK(span_text(-5s) == "0s");
  CHECK(span_text(42s) == "42s");
  CHECK(span_text(65s) == "1m05s");
  CHECK(span_text(2h + 5min) == "2h05m");
  CHECK(span_text(26h) == "1d02h");
}
