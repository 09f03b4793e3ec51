#include <doctest/doctest.h>

#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

HttpResponse status(int code, std::optional<Duration> retry_after = std::nullopt) {
  return {code, "", "", retry_after};
}

}  // namespace

TEST_CASE(
    "a message is tried ten times over about three days, always under the same id, then it is "
    "dead") {
  World world;
  world.http.respond = [](const HttpRequest&) { return status(500); };
  world.runner.reply = [](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    return R"({"result":1})";
  };
  const auto id = world.trigger();
  world.run_until_idle();
  const Time first = world.now();
  Time last = first;
  while (world.deliveries(id)[0].status == DeliveryStatus::pending) {
    const Time next = world.deliveries(id)[0].next_attempt_at.value();
    REQUIRE(next > last);
    world.clock.set(next - 1ms);
    world.run_until_idle();  // Not before its time.
    REQUIRE(world.deliveries(id)[0].next_attempt_at == next);
    world.clock.set(next);
    world.run_until_idle();
    last = next;
  }
  const auto calls = world.http.seen();
  CHECK(calls.size() == 10);
  for (const auto& call : calls)
    CHECK(call.headers.at("webhook-id") == calls[0].headers.at("webhook-id"));
  CHECK(last - first > 55h);
  CHECK(last - first < 84h);
  CHECK(world.deliveries(id)[0].status == DeliveryStatus::dead);
  CHECK(world.count_events(id, "delivery_dead") == 1);
  CHECK(world.count_events(id, "delivery_failed") == 10);

  world.http.respond = nullptr;
  const auto delivery = world.deliveries(id)[0].id;
  CHECK(world.process().courier.redeliver(delivery, kAdmin, world.now()) ==
        Courier::Redelivery::done);
  world.run_until_idle();
  CHECK(world.deliveries(id)[0].status == DeliveryStatus::delivered);
  CHECK(world.http.seen().back().headers.at("webhook-id") == delivery.text());
}

TEST_CASE("Retry-After is obeyed when it asks for more than the schedule") {
  World world;
  world.http.respond = [](const HttpRequest&) { return status(429, 600s); };
  const auto id = world.trigger();
  world.run_until_idle();
  CHECK(world.deliveries(id)[0].next_attempt_at == world.now() + 600s);
}

TEST_CASE("a redirect is a failure, and no answer is one too") {
  World world;
  world.http.respond = [](const HttpRequest&) { return status(302); };
  const auto id = world.trigger();
  world.run_until_idle();
  CHECK(world.deliveries(id)[0].last_status == 302);
  world.clock.advance(10s);
  world.http.respond = [](const HttpRequest&) {
    return HttpResponse{0, "no route", "", std::nullopt};
  };
  world.run_until_idle();
  CHECK_FALSE(world.deliveries(id)[0].last_status);
  CHECK(world.deliveries(id)[0].last_error == "no route");
  CHECK(world.deliveries(id)[0].status == DeliveryStatus::pending);
}

TEST_CASE("410 disables the destination: what it is owed dies, and redeliver lifts the ban") {
  World world;
  world.http.respond = [](const HttpRequest&) { return status(503); };
  const auto waiting = world.trigger();
  world.run_until_idle();
  world.http.respond = [](const HttpRequest&) { return status(410); };
  const auto gone = world.trigger();
  world.run_until_idle();
  CHECK(world.deliveries(gone)[0].status == DeliveryStatus::dead);
  CHECK(world.deliveries(waiting)[0].status == DeliveryStatus::dead);
  world.http.respond = nullptr;
  const auto calls = world.http.seen().size();
  const auto later = world.trigger();
  world.run_until_idle();
  CHECK(world.deliveries(later)[0].status == DeliveryStatus::dead);
  CHECK(world.http.seen().size() == calls);
  CHECK(world.process().courier.redeliver(world.deliveries(later)[0].id, kAdmin, world.now()) ==
        Courier::Redelivery::done);
  world.run_until_idle();
  CHECK(world.deliveries(later)[0].status == DeliveryStatus::delivered);
  const auto after = world.trigger();
  world.run_until_idle();
  CHECK(world.deliveries(after)[0].status == DeliveryStatus::delivered);
}

TEST_CASE("a question that was settled meanwhile is not announced again") {
  World world;
  world.http.respond = [](const HttpRequest&) { return status(500); };
  const auto id = world.trigger();
  world.run_until_idle();
  world.answer(id, "haiku");
  world.http.respond = nullptr;
  world.clock.advance(10s);
  world.run_until_idle();
  const auto deliveries = world.deliveries(id);
  CHECK(deliveries[0].event == "question_pending");
  CHECK(deliveries[0].status == DeliveryStatus::obsolete);
  CHECK(deliveries[1].status == DeliveryStatus::delivered);
  CHECK(world.count_events(id, "delivery_obsolete") == 1);
}

TEST_CASE("a host gets only so many at a time, and others are not held up by it") {
  World world;
  for (int i = 0; i < 20; ++i) world.trigger();
  for (const auto& turn : world.process().turns.claim(world.now(), 100))
    world.process().turns.run(turn);
  AgentDefinition other;
  other.name = "other";
  other.runner = RunnerKind::command;
  other.async_questions = true;
  other.question_callback = "http://elsewhere.example/hook";
  world.agents.replace({{"poet", *world.agents.find("poet")}, {"other", other}});
  world.trigger("other");
  for (const auto& turn : world.process().turns.claim(world.now(), 100))
    world.process().turns.run(turn);

  const auto claimed = world.process().courier.claim(world.now());  // None of them is answered.
  std::map<std::string, int> hosts;
  for (const auto& delivery : claimed) ++hosts[delivery.host];
  CHECK(hosts ==
        std::map<std::string, int>{{"receiver.example:80", 4}, {"elsewhere.example:80", 1}});
  CHECK(world.process().courier.claim(world.now()).empty());
  world.process().courier.attempt(claimed.back());
  CHECK(world.process().courier.claim(world.now()).size() == 1);
}

TEST_CASE("an attempt whose claim ran out cannot overwrite the one that came after it") {
  World world;
  const auto id = world.trigger();
  for (const auto& turn : world.process().turns.claim(world.now(), 1))
    world.process().turns.run(turn);
  const auto slow = world.process().courier.claim(world.now()).at(0);
  world.clock.advance(61s);
  world.restart();
  const auto heir = world.process().courier.claim(world.now()).at(0);
  CHECK(heir.id == slow.id);
  world.http.respond = [](const HttpRequest&) { return status(500); };
  world.process().courier.attempt(slow);
  CHECK(world.deliveries(id)[0].attempts == 2);
  CHECK_FALSE(world.deliveries(id)[0].last_status);
  world.http.respond = nullptr;
  world.process().courier.attempt(heir);
  CHECK(world.deliveries(id)[0].status == DeliveryStatus::delivered);
}

TEST_CASE("callbacks are signed with every live secret of the agent") {
  World world;
  AgentDefinition poet = *world.agents.find("poet");
  poet.callback_secrets = {WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                           WebhookSecret::parse("whsec_c2Vjb25kIHNlY3JldCBmb3IgdXM=")};
  world.agents.replace({{"poet", poet}});
  world.trigger();
  world.run_until_idle();
  const auto call = world.http.seen().at(0);
  const auto signature = call.headers.at("webhook-signature");
  CHECK(signature ==
        sign_webhook(poet.callback_secrets, call.headers.at("webhook-id"), world.now(), call.body));
  CHECK(std::count(signature.begin(), signature.end(), ' ') == 1);
}
