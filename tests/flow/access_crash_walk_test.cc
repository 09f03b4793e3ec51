#include <doctest/doctest.h>

#include "flow/keys.h"
#include "flow/people.h"
#include "tests/flow/audit_rows.h"
#include "tests/flow/crash_walk.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

using Counts = std::map<std::string, std::int64_t>;

std::int64_t count(World& world, const std::string& from) {
  std::int64_t rows = 0;
  world.db().read([&](Transaction& tx) {
    tx.query("SELECT COUNT(*) FROM " + from, [&](const Row& row) { rows = row.integer(0); });
  });
  return rows;
}

void let_callbacks_carry_links(World& world) {
  AgentDefinition poet = *world.agents.find("poet");
  poet.callback_link = true;
  world.agents.replace({{"poet", poet}});
}

// Upstream signs its webhook anew for each try, until it is acknowledged; a person answers by the
// newest link that came.
struct Signed {
  World& world;
  std::optional<SessionId> session;
  int tries = 0;
  bool answered = false;

  void trigger() {
    Intake::Trigger trigger;
    trigger.agent_name = "poet";
    trigger.payload = "{}";
    trigger.idempotency_key = "walk";
    trigger.by = {"poet", "webhook:standard", "9.9.9.9"};
    trigger.receipt =
        receipt_store::Receipt{"poet", "signature " + std::to_string(++tries), "walk", "body"};
    const auto admitted = world.process().intake.admit(trigger, world.now()).value();
    REQUIRE_FALSE(admitted.replayed);
    session = admitted.session;
  }

  std::optional<std::string> newest_token() {
    std::optional<std::string> token;
    for (const auto& call : world.http.seen()) {
      const Json body = Json::parse(call.body);
      if (!body.contains("answer_page")) continue;
      const std::string page = body["answer_page"];
      token = page.substr(page.find('=') + 1);
    }
    return token;
  }

  void act() {
    if (!session) trigger();
    world.run_until_idle();
    const auto token = newest_token();
    if (answered || !token) return;
    const auto opened = world.process().links.open(*session, *token);
    REQUIRE(opened);
    const auto outcome = world.process().answers.answer(
        *session, {{{opened->question.id.text(), {"haiku"}}}, opened->actor.name, "url"},
        opened->actor, world.now());
    REQUIRE((std::holds_alternative<AnswerAccepted>(outcome) ||
             std::holds_alternative<AlreadyAnswered>(outcome)));
    answered = true;
    world.run_until_idle();
  }
};

void check_chain(World& world, const Counts& wanted) {
  REQUIRE(audited(world.db()) == wanted);
  REQUIRE(audit::verify(world.db(), "").broken == "");
}

}  // namespace

TEST_CASE(
    "the store dies at every point of a signed webhook's session that a link answers: one session, "
    "one row for each change, and every link that went out opens") {
  const auto points = walk(
      [](World& world) {
        let_callbacks_carry_links(world);
        return Signed{world, {}, 0, false};
      },
      [](Signed& client) { client.act(); },
      [](World& world, const SessionId& id) {
        REQUIRE(count(world, "agent_sessions") == 1);
        REQUIRE(count(world, "webhook_receipts") >= 1);
        REQUIRE(world.session(id).status == SessionStatus::completed);
        REQUIRE(world.questions(id).at(0).answered_by == "receiver.example:80");
        check_chain(world, {{"session_started", 1}, {"question_answered", 1}});
        std::int64_t links = 0;
        for (const auto& call : world.http.seen()) {
          const Json body = Json::parse(call.body);
          if (!body.contains("answer_page")) continue;
          const std::string page = body["answer_page"];
          REQUIRE(world.process().links.open(id, page.substr(page.find('=') + 1)));
          ++links;
        }
        REQUIRE(links >= 1);
        REQUIRE(count(world, "answer_links") >= links);
      });
  MESSAGE("points walked: " << points);
  CHECK(points > 70);
}

TEST_CASE(
    "the store dies at every point of taking a signed webhook: a receipt never stands without its "
    "session, nor a session without its receipt") {
  struct Copied {
    World& world;
    std::optional<SessionId> session;
  };
  const auto points = walk(
      [](World& world) {
        return Copied{world, {}};
      },
      // The very same request again and again: a copy is refused, however the first one ended.
      [](Copied& client) {
        Intake::Trigger trigger;
        trigger.agent_name = "poet";
        trigger.payload = "{}";
        trigger.by = {"poet", "webhook:github", "9.9.9.9"};
        trigger.receipt = receipt_store::Receipt{"poet", "signature", "", "body"};
        auto& world = client.world;
        const auto admitted = world.process().intake.admit(trigger, world.now()).value();
        const auto receipts = count(world, "webhook_receipts");
        const auto sessions = count(world, "agent_sessions");
        REQUIRE(receipts == 1);
        REQUIRE(sessions == 1);
        if (!admitted.replayed) client.session = admitted.session;
        // Whether its first sender heard of it or not, there is just one.
        if (!client.session) client.session = world.process().views.sessions({}).at(0).id;
      },
      [](World& world, const SessionId& id) {
        REQUIRE(world.session(id).status == SessionStatus::running);
        check_chain(world, {{"session_started", 1}});
      });
  CHECK(points > 6);
}

TEST_CASE("the store dies at every point of making and using credentials: each has its row") {
  struct Admin {
    World& world;
    std::optional<SessionId> session;
  };
  const auto points = walk(
      [](World& world) {
        Admin admin{world, world.trigger()};
        world.run_until_idle();
        return admin;
      },
      [](Admin& admin) {
        auto& world = admin.world;
        Keys keys(world.db(), world.clock);
        People people(world.db(), {});
        const Time now = world.now();
        const auto made = keys.create({"ci", {"admin"}, {}}, kAdmin, now);
        const auto revoked = keys.revoke(made.key.id, kAdmin, now);
        REQUIRE(revoked == Keys::Revoked::done);
        const auto name = "u" + std::to_string(people.list().size());
        people.add(name, Role::viewer, "", kAdmin, now);
        const bool changed = people.set_role(name, Role::answerer, kAdmin, now);
        REQUIRE(changed);
        const auto question = world.questions(*admin.session).at(0).id;
        const auto token = world.process().links.make(question, "ana", kAdmin, now);
        REQUIRE(token);
      },
      [](World& world, const SessionId&) {
        Counts wanted{{"session_started", 1}};
        wanted["key_created"] = count(world, "api_keys");
        wanted["key_revoked"] = count(world, "api_keys WHERE revoked_at IS NOT NULL");
        wanted["user_added"] = count(world, "users");
        wanted["role_changed"] = count(world, "users WHERE role = 'answerer'");
        wanted["link_made"] = count(world, "answer_links WHERE channel = 'link'");
        check_chain(world, wanted);
      });
  CHECK(points > 20);
}

TEST_CASE("the store dies at every point of calling a question off: one end, one row") {
  struct Caller {
    World& world;
    std::optional<SessionId> session;
    Question question;
  };
  const auto points = walk(
      [](World& world) {
        const auto id = world.trigger();
        world.run_until_idle();
        return Caller{world, id, world.questions(id).at(0)};
      },
      [](Caller& caller) {
        auto& world = caller.world;
        (void)world.process().control.call_off(caller.question, {"ana", "link:x", ""}, "ana",
                                               world.now());
        world.run_until_idle();
      },
      [](World& world, const SessionId& id) {
        REQUIRE(world.session(id).status == SessionStatus::cancelled);
        REQUIRE(world.questions(id).at(0).status == QuestionStatus::cancelled);
        REQUIRE(world.count_events(id, "session_cancelled") == 1);
        check_chain(world, {{"session_started", 1}, {"question_cancelled", 1}});
      });
  CHECK(points > 15);
}
