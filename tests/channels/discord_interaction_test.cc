#include "channels/discord_interaction.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"

namespace holdpoint {
namespace {

using Kind = DiscordInteraction::Kind;

constexpr const char* kUser =
    R"("member":{"nick":"boss","user":{"id":"80351110224678912","username":"ana","global_name":"Ana"}})";

DiscordInteraction read(int type, const std::string& data, const std::string& who = kUser) {
  return read_discord_interaction("{\"type\":" + std::to_string(type) + "," + who +
                                      ",\"token\":\"t\",\"later\":{},\"data\":" + data + "}",
                                  "203.0.113.9");
}

TEST_CASE("a ping is a ping, whoever sends it") {
  CHECK(read_discord_interaction(R"({"type":1,"id":"1","version":1})", "").kind == Kind::ping);
}

TEST_CASE("a button of an option is an answer by the place in its id") {
  const auto got = read(3, R"({"component_type":2,"custom_id":"hp:q-1:o:3"})");
  CHECK(got.kind == Kind::click);
  CHECK(got.click.kind == Click::Kind::answer);
  CHECK(got.click.channel == "discord");
  CHECK(got.click.question == QuestionId("q-1"));
  CHECK(got.click.options == std::vector<std::size_t>{3});
  CHECK(got.click.person_id == "80351110224678912");
  CHECK(got.click.person_name == "Ana");
  CHECK(got.click.address == "203.0.113.9");
}

TEST_CASE("a select is an answer by its values, which are places") {
  const auto got = read(3, R"({"component_type":3,"custom_id":"hp:q-1:s","values":["7"]})");
  CHECK(got.click.kind == Click::Kind::answer);
  CHECK(got.click.options == std::vector<std::size_t>{7});
}

TEST_CASE("Other opens the form, Cancel is doubted first, and only the second one counts") {
  CHECK(read(3, R"({"custom_id":"hp:q-1:f"})").click.kind == Click::Kind::open_form);
  const auto first = read(3, R"({"custom_id":"hp:q-1:c"})");
  CHECK(first.kind == Kind::doubt);
  CHECK(first.click.kind == Click::Kind::nothing);
  CHECK(first.click.question == QuestionId("q-1"));
  const auto second = read(3, R"({"custom_id":"hp:q-1:y"})");
  CHECK(second.kind == Kind::notice);
  CHECK(second.click.kind == Click::Kind::cancel);
}

TEST_CASE("a form brings text, choices or both, in labels or in rows") {
  auto got = read(5, R"({"custom_id":"hp:q-1:m","components":[{"type":10},
      {"type":18,"component":{"type":3,"custom_id":"s","values":["0","2"]}},
      {"type":18,"component":{"type":4,"custom_id":"t","value":" and\nmore \n"}}]})");
  CHECK(got.click.kind == Click::Kind::answer);
  CHECK(got.click.options == std::vector<std::size_t>{0, 2});
  CHECK(got.click.text == "and\nmore");
  got = read(5, R"({"custom_id":"hp:q-1:m","components":[{"type":1,"components":[
      {"type":4,"custom_id":"t","value":"old"}]}]})");
  CHECK(got.click.text == "old");
  got = read(5, R"({"custom_id":"hp:q-1:m","components":[
      {"type":18,"component":{"type":4,"custom_id":"t","value":"  "}}]})");
  CHECK_FALSE(got.click.text);
}

TEST_CASE("in a direct message the user stands alone, and may have one name only") {
  const auto got = read(3, R"({"custom_id":"hp:q-1:f"})",
                        R"("user":{"id":"9","username":"bo","global_name":null})");
  CHECK(got.click.person_id == "9");
  CHECK(got.click.person_name == "bo");
}

TEST_CASE("what is not ours, or cannot be clicked, is a click on nothing") {
  for (const char* data : {R"({"custom_id":"other"})", R"({"custom_id":"hp:q-1"})",
                           R"({"custom_id":"hp:"})", "{}", "null", R"({"custom_id":"hp:q-1:d"})",
                           R"({"custom_id":"hp:q-1:m"})", R"({"custom_id":7})"}) {
    CAPTURE(data);
    CHECK(read(3, data).click.kind == Click::Kind::nothing);
  }
  CHECK(read(5, R"({"custom_id":"hp:q-1:o:1"})").click.kind == Click::Kind::nothing);
}

TEST_CASE("what cannot be read is refused") {
  for (const char* body : {"", "[]", "{", "{}", R"({"type":"3"})", R"({"type":2})", R"({"type":4})",
                           R"({"type":3,"data":{}})", R"({"type":3,"user":{}})",
                           R"({"type":1e400})", R"({"type":3,"member":{"user":{"id":7}}})"}) {
    CAPTURE(body);
    CHECK_THROWS_AS(read_discord_interaction(body, ""), BadRequest);
  }
  for (const char* data :
       {R"({"custom_id":"hp:q-1:o:"})", R"({"custom_id":"hp:q-1:o:-1"})",
        R"({"custom_id":"hp:q-1:o:1x"})", R"({"custom_id":"hp:q-1:o:99999999999999999999"})",
        R"({"custom_id":"hp:q-1:s"})", R"({"custom_id":"hp:q-1:s","values":[1]})",
        R"({"custom_id":"hp:q-1:s","values":["a"]})"}) {
    CAPTURE(data);
    CHECK_THROWS_AS(read(3, data), BadRequest);
  }
}

}  // namespace
}  // namespace holdpoint
