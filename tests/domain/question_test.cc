#include "domain/question.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "domain/delivery.h"
#include "domain/session.h"

namespace holdpoint {
namespace {

TEST_CASE("what was selected is found among the options") {
  QuestionSpec spec;
  spec.options = {{"a", "", "", false}, {"b", "", "", false}, {"c", "", "", false}};
  CHECK(selected_index(spec, {{"a", "c"}, std::nullopt}) == std::vector<std::int64_t>{0, 2});
  CHECK(selected_index(spec, {{}, "b"}).empty());
}

TEST_CASE("a choice reads as one line") {
  CHECK(choice_line({}) == "");
  CHECK(choice_line({{"haiku"}, std::nullopt}) == "haiku");
  CHECK(choice_line({{"haiku", "sonnet"}, "and a limerick"}) == "haiku, sonnet, and a limerick");
  CHECK(choice_line({{}, "limerick"}) == "limerick");
}

TEST_CASE("the names of policies, reasons and delivery states read back") {
  for (const char* text : {"fail", "default", "continue"}) {
    CHECK(to_text(on_timeout_from(text).value()) == text);
  }
  CHECK_FALSE(on_timeout_from("ignore"));
  for (const char* text : {"start", "answer", "timeout", "message", "continue"}) {
    CHECK(to_text(turn_reason_from(text)) == text);
  }
  CHECK_THROWS_AS(turn_reason_from("resume"), std::invalid_argument);
  for (const char* text : {"pending", "delivered", "dead", "obsolete"}) {
    CHECK(to_text(delivery_status_from(text).value()) == text);
  }
  CHECK_FALSE(delivery_status_from("sent"));
}

}  // namespace
}  // namespace holdpoint
