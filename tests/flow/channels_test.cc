// Messages to people: what is owed to whom, and how it is brought up to date. The platforms
// themselves are judged elsewhere; here a channel is what the courier sees of it.
#include <doctest/doctest.h>

#include <set>

#include "domain/bad_request.h"
#include "tests/support/world.h"
#include "wire/digest.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

class FakeChannel final : public Channel {
 public:
  struct Sent {
    std::string event, to;
    std::vector<QuestionStatus> statuses;
    std::optional<std::string> message_ref;
    std::vector<std::string> tokens;
    bool may_cancel;
  };
  SendOutcome send(const Outgoing& message, Time, const std::function<bool()>&) override {
    Sent one{message.delivery.event, message.delivery.destination, {},
             message.message_ref,    message.delivery.tokens,      message.may_cancel};
    for (const auto& q : message.questions) one.statuses.push_back(q.status);
    sent.push_back(one);
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    SendOutcome outcome;
    outcome.kind = SendOutcome::Kind::delivered;
    if (!message.message_ref) outcome.message_ref = "ref-" + std::to_string(sent.size());
    return respond ? respond(message) : outcome;
  }
  std::vector<Sent> sent;
  std::function<void()> meanwhile;
  std::function<SendOutcome(const Outgoing&)> respond;
};

constexpr auto kPending = QuestionStatus::pending;
constexpr auto kAnswered = QuestionStatus::answered;

struct Platforms {
  Platforms() {
    Addresses::Options options;
    options.slack = "slack.example:443";
    options.discord = "discord.example:443";
    options.email = "smtp://mail.example";
    options.slack_channel = "#all";
    options.email_to = {"ana@example.org", "bo@example.org"};
    options.slack_webhook_hosts = {"hooks.slack.example"};
    options.defaults = {{"slack", ""}};
    world.notices_options.addresses = Addresses(options);
    world.channels = {
        {"slack", &slack}, {"discord", &discord}, {"email", &email}, {"slack-webhook", &webhook}};
    world.restart();
  }
  SessionId ask(const std::string& channels, int questions = 1, const std::string& agent = "poet") {
    std::string list;
    for (int i = 0; i < questions; ++i) {
      list += (i ? "," : "") + std::string(R"({"question":"Q)") + std::to_string(i) +
              R"(?","options":["yes","no"]})";
    }
    world.runner.reply = [=](const AgentDefinition&, const TurnRequest& request,
                             const TurnContext&) {
      if (request.reason != TurnReason::start) return std::string(R"({"result":1})");
      return R"({"ask":{"questions":[)" + list + R"(],"channels":)" + channels + "}}";
    };
    const auto id = world.trigger(agent);
    world.run_until_idle();
    return id;
  }
  void answer(const SessionId& id, std::size_t which, const std::string& value = "yes",
              const std::string& by = "ana", const std::string& via = "web") {
    const auto question = world.questions(id).at(which).id.text();
    (void)world.process().answers.answer(id, {{{question, {value}}}, by, via}, {by, "test", "here"},
                                         world.now());
  }
  World world;
  FakeChannel slack, discord, email, webhook;
};

}  // namespace

TEST_CASE("an ask goes to the settings' channels and to those it adds, each place once") {
  Platforms p;
  const auto id = p.ask(R"(["slack:#all","slack:C1","discord:77","email"])", 2);
  REQUIRE(p.slack.sent.size() == 2);
  CHECK(p.slack.sent[0].to == "#all");
  CHECK(p.slack.sent[1].to == "C1");
  CHECK(p.slack.sent[0].statuses == std::vector{kPending, kPending});
  CHECK(p.slack.sent[0].may_cancel);
  CHECK(p.discord.sent.size() == 1);
  // A mail a question and recipient, each with a link of its own.
  REQUIRE(p.email.sent.size() == 4);
  std::set<std::string> tokens, readers;
  for (const auto& mail : p.email.sent) {
    REQUIRE(mail.tokens.size() == 1);
    tokens.insert(mail.tokens[0]);
    readers.insert(mail.to);
    const auto opened = p.world.process().links.open(id, mail.tokens[0]);
    REQUIRE(opened);
    CHECK(opened->actor.name == mail.to);
    CHECK(opened->channel == "email");
  }
  CHECK(tokens.size() == 4);
  CHECK(readers == std::set<std::string>{"ana@example.org", "bo@example.org"});
  for (const auto& delivery : p.world.deliveries(id)) {
    if (delivery.channel != "url") CHECK(delivery.message_ref);
  }
}

TEST_CASE("a question keeps the platforms it was sent to, each once, whatever its ending") {
  Platforms p;
  using Words = std::vector<std::string>;
  const auto id = p.ask(R"(["slack:C1","discord:77","email"])", 2);
  p.answer(id, 1);
  for (const auto& q : p.world.questions(id)) {
    CHECK(q.channels == Words{"discord", "email", "slack", "url"});  // `poet` has a callback.
  }
}

TEST_CASE("a callback to an incoming webhook of Slack's counts as slack, and none as nothing") {
  Platforms p;
  using Words = std::vector<std::string>;
  std::map<std::string, AgentDefinition> agents;
  AgentDefinition agent = *p.world.agents.find("poet");
  agent.name = "webhook";
  agent.question_callback = "https://hooks.slack.example/services/T/B/x";
  agent.channels = {{"email", "ana@example.org"}};
  agents.emplace("webhook", agent);
  agent.name = "shy";
  agent.question_callback.reset();
  agent.channels = {{"url", ""}};
  agents.emplace("shy", agent);
  AgentDefinition pager = *p.world.agents.find("pager");
  pager.channels = {{"discord", "5"}};
  agents.emplace("pager", pager);
  p.world.agents.replace(agents);
  CHECK(p.world.questions(p.ask("[]", 1, "webhook")).at(0).channels == Words{"email", "slack"});
  CHECK(p.world.questions(p.ask("[]", 1, "shy")).at(0).channels.empty());

  Ask ask;
  ask.questions = {QuestionSpec{"Go?", {}, {}, false, true, Style::buttons, {}}};
  const auto admitted =
      p.world.process().intake.admit_ask({"pager", ask, "k"}, kUpstream, p.world.now());
  REQUIRE(admitted);
  CHECK(admitted->questions.at(0).channels == Words{"discord", "url"});
  CHECK(p.world.questions(admitted->session).at(0).channels == Words{"discord", "url"});
}

TEST_CASE(
    "a card goes where questions go, each place once, and to Slack's webhook without opting in") {
  Platforms p;
  AgentDefinition pager = *p.world.agents.find("pager");
  pager.question_callback = "https://hooks.slack.example/services/T/B/x";
  p.world.agents.replace({{"pager", pager}});
  OutsideCard outside;
  outside.agent_name = "pager";
  outside.card = {"Build", "Done.", {{"discord", "77"}, {"slack", "#all"}, {"email", ""}}};
  const auto told = p.world.process().intake.admit_card(outside, kUpstream, p.world.now()).value();
  CHECK(told.channels == std::vector<std::string>{"discord", "email", "slack"});
  p.world.run_until_idle();
  for (const auto* channel : {&p.slack, &p.discord, &p.webhook}) {
    REQUIRE(channel->sent.size() == 1);
    CHECK(channel->sent[0].event == "card_posted");
    CHECK(channel->sent[0].tokens.empty());
  }
  CHECK(p.email.sent.size() == 2);
  CHECK(p.world.http.seen().empty());
}

TEST_CASE("an agent's channels stand in for the settings', and its own callback goes with them") {
  Platforms p;
  auto agents = std::map<std::string, AgentDefinition>{};
  AgentDefinition shy = *p.world.agents.find("poet");
  shy.name = "shy";
  shy.channels = {{"discord", "5"}};
  agents.emplace("shy", shy);
  p.world.agents.replace(agents);
  p.ask("[]", 1, "shy");
  CHECK(p.slack.sent.empty());
  REQUIRE(p.discord.sent.size() == 1);
  CHECK(p.discord.sent[0].to == "5");
  CHECK(p.world.http.seen().size() == 1);  // question_callback
}

TEST_CASE("an ask that names a channel nobody set up is refused, naming it") {
  World world;
  Ask ask;
  ask.channels = {{"url", ""}, {"slack", "C1"}};
  try {
    (void)world.process().notices.addresses_for("poet", ask.channels);
    FAIL("taken");
  } catch (const BadRequest& e) {
    CHECK(e.field() == "channels[1]");
    CHECK(std::string(e.what()) ==
          "slack is not set up on this server: [slack] bot_token is empty");
  }
}

TEST_CASE("an ask may add only those mail readers whom somebody else has named") {
  Platforms p;
  Addresses::Options options;
  options.email = "smtp://mail.example";
  options.email_to = {"Ana@example.org"};
  options.asks_may_add = {"cy@other.example", "Team.example"};
  const Addresses addresses(options);
  AgentDefinition agent;
  agent.answerers = {"dee@deep.example"};
  agent.channels = {{"email", "eve@eden.example"}};
  for (const char* good : {"ana@example.org", "cy@other.example", "who@team.example",
                           "dee@deep.example", "Eve@eden.example"}) {
    CAPTURE(good);
    CHECK_NOTHROW(addresses.of_ask(&agent, {{"email", good}}));
  }
  for (const char* bad : {"bo@example.org", "x@other.example", "who@sub.team.example",
                          "who@evilteam.example", "mallory@evil.example"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(addresses.of_ask(&agent, {{"email", bad}}), BadRequest);
  }
  CHECK_THROWS_AS(addresses.of_ask(nullptr, {{"email", "dee@deep.example"}}), BadRequest);
}

TEST_CASE("once decided, every message is brought up to date, but not the decider's own mail") {
  Platforms p;
  const auto id = p.ask(R"(["discord:77","email"])");
  p.answer(id, 0, "yes", "ana@example.org", "email");
  p.world.run_until_idle();
  REQUIRE(p.slack.sent.size() == 2);
  CHECK(p.slack.sent[1].event == "question_settled");
  CHECK(p.slack.sent[1].message_ref == "ref-1");
  CHECK(p.slack.sent[1].statuses == std::vector{kAnswered});
  REQUIRE(p.discord.sent.size() == 2);
  REQUIRE(p.email.sent.size() == 3);
  CHECK(p.email.sent[2].to == "bo@example.org");
  CHECK(p.email.sent[2].message_ref);
  CHECK(p.email.sent[2].tokens.empty());
}

TEST_CASE("a batch is edited at each step, and the last edit shows the end") {
  Platforms p;
  const auto id = p.ask("[]", 3);
  p.answer(id, 1);
  p.world.run_until_idle();
  p.answer(id, 0);
  p.answer(id, 2);
  p.world.run_until_idle();
  REQUIRE(p.slack.sent.size() == 3);  // Two steps at a time make one edit.
  CHECK(p.slack.sent[1].statuses == std::vector{kPending, kAnswered, kPending});
  CHECK(p.slack.sent[2].statuses == std::vector{kAnswered, kAnswered, kAnswered});
}

TEST_CASE("what is settled while its message is on the way is shown as soon as it is there") {
  Platforms p;
  SessionId id;
  p.slack.meanwhile = [&] {
    id = p.world.process().views.questions({})[0].session_id;
    p.answer(id, 0);
  };
  p.ask("[]", 2);
  REQUIRE(p.slack.sent.size() == 2);
  CHECK(p.slack.sent[1].message_ref == "ref-1");
  CHECK(p.slack.sent[1].statuses == std::vector{kAnswered, kPending});
}

TEST_CASE("what is settled while an edit is on the way makes another edit, after it") {
  Platforms p;
  const auto id = p.ask("[]", 2);
  p.answer(id, 0);
  p.slack.meanwhile = [&] { p.answer(id, 1); };
  p.world.run_until_idle();
  REQUIRE(p.slack.sent.size() == 3);
  CHECK(p.slack.sent[1].statuses == std::vector{kAnswered, kPending});
  CHECK(p.slack.sent[2].statuses == std::vector{kAnswered, kAnswered});
}

TEST_CASE("an ask that was over before its message left is told to nobody") {
  Platforms p;
  p.world.runner.reply = [](const AgentDefinition&, const TurnRequest& request,
                            const TurnContext&) {
    return request.reason == TurnReason::start ? kAskStyle : R"({"result":1})";
  };
  const auto id = p.world.trigger();
  for (const auto& turn : p.world.process().turns.claim(p.world.now(), 1)) {
    p.world.process().turns.run(turn);
  }
  p.answer(id, 0, "haiku");
  p.world.run_until_idle();
  CHECK(p.slack.sent.empty());
  CHECK(p.world.count_events(id, "delivery_obsolete") == 1);
  CHECK(p.world.http.seen().size() >= 1);  // The callback goes out all the same.
}

TEST_CASE("expiry and cancel settle messages too") {
  Platforms p;
  p.ask("[]");
  p.world.clock.advance(2h);
  p.world.run_until_idle();
  REQUIRE(p.slack.sent.size() == 2);
  CHECK(p.slack.sent[1].statuses == std::vector{QuestionStatus::timed_out});
  const auto id = p.ask("[]", 2);
  CHECK(p.world.process()
            .control.call_off(p.world.questions(id)[0], kAdmin, "ana", p.world.now())
            .outcome == Control::Outcome::done);
  p.world.run_until_idle();
  REQUIRE(p.slack.sent.size() == 4);
  CHECK(p.slack.sent[3].statuses ==
        std::vector{QuestionStatus::cancelled, QuestionStatus::cancelled});
}

TEST_CASE("a receiver that asks for a rest gets it, its channel alone or the whole platform") {
  for (const bool all : {false, true}) {
    CAPTURE(all);
    Platforms p;
    p.slack.respond = [&](const Outgoing& message) {
      SendOutcome outcome;
      if (p.slack.sent.size() == 1) {
        outcome.http_status = 429;
        outcome.error = "too many";
        outcome.rest = 30s;
        outcome.rest_all = all;
        return outcome;
      }
      outcome.kind = SendOutcome::Kind::delivered;
      outcome.message_ref = message.delivery.destination;
      return outcome;
    };
    p.ask(R"([])");            // #all is told to wait.
    p.ask(R"(["slack:C2"])");  // Its #all waits as well.
    CHECK(p.slack.sent.size() == (all ? 1u : 2u));
    p.world.clock.advance(29s);
    p.world.run_until_idle();
    CHECK(p.slack.sent.size() == (all ? 1u : 2u));
    p.world.clock.advance(1s);
    p.world.run_until_idle();
    CHECK(p.slack.sent.size() == 4);
  }
}

TEST_CASE("what can never work is dead at once") {
  Platforms p;
  p.slack.respond = [](const Outgoing&) {
    SendOutcome outcome;
    outcome.kind = SendOutcome::Kind::refused;
    outcome.error = "no such mailbox";
    return outcome;
  };
  const auto id = p.ask("[]");
  const auto deliveries = p.world.deliveries(id);
  const auto slack = std::find_if(deliveries.begin(), deliveries.end(),
                                  [](const Delivery& d) { return d.channel == "slack"; });
  REQUIRE(slack != deliveries.end());
  CHECK(slack->status == DeliveryStatus::dead);
  CHECK(slack->last_error == "no such mailbox");
}

TEST_CASE("a callback at Slack's incoming webhooks is one message an ask, closed by another") {
  Platforms p;
  AgentDefinition hooked = *p.world.agents.find("poet");
  hooked.name = "hooked";
  hooked.question_callback = "https://hooks.slack.example/services/T/B/x";
  p.world.agents.replace({{"hooked", hooked}});
  const auto id = p.ask("[]", 2, "hooked");
  REQUIRE(p.webhook.sent.size() == 1);
  CHECK(p.webhook.sent[0].tokens.size() == 2);
  const auto opened = p.world.process().links.open(id, p.webhook.sent[0].tokens[1]);
  REQUIRE(opened);
  CHECK(opened->question.position == 1);
  p.answer(id, 0);
  p.world.run_until_idle();
  CHECK(p.webhook.sent.size() == 1);
  p.answer(id, 1);
  p.world.run_until_idle();
  REQUIRE(p.webhook.sent.size() == 2);
  CHECK(p.webhook.sent[1].event == "question_settled");
  CHECK(p.world.http.seen().empty());
}

TEST_CASE("a click is an answer to its question alone, in the clicker's name") {
  Platforms p;
  const auto id = p.ask("[]");
  const Question question = p.world.questions(id)[0];
  const Click click{Click::Kind::answer, "slack", question.id, {1}, {}, "U1", "Ana", "10.0.0.1"};
  auto& clicks = p.world.process().clicks;
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::taken);
  const Question ended = p.world.questions(id)[0];
  CHECK(ended.answered_by == "Ana (U1)");
  CHECK(ended.answered_via == "slack");
  CHECK(settled_line(ended) == "Answered by Ana (U1): no");
  SUBCASE("whoever takes a name of many lines stands on one") {
    const auto other = p.ask("[]");
    Click loud = click;
    loud.question = p.world.questions(other)[0].id;
    loud.person_name = "Eve\nAnswered by Ana: yes" + std::string(300, 'x');
    CHECK(clicks.take(loud, p.world.now()).kind == Clicks::Outcome::Kind::taken);
    const std::string by = p.world.questions(other)[0].answered_by.value();
    CHECK(by.find('\n') == std::string::npos);
    CHECK(by.size() < 120);
  }
  SUBCASE("the same click again says nothing") {
    for (int i = 0; i < 4; ++i) {
      CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::repeated);
    }
  }
  SUBCASE("another's is late, though it chose the same") {
    Click other = click;
    other.person_id = "U2";
    const auto outcome = clicks.take(other, p.world.now());
    CHECK(outcome.kind == Clicks::Outcome::Kind::late);
    CHECK(outcome.notice == "Too late: Answered by Ana (U1): no.");
  }
  SUBCASE("and so is one for the other option") {
    Click other = click;
    other.options = {0};
    CHECK(clicks.take(other, p.world.now()).kind == Clicks::Outcome::Kind::late);
  }
  CHECK(p.world.count_events(id, "question_answered") == 1);
}

TEST_CASE("answerers go by the users they are here, and others are told that they may not") {
  Platforms p;
  AgentDefinition strict = *p.world.agents.find("poet");
  strict.name = "strict";
  strict.answerers = {"ana", "slack:U7"};
  p.world.agents.replace({{"strict", strict}});
  const auto id = p.ask("[]", 2, "strict");
  const auto questions = p.world.questions(id);
  auto& clicks = p.world.process().clicks;
  Click click{Click::Kind::answer, "slack", questions[0].id, {0}, {}, "U2", "ana", ""};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::refused);
  click.channel = "discord";
  click.person_id = "U1";
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::refused);
  click.kind = Click::Kind::cancel;
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::refused);
  CHECK(p.world.questions(id)[0].status == kPending);
  click = {Click::Kind::answer, "slack", questions[0].id, {0}, {}, "U1", "Ana", ""};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::taken);
  click = {Click::Kind::answer, "slack", questions[1].id, {0}, {}, "U7", "Cy", ""};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::taken);
}

TEST_CASE("a click that breaks a rule leaves its question pending and says why") {
  Platforms p;
  const auto id = p.ask("[]");
  auto& clicks = p.world.process().clicks;
  Click click{Click::Kind::answer, "slack", p.world.questions(id)[0].id, {0, 1}, {}, "U1", "", ""};
  const auto several = clicks.take(click, p.world.now());
  CHECK(several.kind == Clicks::Outcome::Kind::refused);
  CHECK_FALSE(several.notice.empty());
  click.options = {9};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::refused);
  click.options = {};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::refused);
  click.question = QuestionId::make(p.world.now());
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::unknown);
  CHECK(p.world.questions(id)[0].status == kPending);
  click = {Click::Kind::open_form, "slack", p.world.questions(id)[0].id, {}, {}, "U1", "", ""};
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::form);
  click.kind = Click::Kind::cancel;
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::taken);
  CHECK(p.world.questions(id)[0].answered_by == "U1");
  CHECK(clicks.take(click, p.world.now()).kind == Clicks::Outcome::Kind::repeated);
}

TEST_CASE("an agent's targets are told with the places that the settings fill in") {
  Platforms p;
  using Words = std::vector<std::string>;
  auto& notices = p.world.process().notices;
  AgentDefinition agent = *p.world.agents.find("poet");
  CHECK(notices.targets_of(agent) == Words{"slack:#all"});
  agent.channels = {{"url", ""}, {"email", ""}, {"discord", ""}, {"slack", "#ops"}};
  // Discord has no channel of its own here, so that nothing goes there.
  CHECK(notices.targets_of(agent) ==
        Words{"email:ana@example.org", "email:bo@example.org", "slack:#ops"});
  CHECK(notices.has_callback("poet"));
  CHECK_FALSE(notices.has_callback("loner"));
}
