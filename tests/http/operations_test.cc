#include <doctest/doctest.h>

#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("the operations of a server are told to the letter") {
  Site site;
  site.connected = [](std::string_view platform) {
    return platform == "email" ? std::optional(false) : std::nullopt;
  };
  const auto id = site.world.trigger();
  site.world.run_until_idle();
  site.world.clock.advance(12'345ms);
  (void)site.world.answer(id, "haiku");
  site.world.run_until_idle();
  const Response response = site.send(get("/agent/operations"));
  CHECK(response.status == 200);
  CHECK(response.body ==
        R"({"version":"1.2.3","now":"2026-11-16T09:00:12.345Z","database":"sqlite",)"
        R"("sessions":{"running":0,"pending_input":0,"completed":1,"failed":0,"cancelled":0},)"
        R"("questions":{"pending":0,"answered":1,"timed_out":0,"defaulted":0,"cancelled":0},)"
        R"("deliveries":{"pending":0,"delivered":3,"dead":0,"obsolete":0},)"
        R"("turns_due":0,"turns_running":0,)"
        R"("agents":[{"name":"poet","sessions":1,"asked":1,"questions":1,"failed":0,"answered":1,)"
        R"("median_seconds":12.345,"p95_seconds":12.345,"times":[0,1,0,0,0,0,0],)"
        R"("input_tokens":0,"output_tokens":0,"cost_usd":null}],)"
        R"("time_bounds":[10,60,300,900,3600,14400],)"
        R"("window":{"sessions":10000,"answers":10000,"deliveries":10000},)"
        R"("channels":[{"name":"url","set_up":true,"delivered":3,"retrying":0,"dead":0,)"
        R"("last_delivered_at":"2026-11-16T09:00:12.345Z","last_error":null,"last_error_at":null,)"
        R"("connection":null},)"
        R"({"name":"slack","set_up":false,"delivered":0,"retrying":0,"dead":0,)"
        R"("last_delivered_at":null,"last_error":null,"last_error_at":null,"connection":null},)"
        R"({"name":"discord","set_up":false,"delivered":0,"retrying":0,"dead":0,)"
        R"("last_delivered_at":null,"last_error":null,"last_error_at":null,"connection":null},)"
        R"({"name":"email","set_up":false,"delivered":0,"retrying":0,"dead":0,)"
        R"("last_delivered_at":null,"last_error":null,"last_error_at":null,)"
        R"("connection":"connecting"}],)"
        R"("nodes":[{"id":"self","host":"here","address":"127.0.0.1:8080","version":"1.2.3",)"
        R"("started_at":"2026-11-16T09:00:00.000Z","seen_at":"2026-11-16T09:00:12.345Z",)"
        R"("live":true,"self":true}]})");
}

TEST_CASE("operations tell what the agents' models have used") {
  Site site;
  site.world.runner.reply = [](const AgentDefinition&, const TurnRequest&,
                               const TurnContext& context) {
    context.checkpoint({"{}", ModelStep{"m", "end_turn", 0, {1, 1000, 50, 0, 4'500}, 1s}});
    return R"({"result":1})";
  };
  (void)site.world.trigger();
  site.world.run_until_idle();
  const Json poet = Json::parse(site.send(get("/agent/operations")).body)["agents"][0];
  CHECK(poet["input_tokens"] == 1000);
  CHECK(poet["output_tokens"] == 50);
  CHECK(poet["cost_usd"].dump() == "0.0045");
}

TEST_CASE("operations are for those who may read sessions") {
  Site site;
  const auto status = [&](const std::string& scope) {
    return site.send(get("/agent/operations").with("Authorization", site.key({scope}))).status;
  };
  CHECK(status("sessions:read") == 200);
  CHECK(status("admin") == 200);
  CHECK(status("questions:read") == 403);
  CHECK(site.send(get("/agent/operations")).status == 401);
}

TEST_CASE("operations take no parameters") {
  Site site;
  CHECK(site.send(get("/agent/operations?limit=5")).status == 422);
}
