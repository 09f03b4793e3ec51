#include <doctest/doctest.h>

#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A question that waits, answered over the API with the given headers.
std::string via(Site& site, const std::vector<std::pair<std::string, std::string>>& headers) {
  site.world.runner.reply = [](const AgentDefinition&, const TurnRequest& request,
                               const TurnContext&) { return ask_then_tell(request); };
  const auto session = site.world.trigger();
  site.world.run_until_idle();
  Call call = post("/agent/answer/" + session.text()).json(R"({"answer":"haiku"})");
  for (const auto& [name, value] : headers) call.with(name, value);
  const Response response = site.send(call);
  CAPTURE(response.body);
  REQUIRE(response.status == 200);
  return site.world.questions(session).at(0).answered_via.value_or("");
}

}  // namespace

TEST_CASE("an answer that a page of ours sent came by the web, any other by the API") {
  Site site;
  CHECK(via(site, {}) == "api");
  CHECK(via(site, {{"Sec-Fetch-Site", "same-origin"}}) == "api");
  CHECK(via(site, {{"Origin", "http://localhost:8080"}}) == "web");
  CHECK(via(site, {{"Origin", "null"}, {"Sec-Fetch-Site", "same-origin"}}) == "web");
}

TEST_CASE("a key's answer from a foreign page is an answer by the API") {
  Site site;
  const std::string key = site.key({"questions:answer"});
  CHECK(via(site, {{"Authorization", key}, {"Origin", "https://foreign.example"}}) == "api");
}
