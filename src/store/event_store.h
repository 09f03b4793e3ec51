#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "store/database.h"

// The rows of agent_events: every session's history, in one order for all.
namespace holdpoint::event_store {

struct StoredEvent {
  std::int64_t seq = 0;
  SessionId session_id;
  std::string type;
  Time at;
  std::string data;  // A JSON object.
};

void append(Transaction& tx, const SessionId& session, std::string_view type, Time at,
            std::string_view data);

// Events after `seq`, oldest first.
std::vector<StoredEvent> after(Transaction& tx, std::int64_t seq, std::int64_t limit);
std::vector<StoredEvent> after(Transaction& tx, const SessionId& session, std::int64_t seq,
                               std::int64_t limit);
std::int64_t last_seq(Transaction& tx);

// On a shared database an event with a lower number may become visible after one with a higher one.
// Transactions are numbered before their events are: so none can come any more before an event that
// was seen, once all transactions below one begun afterwards have ended.
std::int64_t this_transaction(Transaction& tx);
std::int64_t oldest_transaction(Transaction& tx);  // That is open.

}  // namespace holdpoint::event_store
