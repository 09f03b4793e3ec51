#include "wire/json.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using namespace std::string_literals;
using test::Complaint;
using test::complaint_of;
using Members = std::vector<std::pair<std::string_view, std::string_view>>;

Complaint complaint_about(const std::string& text, const std::string& field = "body") {
  return complaint_of([&] {
    check_json(text, field);
    return 0;
  });
}

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST_CASE("any JSON value passes") {
  for (const std::string text :
       {"{}", "[]", "null", "true", "-1.5e3", "\"a\"", " {\"a\" : [1, null]}\n",
        R"("\u00e9\ud83d\udc4d")", "\"\xf0\x9f\x91\x8d\""}) {
    CAPTURE(text);
    CHECK(complaint_about(text).field == "(none)");
  }
}

TEST_CASE("64 levels pass, 65 do not") {
  CHECK(complaint_about(nested(64, "[", "]")).field == "(none)");
  CHECK(complaint_about(nested(64, "{\"a\":", "}")).field == "(none)");
  CHECK(complaint_about(nested(65, "[", "]")).reason == "is nested deeper than 64 levels");
  CHECK(complaint_about(nested(65, "{\"a\":", "}")).field == "body");
  CHECK(complaint_about(nested(33, "[{\"a\":", "}]")).says("64"));
  CHECK(complaint_about(nested(32, "[{\"a\":", "}]")).field == "(none)");
}

TEST_CASE("depth is about levels that are open, not about how many there are") {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[{}],";
  CHECK(complaint_about(text + "0]").field == "(none)");
}

TEST_CASE("a million levels are refused without a crash") {
  CHECK(complaint_about(std::string(1'000'000, '[')).says("64"));
}

TEST_CASE("what is not JSON is refused") {
  for (const std::string text :
       {"{",     "}",       "{]",       "[1,]",       "{\"a\"}",   "{\"a\":}",    "{\"a\":1,}",
        "{a:1}", "{'a':1}", "nul",      "True",       "01",        "1.",          ".5",
        "+1",    "NaN",     "Infinity", "\"\t\"",     "\"\\x41\"", "\"\\ud800\"", "\"a",
        "{} {}", "1 2",     "// no\n1", "/* no */ 1", "1e999"}) {
    CAPTURE(text);
    CHECK(complaint_about(text).field == "body");
    CHECK(complaint_about(text).says("not valid JSON"));
  }
}

TEST_CASE("the complaint about what is not JSON says where, in printable characters") {
  const auto complaint = complaint_about("{\"a\": \x01\xff}");
  CHECK(complaint.says("column 7"));
  for (const char c : complaint.reason) CHECK((c >= 0x20 && c < 0x7f));
}

TEST_CASE("nothing is not JSON either") {
  for (const std::string text : {"", " ", "\r\n\t"}) {
    CHECK(complaint_about(text).reason == "is empty where JSON is expected");
  }
}

TEST_CASE("invalid UTF-8 is refused, in values and in names") {
  for (const char* bytes : {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xf0\x80\x80\xaf"}) {
    CHECK(complaint_about("\""s + bytes + "\"").field == "body");
    CHECK(complaint_about("{\""s + bytes + "\":1}").field == "body");
  }
}

TEST_CASE("a NUL inside a string is refused by the way to it") {
  CHECK(complaint_about(R"("a\u0000b")").field == "body");
  CHECK(complaint_about(R"({"answer":"\u0000"})").field == "answer");
  CHECK(complaint_about(R"({"a":1,"questions":[{}, [], {"x":[1,2],"options":["ok","a\u0000"]}]})")
            .field == "questions[2].options[1]");
  CHECK(complaint_about(R"({"state":{"a":"\u0000"}})", "reply").field == "reply.state.a");
  CHECK(complaint_about(R"({"a":"\u0000"})").says("NUL"));
}

TEST_CASE("a NUL inside a name is blamed on the object that has it") {
  CHECK(complaint_about(R"({"a":1,"b\u0000c":2})").field == "body");
  CHECK(complaint_about(R"({"context":{"a":1,"b\u0000c":2}})").field == "context");
}

TEST_CASE("a raw NUL byte ends nothing: the text around it is passed on whole") {
  CHECK(complaint_about("{}\0"s).field == "body");
  CHECK(complaint_about("{}\0{\"more\":1}"s).field == "body");
  CHECK(complaint_about("[1,\0]"s).field == "body");
}

TEST_CASE("a byte order mark is refused, since the text goes into other texts as it is") {
  CHECK(complaint_about("\xef\xbb\xbf{}").field == "body");
}

TEST_CASE("parse_json gives the value, and refuses a name that is there twice") {
  CHECK(parse_json(R"({"a":[1,"x"]})", "body").dump() == R"({"a":[1,"x"]})");
  const auto twice = [](const char* text) {
    return complaint_of([&] { return parse_json(text, "body"); });
  };
  CHECK(twice(R"({"a":1,"a":2})").field == "a");
  CHECK(twice(R"({"x":[{"a":1,"\u0061":1}]})").field == "x[0].a");
  CHECK(twice(R"([{"a":1},{"a":1,"b":{"a":1}}])").field == "(none)");
}

TEST_CASE("members are cut out byte for byte") {
  CHECK(
      members_of(R"({"a":1,"b":"x","c":{"d":[1,{"e":"}"}]},"f":[],"g":null})") ==
      Members{
          {"a", "1"}, {"b", "\"x\""}, {"c", R"({"d":[1,{"e":"}"}]})"}, {"f", "[]"}, {"g", "null"}});
}

TEST_CASE("members keep the white space inside them and lose that around them") {
  CHECK(
      members_of(
          " \n{\t\"a\"\r\n:\t { \"x\" :\n[ 1 , 2 ]\t} \n,\r\"b\" : 1.50e+3 \n, \"c\":true\t}\n") ==
      Members{{"a", "{ \"x\" :\n[ 1 , 2 ]\t}"}, {"b", "1.50e+3"}, {"c", "true"}});
}

TEST_CASE("quotes, braces and backslashes inside strings do not end a member") {
  CHECK(members_of(R"({"a":"\"}],{[\\","b":"\\\\","c":["\\\"",{"x":"]\u005d"}],"d\"}":2})") ==
        Members{{"a", R"("\"}],{[\\")"},
                {"b", R"("\\\\")"},
                {"c", R"(["\\\"",{"x":"]\u005d"}])"},
                {"d\\\"}", "2"}});
}

TEST_CASE("members with names that are empty or there twice are all given") {
  CHECK(members_of(R"({"":1,"a":2,"a":3})") == Members{{"", "1"}, {"a", "2"}, {"a", "3"}});
}

TEST_CASE("what is no object, or an empty one, has no members") {
  for (const std::string text : {"{}", " { } ", "[]", "[{\"a\":1}]", "1", "\"{}\"", "null", ""}) {
    CHECK(members_of(text).empty());
  }
}

TEST_CASE("a member that is not known is refused by its path, and the known ones are told") {
  const auto with = [](const char* text, const char* at) {
    return complaint_of([&] {
      check_members(Json::parse(text), at, {"label", "emoji", ""});
      return 0;
    });
  };
  CHECK(with(R"({"label":1,"emoji":2})", "").field == "(none)");
  CHECK(with(R"({"label":1,"colour":2})", "").field == "colour");
  CHECK(with(R"({"label":1,"colour":2})", "options[0]").field == "options[0].colour");
  CHECK(with(R"({"colour":2})", "").reason == "is not known here; known are: label, emoji");
  CHECK(with(R"({"":2})", "x").field != "(none)");
  CHECK(with("[]", "").field == "body");
  CHECK(with("1", "options[0]").field == "options[0]");
}

}  // namespace
}  // namespace holdpoint
