#include "agents/llm/tool_input.h"

#include <doctest/doctest.h>

#include "agents/llm/tool_text.h"
#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

// What is wrong; empty if nothing is.
std::string complaint(const std::string& schema, const std::string& input) {
  return complaint_about_input(Json::parse(schema), Json::parse(input)).value_or("");
}

TEST_CASE("an input that breaks a rule is told where and which") {
  const std::string schema = R"({"type":"object","required":["title"],"additionalProperties":false,
    "properties":{
      "title":{"type":"string","minLength":2,"maxLength":4},
      "count":{"type":"integer","minimum":1,"maximum":9},
      "share":{"type":["number","null"]},
      "kind":{"enum":["bug","idea",3]},
      "sure":{"type":"boolean"},
      "never":false,
      "tags":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string"}},
      "author":{"type":"object","required":["name"],"properties":{
        "name":{"type":"string"},"likes":{"type":"array","items":{"type":"object",
          "properties":{"n":{"type":"integer"}}}}}}}})";
  for (const auto& [input, wanted] : std::vector<std::pair<std::string, std::string>>{
           {R"({"title":"abc"})", ""},
           {R"({"title":"üüüü","count":9,"share":null,"kind":3,"sure":false,"tags":["x"]})", ""},
           {R"({"title":"abc","count":3.0,"share":0.5})", ""},
           {R"([])", "the input must be of type object, not array"},
           {R"({})", "title is missing: it is required"},
           {R"({"title":5})", "title must be of type string, not number"},
           {R"({"title":"a"})", "title must have at least 2 characters"},
           {R"({"title":"abcde"})", "title must have at most 4 characters"},
           {R"({"title":"abc","count":0})", "count must be at least 1"},
           {R"({"title":"abc","count":10})", "count must be at most 9"},
           {R"({"title":"abc","count":1.5})", "count must be of type integer, not number"},
           {R"({"title":"abc","share":"x"})", "share must be of type number or null, not string"},
           {R"({"title":"abc","kind":"bugs"})", R"(kind must be one of ["bug","idea",3])"},
           {R"({"title":"abc","sure":"yes"})", "sure must be of type boolean, not string"},
           {R"({"title":"abc","never":1})", "never is not allowed"},
           {R"({"title":"abc","tags":[]})", "tags must have at least 1 items"},
           {R"({"title":"abc","tags":["a","b","c"]})", "tags must have at most 2 items"},
           {R"({"title":"abc","tags":["a",2]})", "tags[1] must be of type string, not number"},
           {R"({"title":"abc","author":{}})", "author.name is missing: it is required"},
           {R"({"title":"abc","author":{"name":"x","likes":[{"n":1},{"n":"2"}]}})",
            "author.likes[1].n must be of type integer, not string"},
           {R"({"title":"abc","colour":"red"})",
            "colour is not known here; known are: author, count, kind, never, share, sure, tags, "
            "title"}}) {
    CAPTURE(input);
    CHECK(complaint(schema, input) == wanted);
  }
}

TEST_CASE("keywords that are not known, or are nonsense, are passed over") {
  for (const std::string schema :
       {R"({"type":"object","oneOf":[],"$ref":"#/x","format":5,"pattern":"("})",
        R"({"type":5,"properties":[],"required":{"a":1},"enum":"x","items":7})",
        R"({"type":[],"properties":{"a":5,"b":{"type":"colour","minLength":"x","maxItems":null}}})",
        R"({"type":["object",5],"minimum":1})", "true", "{}", "5"}) {
    CAPTURE(schema);
    CHECK(complaint(schema, R"({"a":1,"b":"x"})") == "");
  }
}

TEST_CASE(
    "what a model wrote as input must be a JSON object; nothing at all stands for an empty one") {
  CHECK(parse_tool_input("") == Json::object());
  CHECK(parse_tool_input(" \n") == Json::object());
  CHECK(parse_tool_input(R"( {"a": 1} )") == Json{{"a", 1}});
  for (const std::string input : {"{", "nope", "[1]", "5", "null", "{\"a\":1,\"a\":2}",
                                  "{\"a\":\"\xff\"}", R"({"a":"\u0000"})"}) {
    CAPTURE(input);
    CHECK_THROWS_AS(parse_tool_input(input), BadRequest);
  }
  CHECK_THROWS_AS(parse_tool_input(std::string(100'000, '[')), BadRequest);
}

TEST_CASE("what a tool said is made whole UTF-8 without NUL") {
  CHECK(tool_text("plain ü €\U0001F600\n") == "plain ü €\U0001F600\n");
  CHECK(tool_text(std::string_view("a\0b", 3)) == "a\uFFFDb");
  CHECK(tool_text("a\xff\xc3(b\xe2\x82") == "a\uFFFD\uFFFD(b\uFFFD\uFFFD");
  CHECK(is_clean_utf8(tool_text(std::string(1000, '\x80'))));
}

TEST_CASE("what a tool said is cut to what a model can use, and says so") {
  const std::string note = "\n[cut: the tool said more than 100000 characters]";
  std::string most;
  for (std::size_t i = 0; i < kMaxToolChars; ++i) most += "ü";
  CHECK(tool_text(most) == most);
  CHECK(tool_text(most + "x") == most + note);
  CHECK(tool_text("begin", true) == "begin\n[cut: the tool said more than 5 characters]");
}

}  // namespace
}  // namespace holdpoint
