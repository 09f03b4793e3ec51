#include "store/secret_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("the first secret of a name stays, over restarts too") {
  FreshDatabase db;
  const auto secret = [&](const char* name, const char* fresh) {
    return db.write([&](Transaction& tx) { return secret_store::find_or_insert(tx, name, fresh); });
  };
  CHECK(secret("forms", "first") == "first");
  CHECK(secret("forms", "second") == "first");
  CHECK(secret("other", "third") == "third");
  db.db.reset();
  db.db = open_test_database(db.dir.path() / "test.db", kNow);
  CHECK(secret("forms", "fourth") == "first");
}
