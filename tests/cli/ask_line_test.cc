#include "cli/ask_line.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::cli;
using namespace std::chrono_literals;

TEST_CASE("times are seconds unless they say otherwise") {
  CHECK(parse_span("90", "f") == 90s);
  CHECK(parse_span("90s", "f") == 90s);
  CHECK(parse_span("30m", "f") == 30min);
  CHECK(parse_span("2h", "f") == 2h);
  CHECK(parse_span("1d", "f") == 24h);
  for (const char* wrong : {"", "0", "-1", "1x", "1h30m", " 5", "5 ", "m", "1.5h", "99999999999",
                            "99999999999999999999d"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_span(wrong, "f"), BadRequest);
  }
}

TEST_CASE("what is typed becomes the body, and nothing else does") {
  AskLine line;
  line.question = "Deploy?";
  CHECK(read_json(ask_body(line, "k")) ==
        read_json(R"({"questions":[{"question":"Deploy?"}],"idempotency_key":"k"})"));
  line.options = {"a", "b"};
  line.defaults = {"b"};
  line.multi = line.no_other = line.dedupe = true;
  line.channels = {"slack"};
  line.timeout = "2m";
  line.agent = "ci";
  line.header = "Go";
  line.context = R"({"x":1})";
  CHECK(read_json(ask_body(line, "k")) ==
        read_json(R"({"questions":[{"question":"Deploy?","header":"Go","options":["a","b"],
      "multi_select":true,"allow_other":false,"default":["b"]}],"timeout":120,"on_timeout":"default","context":{"x":1},
      "channels":["slack"],"agent":"ci","dedupe":true,"idempotency_key":"k"})"));
}

TEST_CASE("a member that the server refuses is called by the option it came from") {
  CHECK(option_of("questions[0].options[1]") == "--option");
  CHECK(option_of("questions[0].question") == "the question");
  CHECK(option_of("questions[0].header") == "--header");
  CHECK(option_of("channels[2]") == "--channel");
  CHECK(option_of("timeout") == "--timeout");
  CHECK(option_of("idempotency_key") == "--key");
  CHECK(option_of("body") == "body");
}
