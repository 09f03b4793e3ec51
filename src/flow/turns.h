#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "agents/runner.h"
#include "base/guarded.h"
#include "base/loop.h"
#include "flow/turn_end.h"

namespace holdpoint {

// Claims due turns, runs each on a worker, and keeps their leases alive meanwhile.
class Turns final : public Seats {
 public:
  struct Options {
    std::string node;
    std::size_t workers = 64;
    Duration turn_timeout{300'000};
    Duration lease{30'000};
    std::size_t max_reply_bytes = 4 << 20;
    std::int64_t max_attempts = 5;
  };
  using Runners = std::map<RunnerKind, Runner*>;

  Turns(Database& db, Journal& journal, TurnEnd& end, Metrics& metrics, Agents& agents,
        Runners runners, const Clock& clock, Options options);
  ~Turns() override { stop(Duration{0}); }

  // Leases left by a process that is gone, made due at once. Only where no other process shares the
  // database.
  void reclaim(Time now);
  void start();
  void wake() { claimer_.wake(); }
  // Claims no more; turns under way get `grace` to end, then they are stopped and given back.
  void stop(Duration grace);

  // Claims what is due, as far as there are workers, and hands it to them. Returns when the next
  // turn is due.
  std::optional<Time> run_once(Time now);
  // Extends the leases of the turns under way; stops those that were lost.
  void heartbeat(Time now);
  // One claimed turn to its end, in the caller's thread.
  void run(session_store::ClaimedTurn turn);

  // What run_once hands to workers; tests run them by hand.
  std::vector<session_store::ClaimedTurn> claim(Time now, std::int64_t most);

  // Stops the session's turn if it runs here; its lease must be gone already.
  void abandon(const SessionId& session);
  std::int64_t running();
  // Whether a turn that is due now would be claimed here at once.
  bool has_room();

  std::optional<session_store::Seat> take(Time now) override;
  void give_back() override { --offered_; }
  void start(session_store::ClaimedTurn turn) override;

 private:
  struct Running {
    Lease lease;
    std::atomic<bool> abandoned{false};
  };
  // Shared between the worker that runs the turn and whoever may stop it.
  using RunningTurns = std::unordered_map<SessionId, std::shared_ptr<Running>>;

  // Hands the turn to a worker.
  void submit(session_store::ClaimedTurn turn);
  void execute(session_store::ClaimedTurn& turn, const std::shared_ptr<Running>& running);
  void reply(const session_store::ClaimedTurn& turn, const AgentDefinition& agent,
             const std::string& text);
  // Repeats a write of a turn until the store takes it, the lease is lost or the server stops.
  template <class Write>
  void persist(const Running& running, Write write);
  // Under the turn's lease. Its attempts count from here. Throws TurnFailed if that was lost.
  void checkpoint(session_store::ClaimedTurn& turn, const Checkpoint& step);
  void record_output(const session_store::ClaimedTurn& turn, std::vector<std::string> lines);

  Database& db_;
  Journal& journal_;
  TurnEnd& end_;
  Metrics& metrics_;
  Agents& agents_;
  const Runners runners_;
  const Clock& clock_;
  const Options options_;
  std::atomic<bool> closing_{false};  // Claims no more.
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> offered_{0};
  Guarded<RunningTurns> running_;
  Pool workers_;
  Loop claimer_;
  Loop keeper_;
};

}  // namespace holdpoint
