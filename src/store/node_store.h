#pragma once

#include <string>
#include <vector>

#include "store/database.h"

// The rows of nodes. Each function is one step of the caller's transaction.
namespace holdpoint::node_store {

// A process that serves this database.
struct Node {
  std::string id;
  std::string host;
  std::string address;  // What it listens on.
  std::string version;
  Time started_at;
  Time seen_at;
  bool operator==(const Node&) const = default;
};

// Adds the node, or notes that it was seen at `node.seen_at`.
void put(Transaction& tx, const Node& node);
void remove(Transaction& tx, const std::string& id);
void remove_all_but(Transaction& tx, const std::string& id);
void remove_unseen(Transaction& tx, Time since);
// In the order in which they started.
std::vector<Node> list(Transaction& tx);

}  // namespace holdpoint::node_store
