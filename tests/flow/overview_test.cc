#include "flow/overview.h"

#include <doctest/doctest.h>

#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const Time kStart = parse_iso("2026-11-16T09:00:00.000Z").value();

struct Desk {
  Overview::Report look() { return overview().look(); }
  Overview overview() {
    return Overview(world.db(), world.process().notices, [this](std::string_view platform) {
      return platform == connected ? std::optional(true) : std::nullopt;
    });
  }
  Overview::Agent agent(const std::string& name) {
    for (const auto& one : look().agents) {
      if (one.name == name) return one;
    }
    FAIL(name << " is not among the agents");
    return {};
  }
  Overview::Channel channel(const std::string& name) {
    for (const auto& one : look().channels) {
      if (one.name == name) return one;
    }
    FAIL(name << " is not among the channels");
    return {};
  }
  std::string set_up() {
    std::string names;
    for (const auto& one : look().channels) {
      if (one.set_up) names += one.name + " ";
    }
    return names;
  }
  // A session with a question that was answered after so long.
  void answer_after(Duration time) {
    const auto id = world.trigger();
    world.run_until_idle();
    world.clock.advance(time);
    (void)world.answer(id, "haiku");
    world.run_until_idle();
  }
  Delivery insert(const std::string& channel, DeliveryStatus status, Time at,
                  std::optional<std::string> error = std::nullopt) {
    Delivery delivery;
    delivery.id = DeliveryId::make(at);
    delivery.session_id = session;
    delivery.agent_name = "poet";
    delivery.channel = channel;
    delivery.status = status;
    delivery.created_at = at;
    if (status == DeliveryStatus::pending) delivery.next_attempt_at = at;
    delivery.last_error = std::move(error);
    world.db().write([&](Transaction& tx) { delivery_store::insert(tx, delivery); });
    return delivery;
  }

  World world;
  std::string connected;
  SessionId session = world.trigger("loner");
};

}  // namespace

TEST_CASE("a server that did nothing yet has no agents, and all channels") {
  World world;
  Overview overview(world.db(), world.process().notices, [](auto) { return std::nullopt; });
  const auto report = overview.look();
  CHECK(report.agents.empty());
  REQUIRE(report.channels.size() == 4);
  CHECK(report.channels[0].name == "url");
  CHECK(report.channels[3].name == "email");
  CHECK(report.channels[0].delivered == 0);
  CHECK(report.channels[0].last_delivered_at == std::nullopt);
  CHECK(report.channels[1].connected == std::nullopt);
}

TEST_CASE("an agent's figures count its sessions, questions and answers") {
  Desk desk;
  for (const auto time : {5s, 20s, 30s}) desk.answer_after(time);
  (void)desk.world.trigger();  // Waits for its answer.
  desk.world.run_until_idle();
  desk.world.runner.reply = [](auto&&...) { return R"({"error":"no","retry":false})"; };
  (void)desk.world.trigger();
  desk.world.run_until_idle();
  const auto poet = desk.agent("poet");
  CHECK(poet.sessions == 5);
  CHECK(poet.asked == 4);
  CHECK(poet.questions == 4);
  CHECK(poet.failed == 1);
  CHECK(poet.answered == 3);
  CHECK(poet.times.median == 20s);
  CHECK(poet.times.p95 == 30s);
  CHECK(poet.times.counts == decltype(poet.times.counts){1, 2, 0, 0, 0, 0, 0});
  const auto loner = desk.agent("loner");
  CHECK(loner.sessions == 1);
  CHECK(loner.asked == 0);
  CHECK(loner.answered == 0);
  CHECK(loner.times.median == std::nullopt);
  CHECK(desk.look().agents[0].name == "loner");
}

TEST_CASE("an agent's figures sum up what its sessions' models have used, as far as it is known") {
  Desk desk;
  ModelStep step{"anthropic/sonnet", "end_turn", 0, {1, 1000, 50, 0, 4'500}, 1s};
  desk.world.runner.reply = [&](const AgentDefinition&, const TurnRequest&,
                                const TurnContext& context) {
    context.checkpoint({"{}", step});
    return R"({"result":1})";
  };
  CHECK(desk.agent("loner").cost_micros == std::nullopt);
  desk.world.run_until_idle();
  (void)desk.world.trigger("loner");
  desk.world.run_until_idle();
  step.spent.cost_micros = std::nullopt;
  (void)desk.world.trigger("loner");
  desk.world.run_until_idle();
  const auto loner = desk.agent("loner");
  CHECK(loner.input_tokens == 3000);
  CHECK(loner.output_tokens == 150);
  CHECK(loner.cost_micros == 9'000);
}

TEST_CASE("questions that nobody answered count in no answer time") {
  Desk desk;
  const auto id = desk.world.trigger();
  desk.world.run_until_idle();
  desk.world.clock.advance(2h);
  desk.world.run_until_idle();
  REQUIRE(desk.world.questions(id).at(0).status == QuestionStatus::timed_out);
  CHECK(desk.agent("poet").questions == 1);
  CHECK(desk.agent("poet").answered == 0);
}

TEST_CASE("only the newest rows are looked at") {
  Desk desk;
  desk.world.db().write([&](Transaction& tx) {
    for (std::int64_t i = 0; i < Overview::kSessions; ++i) {
      session_store::NewSession session;
      session.id = SessionId::make(kStart + 1h);
      session.agent_name = "busy";
      session.status = SessionStatus::completed;
      session.payload = "{}";
      CHECK(session_store::insert(tx, session, kStart + 1h));
    }
  });
  const auto agents = desk.look().agents;
  REQUIRE(agents.size() == 1);
  CHECK(agents[0].name == "busy");
  CHECK(agents[0].sessions == Overview::kSessions);
}

TEST_CASE("a channel's figures tell what arrived, what is tried again, and what was given up") {
  Desk desk;
  using enum DeliveryStatus;
  desk.insert("slack", pending, kStart);
  desk.insert("slack", pending, kStart + 1s, "HTTP 500");
  desk.insert("slack", dead, kStart + 2s, "channel_not_found");
  desk.insert("slack", obsolete, kStart + 3s);
  desk.insert("email", dead, kStart + 4s, "550 no such user");
  const auto slack = desk.channel("slack");
  CHECK(slack.delivered == 0);
  CHECK(slack.retrying == 1);
  CHECK(slack.dead == 1);
  CHECK(slack.last_error == "channel_not_found");
  CHECK(slack.last_error_at == kStart + 2s);
  CHECK(desk.channel("email").last_error == "550 no such user");
  CHECK(desk.channel("discord").last_error == std::nullopt);
}

TEST_CASE("what arrived is counted with the time of the last, and leaves no error") {
  Desk desk;
  desk.world.http.respond = [](auto&&...) { return HttpResponse{500, "", "", std::nullopt}; };
  (void)desk.world.trigger();
  desk.world.run_until_idle();
  CHECK(desk.channel("url").retrying == 1);
  CHECK(desk.channel("url").last_error == "HTTP 500");
  desk.world.http.respond = nullptr;
  desk.world.clock.advance(1min);
  desk.world.run_until_idle();
  const auto url = desk.channel("url");
  CHECK(url.retrying == 0);
  CHECK(url.delivered == 1);
  CHECK(url.last_delivered_at == desk.world.now());
  CHECK(url.last_error == std::nullopt);
}

TEST_CASE("incoming webhooks of Slack's count as Slack") {
  Desk desk;
  desk.insert("slack-webhook", DeliveryStatus::dead, kStart, "no_service");
  CHECK(desk.channel("slack").dead == 1);
  CHECK(desk.channel("url").dead == 0);
}

TEST_CASE("a channel is set up by the settings, or by a callback of some agent") {
  Desk desk;
  CHECK(desk.set_up() == "url ");
  Addresses::Options options;
  options.discord = "discord.example:443";
  options.email = "smtp://mail.example";
  options.slack_webhook_hosts = {"hooks.slack.example"};
  desk.world.notices_options.addresses = Addresses(options);
  desk.world.restart();
  CHECK(desk.set_up() == "url discord email ");
  AgentDefinition poet = *desk.world.agents.find("poet");
  poet.question_callback = "https://hooks.slack.example/services/T0/B0/x";
  desk.world.agents.replace({{"poet", poet}});
  CHECK(desk.set_up() == "slack discord email ");
  desk.world.notices_options.callback_url = "https://receiver.example/hook";
  desk.world.restart();
  CHECK(desk.set_up() == "url slack discord email ");
}

TEST_CASE("a channel tells of the connection that its answers come by") {
  Desk desk;
  desk.connected = "slack";
  CHECK(desk.channel("slack").connected == true);
  CHECK(desk.channel("email").connected == std::nullopt);
}
