#include "wire/json_writer.h"

#include <doctest/doctest.h>

#include <limits>

namespace holdpoint {
namespace {

TEST_CASE("members stand in the order they are written") {
  JsonWriter out;
  out.begin_object().member("z", "last").member("a", std::int64_t{1}).member("m", true);
  out.member("n", nullptr).end_object();
  CHECK(out.take() == R"({"z":"last","a":1,"m":true,"n":null})");
}

TEST_CASE("commas stand between values, and nowhere else") {
  JsonWriter out;
  out.begin_array().begin_object().end_object().begin_array().end_array().value("x");
  out.begin_object().key("a").begin_array().value(false).value(false).end_array();
  out.key("b").begin_object().end_object().member("c", "").end_object().raw("[ 1 ]").end_array();
  CHECK(out.take() == R"([{},[],"x",{"a":[false,false],"b":{},"c":""},[ 1 ]])");
}

TEST_CASE("each kind of value has its form") {
  JsonWriter out;
  out.begin_array();
  out.value(std::string("text")).value(std::string_view("view")).value("chars");
  out.value(std::numeric_limits<std::int64_t>::min()).value(Time{Duration{1}});
  out.value(SessionId("s-1")).value(std::optional<std::string>("some"));
  out.value(std::optional<std::string>()).value(std::optional<Time>()).end_array();
  CHECK(
      out.take() ==
      R"(["text","view","chars",-9223372036854775808,"1970-01-01T00:00:00.001Z","s-1","some",null,null])");
}

TEST_CASE("texts are escaped, names too, and invalid UTF-8 is mended") {
  JsonWriter out;
  out.begin_object().member("a\"\n", "\\\"\x01\xff").end_object();
  CHECK(out.take() == "{\"a\\\"\\n\":\"\\\\\\\"\\u0001\xef\xbf\xbd\"}");
}

TEST_CASE("JSON that is ready goes in unread") {
  JsonWriter out;
  out.begin_object().raw_member("state", "{ \"a\" : 1.0 }");
  out.raw_or_null("result", "[1, 2]").raw_or_null("resume", std::nullopt).end_object();
  CHECK(out.take() == R"({"state":{ "a" : 1.0 },"result":[1, 2],"resume":null})");
}

}  // namespace
}  // namespace holdpoint
