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

// Numbers are given in the order of writing. Who decides by an order of commits must lock the session
// first.
void append(Transaction& tx, const SessionId& session, std::string_view type, Time at,
            std::string_view data);

// Events after `seq`, oldest first.
std::vector<StoredEvent> after(Transaction& tx, std::int64_t seq, std::int64_t limit);
std::vector<StoredEvent> after(Transaction& tx, const SessionId& session, std::int64_t seq,
                               std::int64_t limit);
std::int64_t last_seq(Transaction& tx);

// On a shared database an event with a lower number may become visible after one with a higher one:
// not any more once all transactions below `begun` of that moment have ended.
struct OpenTransactions {
  std::int64_t ended = 0;  // All with lower numbers have.
  std::int64_t begun = 0;  // None with this or a higher one has.
};
OpenTransactions open_transactions(Transaction& tx);

}  // namespace holdpoint::event_store
