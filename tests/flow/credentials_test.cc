#include "flow/credentials.h"

#include <doctest/doctest.h>

#include "flow/keys.h"
#include "flow/people.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

struct Server {
  Keys::Made create(std::optional<Duration> lives = std::nullopt) {
    return keys.create({"ci", {"admin"}, lives}, kAdmin, clock.now());
  }
  bool ever() { return credentials.ever(clock.now()); }
  bool live() { return credentials.live(clock.now()); }

  TempDir dir;
  ManualClock clock;
  std::unique_ptr<Database> db = open_test_database(dir.path() / "test.db", clock.now());
  Keys keys{*db, clock};
  People people{*db, {}};
  Credentials credentials{*db};
};

}  // namespace

TEST_CASE("on a new database nobody has ever made a credential") {
  Server server;
  CHECK_FALSE(server.ever());
  CHECK_FALSE(server.live());
}

TEST_CASE("a key that another process made counts within a second") {
  Server server;
  CHECK_FALSE(server.ever());
  server.create();
  server.clock.advance(1s);
  CHECK(server.ever());
  CHECK(Credentials(*server.db).ever(server.clock.now()));
}

TEST_CASE("the database is not asked more often than once a second") {
  Server server;
  CHECK_FALSE(server.ever());
  server.create();
  server.clock.advance(999ms);
  CHECK_FALSE(server.ever());
  server.clock.advance(1ms);
  CHECK(server.ever());
}

TEST_CASE("one that this process made counts at once") {
  Server server;
  CHECK_FALSE(server.ever());
  server.create();
  server.credentials.note_made();
  CHECK(server.ever());
}

TEST_CASE("a clock that goes backwards does not keep the server open") {
  Server server;
  CHECK_FALSE(server.ever());
  server.create();
  server.clock.advance(-1h);
  CHECK(server.ever());
}

TEST_CASE("revoked, expired and removed ones count for ever, but let nobody in") {
  Server revoked;
  const auto made = revoked.create();
  CHECK(revoked.live());
  CHECK(revoked.keys.revoke(made.key.id, kAdmin, revoked.clock.now()) == Keys::Revoked::done);
  CHECK(revoked.ever());
  CHECK_FALSE(revoked.live());

  Server expired;
  expired.create(1h);
  CHECK(expired.live());
  expired.clock.advance(1h);
  CHECK(expired.ever());
  CHECK_FALSE(expired.live());

  Server removed;
  removed.people.add("ana", Role::admin, "", kAdmin, removed.clock.now());
  CHECK(removed.live());
  CHECK(removed.people.remove("ana", kAdmin, removed.clock.now()));
  CHECK(removed.ever());
  CHECK_FALSE(removed.live());
}

TEST_CASE("once known it stays known while the store is down") {
  World world;
  Keys(world.db(), world.clock).create({"ci", {"admin"}, {}}, kAdmin, world.now());
  Credentials credentials(world.db());
  CHECK(credentials.ever(world.now()));
  // No further look: a database that is gone would be a crash here.
  world.process().db.reset();
  world.clock.advance(1h);
  CHECK(credentials.ever(world.now()));
}
