#include <doctest/doctest.h>

#include <thread>

#include "base/guarded.h"
#include "tests/store/relay.h"
#include "tests/support/eventually.h"
#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Listens in a thread of its own for as long as it lives.
struct Ear {
  explicit Ear(Database& db) : bulletin(*db.bulletin()) {
    thread = std::thread([this] {
      bulletin.listen([this](std::string_view text) {
        if (text.starts_with("probe ")) return;  // Another's, to see whether it hears itself.
        texts.with([&](auto& all) { all.emplace_back(text); });
      });
    });
  }
  ~Ear() { stop(); }
  void stop() {
    bulletin.stop();
    if (thread.joinable()) thread.join();
  }
  std::vector<std::string> heard() {
    return texts.with([](auto& all) { return all; });
  }
  bool opens() {
    return eventually([&] { return bulletin.is_open(); });
  }
  bool hears(const std::vector<std::string>& all) {
    return eventually([&] { return heard() == all; });
  }

  Bulletin& bulletin;
  Guarded<std::vector<std::string>> texts;
  std::thread thread;
};

void post(Database& db, const std::vector<std::string>& texts) { db.bulletin()->post(texts); }

}  // namespace

TEST_CASE("what one posts all hear who listen on the same schema, in order" * on_postgres()) {
  PostgresSchema schema;
  const auto one = schema.open(), other = schema.open();
  Ear ear(*one), other_ear(*other);
  CHECK(ear.opens());
  CHECK(other_ear.opens());
  post(*one, {"first", "second"});
  post(*one, {"third"});
  CHECK(ear.hears({"first", "second", "third"}));
  CHECK(other_ear.hears({"first", "second", "third"}));
}

TEST_CASE("what is posted in one schema is not heard in another" * on_postgres()) {
  PostgresSchema here, there;
  const auto db = here.open(), stranger = there.open();
  Ear ear(*db);
  CHECK(ear.opens());
  post(*stranger, {"not for you"});
  post(*db, {"for you"});
  CHECK(ear.hears({"for you"}));
}

TEST_CASE("what a listener sends to see whether it hears itself is for nobody else" *
          on_postgres()) {
  PostgresSchema schema;
  const auto one = schema.open(), other = schema.open();
  std::atomic<int> probes{0};
  std::thread listening([&] {
    one->bulletin()->listen([&](std::string_view text) { probes += text.starts_with("probe "); });
  });
  CHECK(eventually([&] { return one->bulletin()->is_open(); }));
  Ear ear(*other);
  CHECK(ear.opens());
  post(*other, {"hello"});
  CHECK(ear.hears({"hello"}));
  one->bulletin()->stop();
  listening.join();
  CHECK(probes == 0);
}

TEST_CASE("a text may be as long as is promised, and hold any character" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open();
  Ear ear(*db);
  CHECK(ear.opens());
  const std::string longest(Bulletin::kMaxText, 'x');
  const std::string odd = "it's \"odd\" 🦜\n";
  post(*db, {longest, odd, "a"});
  CHECK(ear.hears({longest, odd, "a"}));
}

TEST_CASE("posting with nobody to hear it, or nothing to post, is fine" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open();
  CHECK_NOTHROW(post(*db, {"hello"}));
  CHECK_NOTHROW(post(*db, {}));
  CHECK_FALSE(db->bulletin()->is_open());
}

TEST_CASE("who listens stops soon after being told so, and at once if told before" *
          on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open();
  Ear ear(*db);
  CHECK(ear.opens());
  const auto start = std::chrono::steady_clock::now();
  ear.stop();
  CHECK(std::chrono::steady_clock::now() - start < 2s);

  const auto another = schema.open();
  another->bulletin()->stop();
  another->bulletin()->listen([](std::string_view) {});  // Returns.
}

TEST_CASE("a listener whose connection is cut says that it hears nothing, and listens again" *
          on_postgres()) {
  PostgresSchema schema;
  Relay relay(schema.url);
  const auto db = schema.open_at(relay.url());
  const auto other = schema.open();
  Ear ear(*db);
  CHECK(ear.opens());
  relay.go_away();
  CHECK(eventually([&] { return !ear.bulletin.is_open(); }));
  relay.come_back();
  CHECK(ear.opens());
  post(*other, {"hello again"});
  CHECK(ear.hears({"hello again"}));
}

TEST_CASE("a posted text that cannot be sent is told so, and does not spoil the connection" *
          on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(1);
  const auto pid = backend(*db);
  CHECK_THROWS_AS(post(*db, {"fine", std::string(9000, 'x')}), StoreError);
  CHECK_THROWS_AS(post(*db, {"\xff"}), StoreError);
  CHECK_NOTHROW(post(*db, {"fine"}));
  CHECK(backend(*db) == pid);
}
