#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/session.h"
#include "domain/session_record.h"
#include "store/database.h"

// The rows of agent_sessions and agent_messages. Each function is one step of the caller's
// transaction.
namespace holdpoint::session_store {

// A turn that may run, with all that its agent gets.
struct ClaimedTurn {
  Lease lease;
  std::string agent_name;
  std::int64_t turn = 0;
  std::int64_t attempts = 0;  // This claim included.
  std::int64_t refusals = 0;
  TurnReason reason = TurnReason::start;
  Time due_since;
  std::optional<SessionId> parent_id;
  std::string payload;
  std::optional<std::string> state;
  std::optional<std::string> resume;
  std::vector<std::string> messages;
};

// Whose a turn is, and until when, that is claimed as it becomes due.
struct Seat {
  std::string node;
  Time lease_until;
};

struct NewSession {
  SessionId id;
  std::string agent_name;
  SessionStatus status = SessionStatus::running;
  std::string_view payload;
  std::optional<SessionId> parent_id;
  std::optional<std::string> idempotency_key;
  std::int64_t questions_asked = 0;
  std::optional<Seat> seat;  // Its first turn is claimed at once.
  // The parent's turn that waits for it, and the tool call that this is.
  std::optional<std::int64_t> spawned_by;
  std::optional<std::string> spawn_call;
  std::optional<std::string> dedupe_key;  // Of an ask that others may join while it is open.
};

// False if the agent has a session with the same idempotency key already, or an open ask the same
// dedupe key; then nothing was inserted.
[[nodiscard]] bool insert(Transaction& tx, const NewSession& session, Time now);

// A step that decides by what the session, its questions or its messages are now has the session to
// itself first. Unknown ones are not complained about.
void lock(Transaction& tx, const SessionId& id);
// The same, unless another step has it: then false.
[[nodiscard]] bool lock_if_free(Transaction& tx, const SessionId& id);

std::optional<Session> find(Transaction& tx, const SessionId& id);
std::optional<Session> find_by_key(Transaction& tx, const std::string& agent_name,
                                   const std::string& idempotency_key);

// The open ask of this dedupe key, locked; nothing if none is open.
std::optional<Session> lock_open_ask(Transaction& tx, const std::string& dedupe_key);
// An idempotency key's ask joined that of another session: the key stands for that one from now on.
void join(Transaction& tx, const std::string& agent_name, const std::string& idempotency_key,
          const SessionId& session);
// Takes back a row that this transaction has inserted, and nothing else refers to yet.
void withdraw(Transaction& tx, const SessionId& id);
std::optional<Session> find_joined(Transaction& tx, const std::string& agent_name,
                                   const std::string& idempotency_key);

struct Filter {
  std::optional<SessionStatus> status;
  std::optional<std::string> agent_name;
  std::string before;  // Sessions older than this id; empty: from the newest.
  std::int64_t limit = 50;
};
std::vector<Session> list(Transaction& tx, const Filter& filter);
std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx);
// What figures are made of; valid only while the visitor runs. The newest first, `most` of them.
struct Brief {
  std::string_view agent_name;
  SessionStatus status;
  std::int64_t questions_asked;
  ModelSpent spent;
};
void each_newest(Transaction& tx, std::int64_t most,
                 const std::function<void(const Brief&)>& visit);

// With up to `most` messages and as many children, and no more messages once they have `max_bytes`.
// Nothing if there is no such session.
std::optional<SessionRecord> find_record(Transaction& tx, const SessionId& id, std::int64_t most,
                                         std::size_t max_bytes);

// What the agent saved last; nothing if it did not.
std::optional<std::string> find_state(Transaction& tx, const SessionId& id);

// Leases up to `most` sessions due at `now`, the longest due first. A lease that ran out is due
// again.
std::vector<ClaimedTurn> claim(Transaction& tx, const std::string& node, Time now, Time lease_until,
                               std::int64_t most);
// The earliest time a turn is due, be it in the past.
std::optional<Time> next_due(Transaction& tx);
// Turns that are due and have no holder.
std::int64_t count_due(Transaction& tx, Time now);

// All below are writes of a turn: they change nothing and say so when the lease was lost.
enum class [[nodiscard]] Commit{done, lease_lost};

Commit extend(Transaction& tx, const Lease& lease, Time lease_until);
// Gives the turn back, to be claimed at `due`. A turn that never ran does not count as an attempt.
Commit release(Transaction& tx, const Lease& lease, Time due, bool count_attempt, Time now);
// Parks the session until its questions are settled.
Commit park(Transaction& tx, const Lease& lease, std::int64_t asked,
            const std::optional<std::string>& state, Time now);
// Ends this turn and makes the next one due at once.
struct Next {
  TurnReason reason;
  std::optional<std::string> resume;
  std::optional<std::string> state;  // Nothing: the last checkpoint's stays.
  bool refused = false;              // An ask was refused.
};
Commit advance(Transaction& tx, const Lease& lease, const Next& next, Time now);
// How far a turn has come: it goes on, and an attempt that starts after this is its first from
// here.
Commit checkpoint(Transaction& tx, const Lease& lease, std::string_view state,
                  const ModelSpent& more, Time now);
// No turn is due until resume_parent.
Commit wait_for_agents(Transaction& tx, const Lease& lease, const std::optional<std::string>& state,
                       Time now);
Commit finish(Transaction& tx, const Lease& lease, SessionStatus status,
              const std::optional<std::string>& result, const std::optional<std::string>& error,
              Time now);

// Writes of the flow that are no turn's. Each moves the session only from `pending_input`, and says
// whether it did.
bool resume(Transaction& tx, const SessionId& id, TurnReason reason, const std::string& resume,
            Time now);
// The same, and claims the turn.
std::optional<ClaimedTurn> resume_claimed(Transaction& tx, const SessionId& id, TurnReason reason,
                                          const std::string& resume, const Seat& seat, Time now);
struct ParkedEnd {
  SessionStatus status;
  TurnReason reason;
  std::string resume;
  std::optional<std::string> result;
  std::optional<std::string> error;
  std::optional<std::string> state;  // Nothing: the last checkpoint's stays.
};
bool end_parked(Transaction& tx, const SessionId& id, const ParkedEnd& end, Time now);

// Who waits for a sub-session; nothing if nobody does.
struct Spawned {
  SessionId parent_id;
  std::int64_t turn = 0;
  std::optional<std::string> call;
};
std::optional<Spawned> find_spawned(Transaction& tx, const SessionId& id);
// Those that a turn of the parent has started, the oldest first.
std::vector<Session> spawned_by(Transaction& tx, const SessionId& parent, std::int64_t turn);
// Whether the parent waits for those, and the last of them has ended. The parent must be locked.
bool awaits_agents(Transaction& tx, const SessionId& parent, std::int64_t turn);
void resume_parent(Transaction& tx, const SessionId& id, const std::string& resume, Time now);

// Ends a session that runs; its turn's lease is lost.
bool cancel_running(Transaction& tx, const SessionId& id, const std::string& error, Time now);
// Makes the last turn of a failed session due again.
bool retry(Transaction& tx, const SessionId& id, Time now);

// The leases of a process that is gone, made due at once. Returns how many.
std::int64_t reclaim(Transaction& tx, Time now);

void add_message(Transaction& tx, const SessionId& session, const MessageId& id,
                 std::string_view body, Time now);
struct Waiting {
  std::int64_t messages = 0;
  std::int64_t chars = 0;
};
Waiting waiting_messages(Transaction& tx, const SessionId& session);

// Sessions that finished before `before`, with all that belongs to them. Returns how many went,
// `most` at the most.
std::int64_t remove_finished(Transaction& tx, Time before, std::int64_t most);

}  // namespace holdpoint::session_store
