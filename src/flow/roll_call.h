#pragma once

#include <optional>
#include <vector>

#include "base/loop.h"
#include "store/node_store.h"

namespace holdpoint {

// Which processes serve this database. Where several may, each says every few seconds that it is
// there; where only one can, it says so once, so that an idle machine's disk may sleep. Only for
// people to look at: nothing is decided by it, and a database that is away holds nobody up.
class RollCall {
 public:
  RollCall(Database& db, node_store::Node self, const Clock& clock);

  void start() { loop_.start(); }
  // Takes this process off the list, if the database could be reached when it last said so.
  void stop();
  // Says that this process is there, and takes those off the list that are not. Returns when to do
  // so again.
  std::optional<Time> run_once(Time now);

  struct Present {
    node_store::Node node;
    bool live = false;
    bool self = false;
  };
  // In the order in which they started. This process is always among them, and live.
  std::vector<Present> list(Time now);
  const node_store::Node& self() const { return self_; }

 private:
  Database& db_;
  const node_store::Node self_;
  const bool shared_;
  bool listed_ = false;
  Loop loop_;
};

}  // namespace holdpoint
