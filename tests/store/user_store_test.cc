#include "store/user_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;
using user_store::StoredUser;

namespace {

struct Users : FreshDatabase {
  bool insert(const std::string& name, Role role = Role::answerer, const std::string& hash = "h",
              Time now = kNow) {
    return write([&](Transaction& tx) {
      return user_store::insert(tx, {name, role, hash, now, {}, {}});
    });
  }
  std::optional<StoredUser> find(const std::string& name) {
    return read([&](Transaction& tx) { return user_store::find(tx, name); });
  }
  bool remove(const std::string& name) {
    return write([&](Transaction& tx) { return user_store::remove(tx, name, kNow); });
  }
  void log_in(const std::string& token_hash, const std::string& name, Time until = kNow + 12h) {
    write([&](Transaction& tx) { user_store::insert_login(tx, token_hash, name, kNow, until); });
  }
  // Whose login it is; empty: nobody's.
  std::string login(const std::string& token_hash, Time now = kNow) {
    const auto user =
        read([&](Transaction& tx) { return user_store::find_by_login(tx, token_hash, now); });
    return user ? user->name : "";
  }
};

}  // namespace

TEST_CASE("a user comes back as they were put in") {
  Users users;
  CHECK(users.insert("ana", Role::admin, "hash"));
  const auto ana = users.find("ana");
  REQUIRE(ana);
  CHECK(ana->name == "ana");
  CHECK(ana->role == Role::admin);
  CHECK(ana->password_hash == "hash");
  CHECK(ana->created_at == kNow);
  CHECK_FALSE(ana->last_login_at);
  CHECK_FALSE(users.find("ben"));
}

TEST_CASE("a user without a password has none, rather than an empty one") {
  Users users;
  CHECK(users.insert("ana", Role::viewer, ""));
  CHECK(users.find("ana")->password_hash == "");
  bool is_null = false;
  users.read([&](Transaction& tx) {
    tx.query("SELECT password_hash FROM users", [&](const Row& row) { is_null = row.is_null(0); });
  });
  CHECK(is_null);
}

TEST_CASE("a name that is there is not taken over") {
  Users users;
  CHECK(users.insert("ana", Role::viewer, "first"));
  CHECK_FALSE(users.insert("ana", Role::admin, "second"));
  CHECK(users.find("ana")->role == Role::viewer);
  CHECK(users.find("ana")->password_hash == "first");
}

TEST_CASE("a name that was removed may come back, as somebody new") {
  Users users;
  CHECK(users.insert("ana", Role::admin, "old"));
  users.log_in("cookie", "ana");
  CHECK(users.remove("ana"));
  CHECK_FALSE(users.find("ana"));
  CHECK_FALSE(users.remove("ana"));
  CHECK(users.insert("ana", Role::viewer, "new", kNow + 1h));
  const auto ana = users.find("ana");
  REQUIRE(ana);
  CHECK(ana->role == Role::viewer);
  CHECK(ana->password_hash == "new");
  CHECK(ana->created_at == kNow + 1h);
  CHECK_FALSE(ana->removed_at);
  CHECK_FALSE(ana->last_login_at);
  CHECK(users.login("cookie") == "");
}

TEST_CASE("those who are there are listed by name") {
  Users users;
  for (const char* name : {"cleo", "ana", "ben"}) CHECK(users.insert(name));
  CHECK(users.remove("ben"));
  std::vector<std::string> names;
  for (const auto& user : users.read([](Transaction& tx) { return user_store::list(tx); })) {
    names.push_back(user.name);
  }
  CHECK(names == std::vector<std::string>{"ana", "cleo"});
}

TEST_CASE("once there was a user there always was one, removed or not") {
  Users users;
  const auto any = [&] { return users.read([](Transaction& tx) { return user_store::any(tx); }); };
  CHECK_FALSE(any());
  CHECK(users.insert("ana"));
  CHECK(users.remove("ana"));
  CHECK(any());
}

TEST_CASE("a login is its user's until the moment it expires") {
  Users users;
  CHECK(users.insert("ana"));
  users.log_in("cookie", "ana", kNow + 1h);
  CHECK(users.login("cookie", kNow + 1h - 1ms) == "ana");
  CHECK(users.login("cookie", kNow + 1h) == "");
  CHECK(users.login("another") == "");
  CHECK(users.find("ana")->last_login_at == kNow);
}

TEST_CASE("all of a user's logins end with their removal, and nobody else's") {
  Users users;
  CHECK(users.insert("ana"));
  CHECK(users.insert("ben"));
  users.log_in("a1", "ana");
  users.log_in("a2", "ana");
  users.log_in("b", "ben");
  CHECK(users.remove("ana"));
  CHECK(users.login("a1") == "");
  CHECK(users.login("a2") == "");
  CHECK(users.login("b") == "ben");
  CHECK(users.count("logins") == 1);
}

TEST_CASE("all of a user's logins end with a new password, and nobody else's") {
  Users users;
  CHECK(users.insert("ana"));
  CHECK(users.insert("ben"));
  users.log_in("a", "ana");
  users.log_in("b", "ben");
  CHECK(users.write([](Transaction& tx) { return user_store::set_password(tx, "ana", "new"); }));
  CHECK(users.find("ana")->password_hash == "new");
  CHECK(users.login("a") == "");
  CHECK(users.login("b") == "ben");
  CHECK(users.find("ben")->password_hash == "h");
}

TEST_CASE("a new role counts for logins that are there already") {
  Users users;
  CHECK(users.insert("ana", Role::admin));
  users.log_in("a", "ana");
  CHECK(users.write([](Transaction& tx) { return user_store::set_role(tx, "ana", Role::viewer); }));
  const auto user =
      users.read([](Transaction& tx) { return user_store::find_by_login(tx, "a", kNow); });
  REQUIRE(user);
  CHECK(user->role == Role::viewer);
}

TEST_CASE("who is not there, or was removed, is not changed") {
  Users users;
  CHECK(users.insert("gone"));
  CHECK(users.remove("gone"));
  for (const char* name : {"gone", "never"}) {
    CHECK_FALSE(users.remove(name));
    users.write([&](Transaction& tx) {
      CHECK_FALSE(user_store::set_password(tx, name, "new"));
      CHECK_FALSE(user_store::set_role(tx, name, Role::admin));
    });
    CHECK_FALSE(users.find(name));
  }
}

TEST_CASE("a login can be ended by itself, and expired ones are swept") {
  Users users;
  CHECK(users.insert("ana"));
  users.log_in("a", "ana");
  users.log_in("b", "ana");
  users.log_in("c", "ana", kNow + 1h);
  users.write([](Transaction& tx) {
    CHECK(user_store::remove_login(tx, "a"));
    CHECK_FALSE(user_store::remove_login(tx, "a"));
    CHECK(user_store::remove_expired_logins(tx, kNow + 1h - 1ms) == 0);
    CHECK(user_store::remove_expired_logins(tx, kNow + 1h) == 1);
  });
  CHECK(users.login("a") == "");
  CHECK(users.login("b") == "ana");
  CHECK(users.count("logins") == 1);
}
