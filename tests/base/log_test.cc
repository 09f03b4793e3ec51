#include "base/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/time.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

using namespace std::string_literals;

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

const std::string kMended = "\xef\xbf\xbd";

TEST_CASE("text becomes a JSON string with its quotes") {
  CHECK(as_json("") == R"("")");
  CHECK(as_json("haiku") == R"("haiku")");
  CHECK(as_json("a/b 'c'") == R"("a/b 'c'")");
  CHECK(as_json(R"(say "no" \ yes)") == R"("say \"no\" \\ yes")");
}

TEST_CASE("control characters are escaped") {
  CHECK(as_json("a\nb\rc\td") == R"("a\nb\rc\td")");
  CHECK(as_json("\0\x01\x1f\x7f"s) == R"("\u0000\u0001\u001f\u007f")");
  CHECK(as_json("\x1b[31m") == R"("\u001b[31m")");
}

TEST_CASE("every single byte gives a string that JSON parsers read back") {
  for (int c = 0; c < 256; ++c) {
    const std::string text{'a', static_cast<char>(c), 'b'};
    CAPTURE(c);
    const auto read = nlohmann::json::parse(as_json(text)).get<std::string>();
    CHECK(read == (c < 0x80 ? text : "a" + kMended + "b"));
  }
}

TEST_CASE("UTF-8 is kept as it is") {
  for (const std::string text :
       {"é", "ß…", "日本語", "👍🏽", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK(as_json(text) == '"' + std::string(text) + '"');
  }
}

TEST_CASE("each byte of invalid UTF-8 is replaced, and what follows is kept") {
  const auto mended = [](std::size_t count) {
    std::string out = "\"<";
    while (count-- > 0) out += kMended;
    return out + ">\"";
  };
  CHECK(as_json("<\x80>") == mended(1));          // A continuation without a start.
  CHECK(as_json("<\xc3>") == mended(1));          // Cut off after one byte of two,
  CHECK(as_json("<\xe2\x82>") == mended(2));      // two of three,
  CHECK(as_json("<\xf0\x9f\x91>") == mended(3));  // three of four.
  CHECK(as_json("<\xc0\xaf>") == mended(2));      // Overlong forms.
  CHECK(as_json("<\xe0\x80\xaf>") == mended(3));
  CHECK(as_json("<\xf0\x80\x80\xaf>") == mended(4));
  CHECK(as_json("<\xed\xa0\x80>") == mended(3));      // A surrogate.
  CHECK(as_json("<\xf4\x90\x80\x80>") == mended(4));  // Past the last code point.
  CHECK(as_json("<\xff\xfe>") == mended(2));
  CHECK(as_json("\xe2\x82") == '"' + kMended + kMended + '"');  // At the very end.
}

TEST_CASE("facts become members in their order") {
  CHECK(to_json_members({}) == "");
  CHECK(to_json_members({{"agent", "write\npoem"}, {"turn", std::int64_t{-3}}, {"a\"b", ""}}) ==
        R"("agent":"write\npoem","turn":-3,"a\"b":"")");
}

// What a call writes on standard error, which is no terminal meanwhile.
template <class F>
std::string on_standard_error(F&& call) {
  const test::TempDir dir;
  const auto path = dir.path() / "stderr";
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const int saved = dup(STDERR_FILENO);
  dup2(file, STDERR_FILENO);
  call();
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(file);
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("off a terminal a log line is one JSON object with its time, level and facts") {
  set_log_level(Level::info);
  const std::string line = on_standard_error([] {
    log(Level::warning, "delivery_failed", {{"host", "a\nb"}, {"attempts", std::int64_t{2}}});
  });
  set_log_level(Level::silent);
  REQUIRE(line.find('\n') == line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  CHECK(parse_iso(json.at("at").get<std::string>()));
  CHECK(line.ends_with(R"("level":"warning","event":"delivery_failed","host":"a\nb","attempts":2})"
                       "\n"));
}

TEST_CASE("nothing below the least level is written") {
  set_log_level(Level::warning);
  const std::string lines = on_standard_error([] {
    log(Level::info, "quiet");
    log(Level::warning, "loud");
    set_log_level(Level::silent);
    log(Level::error, "silent");
  });
  CHECK(lines.find("quiet") == std::string::npos);
  CHECK(lines.find("loud") != std::string::npos);
  CHECK(lines.find("silent") == std::string::npos);
}

}  // namespace
}  // namespace holdpoint
