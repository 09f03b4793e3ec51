#pragma once

#include <vector>

#include "flow/journal.h"
#include "flow/notices.h"
#include "store/session_store.h"
#include "wire/turn_json.h"

namespace holdpoint {

// Sessions that a session has started and waits for. Steps of the caller's transaction. A parent is
// always locked before its children, so that no two steps wait for each other.
class SubSessions {
 public:
  explicit SubSessions(Notices& notices) : notices_(notices) {}

  // Locks what `ended` will want of a session that may be somebody's child.
  static void lock_parent(Transaction& tx, const std::optional<SessionId>& parent);

  // Starts them for the parent's turn, which waits.
  void start(Transaction& tx, Story& story, const SessionId& parent, std::int64_t turn,
             const SpawnReply& reply, Time now);
  // A session has ended. If its parent waits for it alone, that goes on.
  void ended(Transaction& tx, Story& story, const SessionId& id, Time now);
  // Ends those that the parent waits for, and tells which.
  std::vector<SessionId> cancel(Transaction& tx, Story& story, const SessionId& parent,
                                std::int64_t turn, Time now);

 private:
  Notices& notices_;
};

}  // namespace holdpoint
