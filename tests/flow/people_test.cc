#include "flow/people.h"

#include <doctest/doctest.h>

#include <thread>

#include "tests/domain/complaint.h"
#include "tests/flow/audit_rows.h"
#include "tests/flow/hooked_database.h"
#include "tests/support/world.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kPassword = "correct horse battery";

struct Town {
  explicit Town(People::Options options = {}) : people(db, options) {}

  void add(const std::string& name, Role role = Role::answerer,
           const std::string& password = kPassword) {
    people.add(name, role, password, kAdmin, clock.now());
  }
  // The token; empty if it was refused.
  std::string log_in(const std::string& name, const std::string& password = kPassword) {
    const auto outcome = people.log_in(name, password, "1.2.3.4", clock.now());
    REQUIRE_FALSE(std::holds_alternative<People::Busy>(outcome));
    const auto* token = std::get_if<std::string>(&outcome);
    return token ? *token : "";
  }
  // Who the cookie says they are; empty: nobody.
  std::string who(const std::string& token) {
    const auto caller = people.authenticate(token, clock.now());
    return caller ? caller->name : "";
  }

  TempDir dir;
  ManualClock clock;
  std::unique_ptr<Database> real = open_test_database(dir.path() / "people.db", clock.now());
  HookedDatabase db{*real};
  People people;
};

}  // namespace

TEST_CASE("who logs in with the right password is known by the cookie, with their role") {
  Town town;
  town.add("ana", Role::admin);
  const std::string token = town.log_in("ana");
  REQUIRE(is_token(token));
  const auto caller = town.people.authenticate(token, town.clock.now());
  REQUIRE(caller);
  CHECK(caller->kind == Caller::Kind::user);
  CHECK(caller->name == "ana");
  CHECK(caller->id == "ana");
  CHECK(caller->scopes == scopes_of(Role::admin));
  CHECK(town.log_in("ana") != token);
}

TEST_CASE("a wrong password, an unknown name and one without a password are refused alike") {
  Town town;
  town.add("ana");
  town.add("proxied", Role::viewer, "");
  for (const auto& [name, password] :
       std::vector<std::pair<std::string, std::string>>{{"ana", ""},
                                                        {"ana", kPassword + " "},
                                                        {"ana", "Correct horse battery"},
                                                        {"ben", kPassword},
                                                        {"", kPassword},
                                                        {"proxied", ""},
                                                        {"proxied", "nobody's password"},
                                                        {"ana", std::string(1025, 'x')}}) {
    CAPTURE(name);
    CHECK(std::holds_alternative<std::nullopt_t>(
        town.people.log_in(name, password, "1.2.3.4", town.clock.now())));
  }
  CHECK(audited(*town.real) == std::map<std::string, std::int64_t>{{"user_added", 2}});
}

TEST_CASE("names are the same in capitals") {
  Town town;
  town.add("Ana@Example.org");
  CHECK(town.people.list().at(0).name == "ana@example.org");
  CHECK(town.who(town.log_in("ANA@example.org")) == "ana@example.org");
  CHECK(complaint_of([&] { return town.add("ANA@EXAMPLE.ORG"), 0; }).field == "name");
  CHECK(town.people.set_role("Ana@example.org", Role::viewer, kAdmin, town.clock.now()));
  CHECK(town.people.remove("aNa@example.org", kAdmin, town.clock.now()));
}

TEST_CASE("the cookie's token is kept as a hash, and stands in no row of the audit log") {
  Town town;
  town.add("ana");
  const std::string token = town.log_in("ana");
  town.real->read([&](Transaction& tx) {
    tx.query("SELECT token_hash FROM logins", [&](const Row& row) {
      CHECK(row.string(0).size() == 64);
      CHECK(row.string(0).find(token) == std::string::npos);
    });
  });
  for (const auto& row : audit_rows(*town.real)) {
    CHECK((row.detail + row.subject + row.actor.credential).find(token) == std::string::npos);
  }
  const auto last = audit_rows(*town.real).back();
  CHECK(last.action == "logged_in");
  CHECK(last.actor.name == "ana");
  CHECK(last.actor.address == "1.2.3.4");
}

TEST_CASE("a login ends after its hours") {
  Town town({1h, std::nullopt});
  town.add("ana");
  const std::string token = town.log_in("ana");
  town.clock.advance(1h - 1ms);
  CHECK(town.who(token) == "ana");
  town.clock.advance(1ms);
  CHECK(town.who(token) == "");
}

TEST_CASE("what is no token, or nobody's, is nobody") {
  Town town;
  town.add("ana");
  const std::string token = town.log_in("ana");
  for (const std::string& other :
       {std::string(), std::string("x"), token + "x", token.substr(1), new_token()}) {
    CHECK(town.who(other) == "");
  }
}

TEST_CASE("who logs out is nobody any more, and only that login ends") {
  Town town;
  town.add("ana");
  const std::string here = town.log_in("ana"), there = town.log_in("ana");
  const Actor ana{"ana", "user:ana", "1.2.3.4"};
  town.people.log_out(here, ana, town.clock.now());
  CHECK(town.who(here) == "");
  CHECK(town.who(there) == "ana");
  town.people.log_out(here, ana, town.clock.now());
  town.people.log_out(new_token(), ana, town.clock.now());
  CHECK(audited(*town.real)["logged_out"] == 1);
}

TEST_CASE("logins end with a removal and with a new password") {
  Town town;
  town.add("ana");
  town.add("ben");
  const std::string ana = town.log_in("ana"), ben = town.log_in("ben");
  CHECK(town.people.remove("ana", kAdmin, town.clock.now()));
  CHECK(town.who(ana) == "");
  CHECK(town.log_in("ana") == "");
  CHECK(town.who(ben) == "ben");
  CHECK(town.people.set_password("ben", "another password", kAdmin, town.clock.now()));
  CHECK(town.who(ben) == "");
  CHECK(town.log_in("ben") == "");
  CHECK(town.who(town.log_in("ben", "another password")) == "ben");
}

TEST_CASE("a new role counts at once") {
  Town town;
  town.add("ana", Role::admin);
  const std::string token = town.log_in("ana");
  CHECK(town.people.set_role("ana", Role::viewer, kAdmin, town.clock.now()));
  CHECK(town.people.authenticate(token, town.clock.now())->scopes == scopes_of(Role::viewer));
}

TEST_CASE("who is not there is not changed, and no row says so") {
  Town town;
  CHECK_FALSE(town.people.remove("ana", kAdmin, town.clock.now()));
  CHECK_FALSE(town.people.set_password("ana", kPassword, kAdmin, town.clock.now()));
  CHECK_FALSE(town.people.set_role("ana", Role::admin, kAdmin, town.clock.now()));
  CHECK(audit_rows(*town.real).empty());
}

TEST_CASE("names and passwords follow their rules; else nobody is added") {
  Town town;
  const auto blame = [&](const std::string& name, const std::string& password) {
    return complaint_of([&] { return town.add(name, Role::viewer, password), 0; }).field;
  };
  for (const std::string& name :
       {std::string(), std::string(" "), std::string("a b"), std::string("key:ci"),
        std::string("a/b"), std::string("é"), std::string("a\nb"), std::string("<b>"),
        std::string("a\0b", 3), std::string(129, 'a')}) {
    CAPTURE(name);
    CHECK(blame(name, "") == "name");
  }
  CHECK(blame("ana", "9 letters") == "password");
  CHECK(blame("ana", "ééééééééé") == "password");
  CHECK(blame("ana", std::string(1025, 'x')) == "password");
  CHECK(town.people.list().empty());
  CHECK(blame("a.b-c_d@e+F9", "10 letters") == "(none)");
  CHECK(blame("long", std::string(1024, 'x')) == "(none)");
  CHECK(town.log_in("long", std::string(1024, 'x')) != "");
}

TEST_CASE("only so many may wait for their password to be checked; the rest are told at once") {
  Town town;
  town.add("ana");
  // All that were let in stand before the write that ends their login, and keep their places.
  std::mutex mutex;
  std::condition_variable changed;
  int standing = 0;
  bool open = false;
  town.db.before_write = [&] {
    std::unique_lock lock(mutex);
    ++standing;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
  };
  std::atomic<int> logged_in{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const auto outcome = town.people.log_in("ana", kPassword, "1.2.3.4", town.clock.now());
      logged_in += std::holds_alternative<std::string>(outcome);
    });
  }
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, 120s, [&] { return standing == 16; }));
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(std::holds_alternative<People::Busy>(
        town.people.log_in("ana", kPassword, "1.2.3.4", town.clock.now())));
  }
  {
    std::lock_guard lock(mutex);
    open = true;
  }
  changed.notify_all();
  for (auto& thread : threads) thread.join();
  CHECK(logged_in == 16);
  CHECK(town.log_in("ana") != "");
}

TEST_CASE("a password that was changed while it was checked opens nothing") {
  Town town;
  town.add("ana");
  People elsewhere(*town.real, {});
  town.db.before_write = [&] {
    elsewhere.set_password("ana", "another password", kAdmin, town.clock.now());
  };
  CHECK(town.who(town.log_in("ana")) == "");
}

TEST_CASE("who was removed and came back while a password was checked is somebody new") {
  Town town;
  town.add("ana", Role::viewer);
  People elsewhere(*town.real, {});
  town.db.before_write = [&] {
    elsewhere.remove("ana", kAdmin, town.clock.now());
    elsewhere.add("ana", Role::admin, "another password", kAdmin, town.clock.now());
  };
  CHECK(town.who(town.log_in("ana")) == "");
}

TEST_CASE("a trusted proxy vouches for those who are users here, in their own role") {
  Town town;
  town.add("ana", Role::admin, "");
  const auto caller = town.people.vouched_for("ANA");
  REQUIRE(caller);
  CHECK(caller->kind == Caller::Kind::user);
  CHECK(caller->name == "ana");
  CHECK(caller->scopes == scopes_of(Role::admin));
  CHECK_FALSE(town.people.vouched_for("ben"));
  CHECK_FALSE(town.people.vouched_for(""));
}

TEST_CASE("with a role for strangers a trusted proxy vouches for anybody") {
  Town town({12h, Role::answerer});
  town.add("ana", Role::viewer, "");
  CHECK(town.people.vouched_for("ana")->scopes == scopes_of(Role::viewer));
  const auto stranger = town.people.vouched_for("Ben");
  REQUIRE(stranger);
  CHECK(stranger->name == "ben");
  CHECK(stranger->scopes == scopes_of(Role::answerer));
  for (const std::string& name : {std::string(), std::string(129, 'x'), std::string("\xff"),
                                  std::string("key:ci"), std::string("a b")}) {
    CHECK_FALSE(town.people.vouched_for(name));
  }
}
