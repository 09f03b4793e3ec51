#include "store/node_store.h"

namespace holdpoint::node_store {

void put(Transaction& tx, const Node& node) {
  tx.post(
      "INSERT INTO nodes (id, host, address, version, started_at, seen_at) "
      "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
      node.id, node.host, node.address, node.version, node.started_at, node.seen_at);
}

void remove(Transaction& tx, const std::string& id) {
  tx.post("DELETE FROM nodes WHERE id = $1", id);
}

void remove_all_but(Transaction& tx, const std::string& id) {
  tx.post("DELETE FROM nodes WHERE id <> $1", id);
}

void remove_unseen(Transaction& tx, Time since) {
  tx.post("DELETE FROM nodes WHERE seen_at < $1", since);
}

std::vector<Node> list(Transaction& tx) {
  std::vector<Node> nodes;
  tx.query(
      "SELECT id, host, address, version, started_at, seen_at FROM nodes ORDER BY started_at, id",
      [&](const Row& row) {
        nodes.push_back(
            {row.string(0), row.string(1), row.string(2), row.string(3), row.time(4), row.time(5)});
      });
  return nodes;
}

}  // namespace holdpoint::node_store
