#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "tests/flow/audit_rows.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Upstream's signed webhooks to `poet`.
struct Upstream {
  std::optional<Intake::Admitted> send(const std::string& signature, const std::string& id,
                                       const std::string& body,
                                       std::optional<SessionId> parent = std::nullopt,
                                       const std::string& agent = "poet") {
    Intake::Trigger trigger;
    trigger.agent_name = agent;
    trigger.payload = body;
    if (!id.empty()) trigger.idempotency_key = id;
    trigger.parent_id = std::move(parent);
    trigger.by = {"poet", "webhook:standard", "9.9.9.9"};
    trigger.receipt = receipt_store::Receipt{agent, signature, id, "hash of " + body};
    return world.process().intake.admit(trigger, world.now());
  }
  std::int64_t receipts() {
    std::int64_t rows = 0;
    world.db().read([&](Transaction& tx) {
      tx.query("SELECT COUNT(*) FROM webhook_receipts",
               [&](const Row& row) { rows = row.integer(0); });
    });
    return rows;
  }
  std::size_t sessions() { return world.process().views.sessions({}).size(); }

  World world;
};

}  // namespace

TEST_CASE("a signed webhook is admitted once; a copy of it starts nothing") {
  Upstream upstream;
  const auto first = upstream.send("sig", "id", "{}").value();
  CHECK_FALSE(first.replayed);
  CHECK_FALSE(first.duplicate);
  const auto copy = upstream.send("sig", "id", "{}").value();
  CHECK(copy.replayed);
  CHECK(copy.session.empty());
  CHECK(upstream.send("sig", "another id", "{}").value().replayed);
  CHECK(upstream.sessions() == 1);
  CHECK(upstream.world.count_events(first.session, "trigger_repeated") == 0);
  CHECK(audited(upstream.world.db()) ==
        std::map<std::string, std::int64_t>{{"session_started", 1}});
  CHECK(audit_rows(upstream.world.db()).at(0).actor.credential == "webhook:standard");
}

TEST_CASE("the sender's own retry, signed anew, gets the session of the first time") {
  Upstream upstream;
  const auto first = upstream.send("sig", "id", "{}").value();
  const auto retry = upstream.send("sig 2", "id", "{}").value();
  CHECK_FALSE(retry.replayed);
  CHECK(retry.duplicate);
  CHECK(retry.session == first.session);
  CHECK(upstream.send("sig 2", "id", "{}").value().replayed);
  CHECK(upstream.sessions() == 1);
}

TEST_CASE("a known id with another body starts nothing") {
  Upstream upstream;
  CHECK_FALSE(upstream.send("sig", "id", "{}")->replayed);
  CHECK(upstream.send("sig 2", "id", R"({"evil":1})")->replayed);
  CHECK(upstream.sessions() == 1);
  CHECK(upstream.receipts() == 1);
}

TEST_CASE("webhooks without an id are told apart by their signatures") {
  Upstream upstream;
  CHECK_FALSE(upstream.send("sig", "", "{}")->replayed);
  CHECK_FALSE(upstream.send("sig 2", "", "{}")->replayed);
  CHECK(upstream.send("sig 2", "", "{}")->replayed);
  CHECK(upstream.sessions() == 2);
}

TEST_CASE("a webhook that is refused for another reason may be sent again") {
  Upstream upstream;
  CHECK_THROWS_AS(upstream.send("sig", "id", "{}", SessionId("no such parent")), BadRequest);
  CHECK_THROWS_AS(upstream.send("sig", "id", "{}", std::nullopt, "pager"), BadRequest);
  CHECK_FALSE(upstream.send("sig", "id", "{}", std::nullopt, "nobody"));
  CHECK(upstream.receipts() == 0);
  CHECK_FALSE(upstream.send("sig", "id", "{}")->replayed);
}

TEST_CASE("a copy is refused for a day, over a restart too") {
  Upstream upstream;
  Retention retention(upstream.world.db(), std::chrono::days{30}, upstream.world.clock);
  upstream.send("sig", "id", "{}");
  upstream.world.clock.advance(24h);
  retention.run_once(upstream.world.now());
  CHECK(upstream.send("sig", "id", "{}")->replayed);
  upstream.world.restart();
  CHECK(upstream.send("sig", "id", "{}")->replayed);
}
