#include "store/key_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;
using key_store::StoredKey;

namespace {

StoredKey key(const std::string& id, std::optional<Time> expires_at = std::nullopt) {
  StoredKey key;
  key.id = id;
  key.name = "ci";
  key.secret_hash = "hash of " + id;
  key.scopes = {"questions:read", "webhook:poet"};
  key.created_at = kNow;
  key.expires_at = expires_at;
  return key;
}

}  // namespace

TEST_CASE("a key comes back as it was put in") {
  FreshDatabase db;
  db.write([](Transaction& tx) { key_store::insert(tx, key("a", kNow + 1h)); });
  const auto found = db.read([](Transaction& tx) { return key_store::find(tx, "a"); });
  REQUIRE(found);
  CHECK(found->id == "a");
  CHECK(found->name == "ci");
  CHECK(found->secret_hash == "hash of a");
  CHECK(found->scopes == Scopes{"questions:read", "webhook:poet"});
  CHECK(found->created_at == kNow);
  CHECK(found->expires_at == kNow + 1h);
  CHECK_FALSE(found->revoked_at);
  CHECK_FALSE(found->last_used_at);
  CHECK_FALSE(found->last_used_from);
  CHECK_FALSE(db.read([](Transaction& tx) { return key_store::find(tx, "A"); }));
}

TEST_CASE("a key lives until the moment it expires, and not when it is revoked") {
  StoredKey stored = key("a", kNow);
  CHECK(stored.is_live(kNow - 1ms));
  CHECK_FALSE(stored.is_live(kNow));
  CHECK(key("b").is_live(kNow + 24h * 36500));
  stored.revoked_at = kNow - 1h;
  CHECK_FALSE(stored.is_live(kNow - 2h));
}

TEST_CASE("a key is revoked once, and the first time stands") {
  FreshDatabase db;
  db.write([](Transaction& tx) { key_store::insert(tx, key("a")); });
  db.write([](Transaction& tx) { key_store::insert(tx, key("b")); });
  const auto revoke = [&](const char* id, Time now) {
    return db.write([&](Transaction& tx) { return key_store::revoke(tx, id, now); });
  };
  CHECK(revoke("a", kNow + 1s));
  CHECK_FALSE(revoke("a", kNow + 2s));
  CHECK_FALSE(revoke("nobody's", kNow));
  const auto keys = db.read([](Transaction& tx) { return key_store::list(tx); });
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].revoked_at == kNow + 1s);
  CHECK_FALSE(keys[1].revoked_at);
}

TEST_CASE("a use is noted on its own key") {
  FreshDatabase db;
  db.write([](Transaction& tx) {
    key_store::insert(tx, key("a"));
    key_store::insert(tx, key("b"));
    key_store::note_use(tx, "a", kNow + 5s, "1.2.3.4");
    key_store::note_use(tx, "gone", kNow, "1.2.3.4");
  });
  const auto keys = db.read([](Transaction& tx) { return key_store::list(tx); });
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].last_used_at == kNow + 5s);
  CHECK(keys[0].last_used_from == "1.2.3.4");
  CHECK_FALSE(keys[1].last_used_at);
}

TEST_CASE("once there was a key there always was one, revoked and expired or not") {
  FreshDatabase db;
  const auto any = [&] { return db.read([](Transaction& tx) { return key_store::any(tx); }); };
  CHECK_FALSE(any());
  db.write([](Transaction& tx) { key_store::insert(tx, key("a", kNow - 1h)); });
  CHECK(db.write([](Transaction& tx) { return key_store::revoke(tx, "a", kNow); }));
  CHECK(any());
}

TEST_CASE("two keys cannot have one id") {
  FreshDatabase db;
  db.write([](Transaction& tx) { key_store::insert(tx, key("a")); });
  CHECK_THROWS_AS(db.write([](Transaction& tx) { key_store::insert(tx, key("a")); }), StoreError);
}
