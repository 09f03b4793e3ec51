#include "store/node_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;
using node_store::Node;

namespace {

Node node(const std::string& id, Time started_at, Time seen_at) {
  return {id, "host of " + id, "127.0.0.1:8080", "1.2.3", started_at, seen_at};
}

struct Nodes : FreshDatabase {
  void put(const Node& one) {
    write([&](Transaction& tx) { node_store::put(tx, one); });
  }
  std::vector<Node> all() {
    return read([](Transaction& tx) { return node_store::list(tx); });
  }
};

}  // namespace

TEST_CASE("nodes are listed as they were put, in the order in which they started") {
  Nodes nodes;
  const Node late = node("a", kNow + 5s, kNow + 5s), early = node("b", kNow, kNow + 9s);
  nodes.put(late);
  nodes.put(early);
  CHECK(nodes.all() == std::vector<Node>{early, late});
}

TEST_CASE("a node that is put again was only seen again") {
  Nodes nodes;
  nodes.put(node("a", kNow, kNow));
  nodes.put({"a", "another", "another", "another", kNow + 1h, kNow + 10s});
  CHECK(nodes.all() == std::vector<Node>{node("a", kNow, kNow + 10s)});
}

TEST_CASE("one node, all others, or those that were not seen for long are taken off") {
  Nodes nodes;
  for (const int n : {0, 1, 2, 3}) {
    const Time at = kNow + std::chrono::seconds{n};
    nodes.put(node(std::to_string(n), at, at));
  }
  const auto ids = [&] {
    std::string text;
    for (const auto& one : nodes.all()) text += one.id;
    return text;
  };
  nodes.write([](Transaction& tx) { node_store::remove_unseen(tx, kNow + 1s); });
  CHECK(ids() == "123");
  nodes.write([](Transaction& tx) { node_store::remove(tx, "2"); });
  CHECK(ids() == "13");
  nodes.write([](Transaction& tx) { node_store::remove_all_but(tx, "3"); });
  CHECK(ids() == "3");
}
