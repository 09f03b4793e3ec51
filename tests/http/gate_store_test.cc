#include <doctest/doctest.h>

#include "tests/http/gatehouse.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A gate whose store is dead from its first statement on.
struct Dead {
  explicit Dead(Gate::Options options = {})
      : gate(clock, credentials, keys, people, FormNonce("secret"), std::move(options)) {
    const auto yes = [](Request&) { return Response{200, "{}", "application/json", {}, {}}; };
    routes = gate.guard({{"GET", "/public", nothing(), yes},
                         {"POST", "/public", nothing(), yes, true, true},
                         {"GET", "/read", scope("sessions:read"), yes},
                         {"GET", "/page", scope("sessions:read"), yes, true},
                         {"POST", "/hook", own_check(), yes}});
  }
  int status(Call call) { return answer_call(routes, call.with("Host", "localhost")).status; }

  TempDir dir;
  ManualClock clock;
  FailingDatabase db{open_test_database(dir.path() / "gate.db", clock.now()), 1};
  Credentials credentials{db};
  Keys keys{db, clock};
  People people{db, {}};
  Gate gate;
  Routes routes;
};

}  // namespace

TEST_CASE("while the store is down, what needs nothing is served, with any credential") {
  Gate::Options closed;
  closed.loopback = false;
  for (const auto& options : {Gate::Options{}, closed}) {
    Dead dead(options);
    CHECK(dead.status(get("/public")) == 200);
    CHECK(dead.status(get("/public").with("Authorization", "Bearer " + ApiKey::make().text())) ==
          200);
    CHECK(dead.status(get("/public").with("Cookie", "holdpoint=" + new_token())) == 200);
    CHECK(dead.status(post("/public").form({{"a", "b"}})) == 200);
  }
}

TEST_CASE("while the store is down nobody is let in, and the answer is 503, not 401") {
  Dead dead;
  for (const auto& call : {get("/read"), post("/hook"), get("/page"),
                           get("/read").with("Cookie", "holdpoint=" + new_token()),
                           get("/read").with("Authorization", "Bearer " + ApiKey::make().text())}) {
    CAPTURE(call.target);
    CHECK(dead.status(call) == 503);
  }
}

TEST_CASE("what needs nothing is there for a wrong credential too") {
  Gatehouse house;
  house.key({"admin"});
  for (const std::string& bearer :
       {std::string("Bearer hp_x"), "Bearer " + ApiKey::make().text(), std::string("Basic x")}) {
    CHECK(house.seen(get("/public").with("Authorization", bearer))["kind"] == kNobody);
  }
  CHECK(house.seen(get("/public").with("Cookie", "holdpoint=" + new_token()))["kind"] == kNobody);
}

TEST_CASE("what needs nothing still knows who calls") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::viewer);
  CHECK(house.seen(get("/public").with("Cookie", cookie))["name"] == "ana");
  const std::string key = house.key({"admin"});
  CHECK(house.seen(get("/public").with("Authorization", "Bearer " + key))["kind"] == kKey);
}
