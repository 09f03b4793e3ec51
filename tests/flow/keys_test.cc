#include "flow/keys.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"
#include "tests/flow/audit_rows.h"
#include "tests/flow/hooked_database.h"
#include "tests/support/world.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A server's keys, without its threads.
struct Office {
  Keys::Made create(std::vector<std::string> scopes = {"sessions:read"},
                    std::optional<Duration> lives = std::nullopt) {
    return keys.create({"ci", std::move(scopes), lives}, kAdmin, clock.now());
  }
  std::optional<Caller> authenticate(const std::string& text, const std::string& from = "1.2.3.4") {
    return keys.authenticate(text, from, clock.now());
  }
  key_store::StoredKey stored() { return keys.list().at(0); }

  TempDir dir;
  ManualClock clock;
  std::unique_ptr<Database> real = open_test_database(dir.path() / "keys.db", clock.now());
  HookedDatabase db{*real};
  Keys keys{db, clock};
};

}  // namespace

TEST_CASE("a new key is known by its text, with its name and scopes") {
  Office office;
  const auto made = office.create({"sessions:read", "webhook:poet"});
  const auto caller = office.authenticate(made.text);
  REQUIRE(caller);
  CHECK(caller->kind == Caller::Kind::key);
  CHECK(caller->name == "ci");
  CHECK(caller->id == made.key.id);
  CHECK(caller->scopes == Scopes{"sessions:read", "webhook:poet"});
}

TEST_CASE("of a key's secret only a hash is kept, in the audit log nothing") {
  Office office;
  const auto made = office.create();
  const auto secret = ApiKey::parse(made.text)->secret;
  const auto key = office.stored();
  CHECK(key.secret_hash.size() == 64);
  CHECK(key.secret_hash.find(secret) == std::string::npos);
  const auto row = audit_rows(*office.real).at(0);
  CHECK(row.action == "key_created");
  CHECK(row.actor.name == kAdmin.name);
  CHECK(row.subject == "key:" + made.key.id);
  CHECK(row.detail == "ci: sessions:read");
}

TEST_CASE("a key with another secret, another id or no form is not known") {
  Office office;
  const auto made = office.create();
  const auto other = office.create();
  const auto key = ApiKey::parse(made.text).value();
  for (const std::string& text : {std::string(), std::string("hp_"), made.text + "a",
                                  made.text.substr(1), ApiKey{key.id, new_token()}.text(),
                                  ApiKey{key.id, ApiKey::parse(other.text)->secret}.text(),
                                  ApiKey{"0123456789abcdef", key.secret}.text(),
                                  ApiKey{key.id, made.key.secret_hash.substr(0, 43)}.text()}) {
    CAPTURE(text);
    CHECK_FALSE(office.authenticate(text));
  }
  CHECK(office.authenticate(made.text));
}

TEST_CASE("a key is known until it expires") {
  Office office;
  const auto made = office.create({"admin"}, 24h);
  CHECK(made.key.expires_at == office.clock.now() + 24h);
  office.clock.advance(24h - 1ms);
  CHECK(office.authenticate(made.text));
  office.clock.advance(1ms);
  CHECK_FALSE(office.authenticate(made.text));
}

TEST_CASE("a key is known until it is revoked, at once and for good") {
  Office office;
  const auto made = office.create();
  const auto other = office.create();
  CHECK(office.authenticate(made.text));
  CHECK(office.keys.revoke(made.key.id, kAdmin, office.clock.now()) == Keys::Revoked::done);
  CHECK_FALSE(office.authenticate(made.text));
  CHECK(office.authenticate(other.text));
  CHECK(office.keys.revoke(made.key.id, kAdmin, office.clock.now()) == Keys::Revoked::already);
  CHECK(office.keys.revoke("nobody's", kAdmin, office.clock.now()) == Keys::Revoked::unknown);
  CHECK(audited(*office.real) ==
        std::map<std::string, std::int64_t>{{"key_created", 2}, {"key_revoked", 1}});
}

TEST_CASE("a name has 1 to 64 characters, and scopes follow their rules; else nothing is made") {
  Office office;
  const auto blame = [&](const std::string& name, std::vector<std::string> scopes) {
    return complaint_of([&] {
             return office.keys.create({name, std::move(scopes), {}}, kAdmin, office.clock.now());
           })
        .field;
  };
  for (const std::string& name : {std::string(), std::string(" "), std::string(65, 'x'),
                                  std::string("\xff"), std::string("a\0b", 3)}) {
    CHECK(blame(name, {"admin"}) == "name");
  }
  CHECK(blame("ci", {}) == "scopes");
  CHECK(blame("ci", {"all"}) == "scopes");
  CHECK(blame("ci", {"questions:ask", "questions:answer"}) == "scopes");
  CHECK(office.keys.list().empty());
  CHECK(audit_rows(*office.real).empty());
  std::string longest;
  for (int i = 0; i < 64; ++i) longest += "é";
  CHECK(blame(longest, {"admin"}) == "(none)");
}

TEST_CASE("a use is written down with its time and address, by the newest") {
  Office office;
  const auto made = office.create();
  CHECK_FALSE(office.stored().last_used_at);
  office.authenticate(made.text, "1.1.1.1");
  office.clock.advance(1s);
  office.authenticate(made.text, "2.2.2.2");
  const Time used = office.clock.now();
  CHECK_FALSE(office.stored().last_used_at);  // Requests do not wait for it.
  office.keys.run_once(office.clock.now());
  CHECK(office.stored().last_used_at == used);
  CHECK(office.stored().last_used_from == "2.2.2.2");
}

TEST_CASE("a wrong, expired or revoked key leaves no use") {
  Office office;
  const auto made = office.create({"admin"}, 1h);
  const auto key = ApiKey::parse(made.text).value();
  office.authenticate(ApiKey{key.id, new_token()}.text());
  office.clock.advance(1h);
  office.authenticate(made.text);
  office.keys.run_once(office.clock.now());
  CHECK_FALSE(office.stored().last_used_at);
}

TEST_CASE("uses are written at most once a minute, however many there are") {
  Office office;
  const auto made = office.create();
  int writes = 0;
  office.db.before_write = [&] { ++writes; };
  const Time start = office.clock.now();
  for (int second = 0; second < 300; ++second) {
    office.clock.set(start + std::chrono::seconds{second});
    office.authenticate(made.text);
    const auto next = office.keys.run_once(office.clock.now());
    // Asked too early it names the time when it may.
    if (next) CHECK(*next <= office.clock.now() + 60s);
  }
  CHECK(writes == 5);
  CHECK(office.stored().last_used_at == start + 240s);
  office.clock.set(start + 300s);
  office.keys.run_once(office.clock.now());
  CHECK(office.stored().last_used_at == start + 299s);
  office.clock.advance(10min);
  CHECK_FALSE(office.keys.run_once(office.clock.now()));
  CHECK(writes == 6);
}

TEST_CASE("what is not written yet is written at stop") {
  Office office;
  const auto made = office.create();
  office.authenticate(made.text);
  office.keys.run_once(office.clock.now());
  office.clock.advance(1s);
  office.authenticate(made.text, "9.9.9.9");
  office.keys.stop();
  CHECK(office.stored().last_used_at == office.clock.now());
  CHECK(office.stored().last_used_from == "9.9.9.9");
  office.keys.stop();  // Twice is once.
}

TEST_CASE("the loop writes uses down by itself") {
  Office office;
  const auto made = office.create();
  office.keys.start();
  office.authenticate(made.text);
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!office.stored().last_used_at && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  CHECK(office.stored().last_used_at == office.clock.now());
  office.keys.stop();
}

TEST_CASE("a use whose write failed is written when the store takes it again") {
  Office office;
  const auto made = office.create();
  office.authenticate(made.text);
  office.db.before_write = [] { throw StoreError("disk full", true); };
  CHECK_THROWS_AS(office.keys.run_once(office.clock.now()), StoreError);
  office.db.before_write = nullptr;
  office.clock.advance(61s);
  office.keys.run_once(office.clock.now());
  CHECK(office.stored().last_used_at == office.clock.now() - 61s);
}
