#include "channels/discord_text.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace holdpoint {
namespace {

std::string escaped(std::string_view text) { return discord_escape(text, 10000).text; }

TEST_CASE("markdown, mentions and links with another text are shown as they were written") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"plain words, (and) 'more'; 50% off!", "plain words, (and) 'more'; 50% off!"},
      {"*a* __b__ ~~c~~ `d` ||e||", "\\*a\\* \\_\\_b\\_\\_ \\~\\~c\\~\\~ \\`d\\` \\|\\|e\\|\\|"},
      {"a\\*b", "a\\\\\\*b"},
      {"<@123> <@&4> <#5> <t:0:R> </run:1> <:x:2>",
       "\\<@123\\> \\<@&4\\> \\<\\#5\\> \\<t\\:0:R\\> \\</run:1\\> \\<\\:x:2\\>"},
      {"@everyone @here a@b.org", "\\@everyone \\@here a@b.org"},
      {"[x](https://evil.example)", "\\[x\\](https://evil.example)"},
      {"# a\n-# b\n> c\n- d\n  + e\n12. f", "\\# a\n\\-\\# b\n\\> c\n\\- d\n  \\+ e\n12\\. f"},
      {"1.5 - 2 + 3", "1.5 - 2 + 3"},
      {"at 10:30 :smile: done", "at 10:30 \\:smile: done"},
      {"a\r\nb\rc\xe2\x80\xa8# d", "a\nb\nc\n\\# d"},
      {"bell\a", "bell "},
  };
  for (const auto& [written, shown] : cases) {
    CAPTURE(written);
    CHECK(escaped(written) == shown);
  }
}

TEST_CASE("a plain address can be clicked, one with markdown in it is a text") {
  CHECK(escaped("see https://ci.example.org/run_1?x=2#a_b now") ==
        "see https://ci.example.org/run_1?x=2#a_b now");
  CHECK(escaped("https://a.example/**x**") == "https\\://a.example/\\*\\*x\\*\\*");
  CHECK(escaped("[https://good.example](https://evil.example)") ==
        "\\[https\\://good.example\\](https://evil.example)");
  CHECK(escaped("xhttps://a.example") == "xhttps\\://a.example");
  CHECK(escaped("discord://x") == "discord\\://x");
}

TEST_CASE("a text that is too long ends in an ellipsis and fits, escapes included") {
  for (std::size_t most : {1U, 2U, 7U, 50U}) {
    CAPTURE(most);
    const auto shown = discord_escape(std::string(200, '*'), most);
    CHECK(shown.cut);
    CHECK(shown.text.ends_with("…"));
    CHECK(discord_length(shown.text) <= most);
    CHECK(shown.text.size() % 2 == 1);  // No backslash without its asterisk; `…` has 3 bytes.
  }
  CHECK(discord_escape("abc", 3).text == "abc");
  CHECK_FALSE(discord_escape("abc", 3).cut);
  CHECK(discord_escape("abcd", 3).text == "ab…");
  CHECK(discord_escape("see https://a.example/b", 10).text == "see …");
}

TEST_CASE("lengths are counted as Discord's clients count them") {
  CHECK(discord_length("aé日") == 3);
  CHECK(discord_length("🙂") == 2);
  CHECK(discord_length("\xff\xff") == 2);
  CHECK(discord_label("🙂🙂🙂", 5, "").text == "🙂🙂…");
}

TEST_CASE("a label is one line that can be seen") {
  CHECK(discord_label(" a\n\tb  c ", 80, "x").text == "a b c");
  CHECK(discord_label("*a*", 80, "x").text == "*a*");
  CHECK(discord_label("\xe2\x80\x8b\xe3\x80\x80", 80, "Option 2").text == "Option 2");
  CHECK(discord_label("", 80, "Option 2").text == "Option 2");
}

}  // namespace
}  // namespace holdpoint
