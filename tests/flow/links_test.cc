#include "flow/links.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"
#include "tests/flow/audit_rows.h"
#include "tests/support/world.h"
#include "wire/digest.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

void change_poet(World& world, const std::function<void(AgentDefinition&)>& change) {
  AgentDefinition poet = *world.agents.find("poet");
  change(poet);
  world.agents.replace({{"poet", poet}});
}

// A world whose callbacks carry a link, with one question asked and announced.
struct Linked {
  explicit Linked(const std::string& question = "What style?") {
    change_poet(world, [](AgentDefinition& poet) { poet.callback_link = true; });
    world.runner.reply = [question](const AgentDefinition&, const TurnRequest&,
                                    const TurnContext&) {
      return R"({"ask":{"questions":[{"question":)" + Json(question).dump() + R"(}]},"state":1})";
    };
    session = world.trigger();
  }
  Json callback(std::size_t i = 0) { return Json::parse(world.http.seen().at(i).body); }
  std::string token(std::size_t i = 0) {
    const std::string page = callback(i)["answer_page"];
    return page.substr(page.find("?token=") + 7);
  }
  std::int64_t count(const std::string& table) {
    std::int64_t rows = 0;
    world.db().read([&](Transaction& tx) {
      tx.query("SELECT COUNT(*) FROM " + table, [&](const Row& row) { rows = row.integer(0); });
    });
    return rows;
  }

  World world;
  SessionId session;
};

}  // namespace

TEST_CASE("a link opens its question, in its recipient's name") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0);
  auto& links = world.process().links;
  const auto token = links.make(question.id, "ana@example.org", kAdmin, world.now());
  REQUIRE(token);
  CHECK(is_token(*token));
  const auto opened = links.open(id, *token);
  REQUIRE(opened);
  CHECK(opened->question.id == question.id);
  CHECK(opened->channel == "link");
  CHECK(opened->actor.name == "ana@example.org");
  CHECK(opened->actor.credential.starts_with("link:"));
  CHECK(opened->actor.credential.find(*token) == std::string::npos);
  CHECK(links.make(question.id, "ana@example.org", kAdmin, world.now()) != token);
}

TEST_CASE("a token opens nothing but its own session, and nothing else opens it") {
  World world;
  const auto id = world.trigger(), other = world.trigger();
  world.run_until_idle();
  auto& links = world.process().links;
  const auto token = links.make(world.questions(id).at(0).id, "ana", kAdmin, world.now()).value();
  CHECK_FALSE(links.open(other, token));
  CHECK_FALSE(links.open(SessionId(""), token));
  for (const std::string& wrong : {std::string(), new_token(), token + "a", token.substr(1),
                                   "'" + token.substr(1), std::string(43, '%')}) {
    CHECK_FALSE(links.open(id, wrong));
  }
  CHECK(links.open(id, token));
}

TEST_CASE("of a link's token only a hash is kept, and who had it made is in the audit log") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0);
  const auto token = world.process().links.make(question.id, "ana", kAdmin, world.now()).value();
  world.db().read([&](Transaction& tx) {
    tx.query("SELECT token_hash FROM answer_links",
             [&](const Row& row) { CHECK(row.string(0) == sha256_hex(token)); });
  });
  const auto row = audit_rows(world.db()).back();
  CHECK(row.action == "link_made");
  CHECK(row.actor.name == kAdmin.name);
  CHECK(row.subject == "question:" + question.id.text());
  CHECK(row.detail == "for ana");
}

TEST_CASE("no link is made to a question that there is not, or that is settled") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0).id;
  auto& links = world.process().links;
  CHECK_FALSE(links.make(QuestionId("none"), "ana", kAdmin, world.now()));
  world.answer(id, "haiku");
  const auto refused =
      complaint_of([&] { return links.make(question, "ana", kAdmin, world.now()); });
  CHECK(refused.field == "question");
  CHECK(refused.reason == "is answered already");
  CHECK(audited(world.db()).count("link_made") == 0);
}

TEST_CASE("a recipient has 1 to 200 characters") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0).id;
  const auto blame = [&](const std::string& recipient) {
    return complaint_of(
               [&] { return world.process().links.make(question, recipient, kAdmin, world.now()); })
        .field;
  };
  for (const std::string& recipient : {std::string(), std::string(" \n"), std::string(201, 'x'),
                                       std::string("\xff"), std::string("a\0b", 3)}) {
    CHECK(blame(recipient) == "recipient");
  }
  CHECK(blame(std::string(200, 'x')) == "(none)");
}

TEST_CASE("with answerers a link is made for one of them only") {
  World world;
  change_poet(world, [](AgentDefinition& poet) { poet.answerers = {"Ana"}; });
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0).id;
  auto& links = world.process().links;
  CHECK(complaint_of([&] { return links.make(question, "ben", kAdmin, world.now()); }).field ==
        "recipient");
  CHECK(links.make(question, "ana", kAdmin, world.now()));
}

TEST_CASE("who was taken off the answerers cannot answer by an old link") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto question = world.questions(id).at(0).id;
  const auto token = world.process().links.make(question, "ben", kAdmin, world.now()).value();
  change_poet(world, [](AgentDefinition& poet) { poet.answerers = {"ana"}; });
  const auto opened = world.process().links.open(id, token).value();
  const auto outcome = world.process().answers.answer(
      id, {{{"", {"haiku"}}}, opened.actor.name, "link"}, opened.actor, world.now());
  CHECK(std::holds_alternative<NotAnAnswerer>(outcome));
  CHECK(world.questions(id).at(0).status == QuestionStatus::pending);
}

TEST_CASE("a link still opens after its question was settled, to show how") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  const auto token =
      world.process().links.make(world.questions(id).at(0).id, "ana", kAdmin, world.now()).value();
  world.answer(id, "haiku", "ben");
  const auto opened = world.process().links.open(id, token);
  REQUIRE(opened);
  CHECK(opened->question.status == QuestionStatus::answered);
  CHECK(opened->question.answered_by == "ben");
}

TEST_CASE("a callback's link opens its question, for the callback's host") {
  Linked linked;
  linked.world.run_until_idle();
  const Json body = linked.callback();
  const std::string url = body["answer_url"], page = body["answer_page"];
  CHECK(page == url + "?token=" + linked.token());
  REQUIRE(is_token(linked.token()));
  const auto opened = linked.world.process().links.open(linked.session, linked.token());
  REQUIRE(opened);
  CHECK(opened->question.id.text() == body["question"]["id"]);
  CHECK(opened->channel == "url");
  CHECK(opened->actor.name == "receiver.example:80");
}

TEST_CASE("a callback carries no link unless its agent says so") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  CHECK_FALSE(Json::parse(world.http.seen().at(0).body).contains("answer_page"));
  CHECK_FALSE(world.deliveries(id).at(0).link_for);
}

TEST_CASE("the token that went out is in no row of the outbox or the history") {
  Linked linked;
  linked.world.run_until_idle();
  const std::string token = linked.token();
  CHECK(linked.world.deliveries(linked.session).at(0).body.find(token) == std::string::npos);
  const auto events = linked.world.process().views.events(linked.session, 0, 100).value();
  REQUIRE(events.size() >= 3);
  for (const auto& event : events) CHECK(event.data.find(token) == std::string::npos);
}

TEST_CASE("each attempt has a token of its own, under one delivery id, and all of them open") {
  Linked linked;
  linked.world.http.respond = [](const HttpRequest&) {
    return HttpResponse{500, "", "", std::nullopt};
  };
  linked.world.run_until_idle();
  linked.world.http.respond = nullptr;
  linked.world.clock.advance(10s);
  linked.world.run_until_idle();
  const auto calls = linked.world.http.seen();
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].headers.at("webhook-id") == calls[1].headers.at("webhook-id"));
  CHECK(linked.token(0) != linked.token(1));
  for (const std::size_t attempt : {0U, 1U}) {
    CHECK(linked.world.process().links.open(linked.session, linked.token(attempt)));
  }
  CHECK(linked.count("answer_links") == 2);
}

TEST_CASE("an agent's text that looks like the mark of another delivery stays as it is") {
  Linked first;
  first.world.run_until_idle();
  const std::string mark = token_mark(first.world.deliveries(first.session).at(0).id);
  const std::string marks = mark + " {{token:}} {{token}} " + token_mark(DeliveryId("x"));
  first.world.runner.reply = [&](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    const std::string text = Json(marks).dump();
    return R"({"ask":{"questions":[{"question":)" + text + R"(}],"context":{"a":)" + text +
           R"(}},"state":1})";
  };
  const auto second = first.world.trigger();
  first.world.run_until_idle();
  const Json body = first.callback(1);
  CHECK(body["question"]["text"] == marks);
  CHECK(body["question"]["context"]["a"] == marks);
  REQUIRE(is_token(first.token(1)));
  CHECK(first.world.process().links.open(second, first.token(1)));
}

TEST_CASE("a delivery's own mark is replaced once; without one no link is made") {
  Linked linked;
  linked.world.run_until_idle();
  Delivery delivery = linked.world.deliveries(linked.session).at(0);
  const std::string mark = token_mark(delivery.id);
  const auto links = linked.count("answer_links");
  const auto put = [&](Delivery d) {
    linked.world.db().write([&](Transaction& tx) { links::put_token(tx, d, linked.world.now()); });
    return d.body;
  };
  delivery.body = "a " + mark + " b";
  const std::string body = put(delivery);
  CHECK(body.starts_with("a "));
  CHECK(body.ends_with(" b"));
  CHECK(is_token(body.substr(2, body.size() - 4)));
  CHECK(linked.count("answer_links") == links + 1);

  delivery.body = "a " + token_mark(DeliveryId("other")) + " b";
  CHECK(put(delivery) == delivery.body);
  delivery.body = "a " + mark + " b";
  Delivery without = delivery;
  without.link_for = std::nullopt;
  CHECK(put(without) == delivery.body);
  without = delivery;
  without.question_id = std::nullopt;
  CHECK(put(without) == delivery.body);
  CHECK(linked.count("answer_links") == links + 1);
}

TEST_CASE("a delivery that is sent again by hand has a live link, too") {
  Linked linked;
  linked.world.run_until_idle();
  const auto id = linked.world.deliveries(linked.session).at(0).id;
  CHECK(linked.world.process().courier.redeliver(id, kAdmin, linked.world.now()) ==
        Courier::Redelivery::done);
  linked.world.run_until_idle();
  REQUIRE(linked.world.http.seen().size() == 2);
  CHECK(linked.token(0) != linked.token(1));
  CHECK(linked.world.process().links.open(linked.session, linked.token(1)));
}
