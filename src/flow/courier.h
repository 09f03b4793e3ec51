#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/loop.h"
#include "channels/channel.h"
#include "domain/actor.h"
#include "flow/journal.h"
#include "flow/metrics.h"
#include "flow/notices.h"

namespace holdpoint {

// Sends what the outbox owes: at least once, on each delivery's own schedule, a few at a time to
// each host, so that a receiver that hangs holds up nobody but itself.
class Courier {
 public:
  struct Options {
    std::size_t workers = 256;  // So many hosts may hang before one that does not has to wait.
    std::size_t per_host = 4;
    Duration lease{60'000};  // Longer than any attempt takes.
    // Whether those who may answer an agent's questions may call them off.
    std::function<bool(const std::string& agent_name)> may_cancel;
  };
  using Channels = std::map<std::string, Channel*>;

  Courier(Database& db, Journal& journal, Notices& notices, Metrics& metrics, Channels channels,
          const Clock& clock, Options options);
  ~Courier() { stop(); }

  // What a process that is gone was sending, put back in line. Only where no other process shares
  // the database.
  void reclaim(Time now);
  void start() { loop_.start(); }
  void wake() { loop_.wake(); }
  // Sends no more; attempts under way are broken off and given back, to be made by another node or
  // after the next start.
  void stop();

  // Claims what is due and hands it to the workers. Returns when the next attempt is due.
  std::optional<Time> run_once(Time now);
  // Claims what is due for tests and run_once, as far as hosts have room.
  std::vector<Delivery> claim(Time now);
  // One claimed attempt to its end, in the caller's thread.
  void attempt(const Delivery& delivery);

  // Whether what is due now would be claimed here, unless its host has enough.
  bool has_room();

  enum class Redelivery { done, unknown, still_pending };
  // Owes a settled delivery again, and lifts a ban on its destination.
  Redelivery redeliver(const DeliveryId& id, const Actor& by, Time now);

 private:
  // What is under way, and who asked for a rest, by host.
  struct Traffic {
    std::map<std::string, std::size_t> in_flight;
    std::map<std::string, Time> resting;  // Of a host, or of all hosts of a platform.
    std::size_t busy(const std::string& host) const;
    std::optional<Time> rests_until(const std::string& host, Time now) const;
  };
  std::size_t free_workers(const Traffic& traffic) const;
  // The message of this attempt, as its questions are now.
  Outgoing compose(const Delivery& delivery);
  SendOutcome send(const Outgoing& message);
  // Nobody is to be told any more what it says.
  void drop(const Delivery& delivery);
  void record(const Outgoing& message, const SendOutcome& outcome, Time now);
  // Again while the store cannot take it, so that what arrived is not sent once more for that.
  void record_patiently(const Outgoing& message, const SendOutcome& outcome);
  // A message arrived that shows its questions as they were when it was sent.
  void catch_up(Transaction& tx, Story& story, const Outgoing& sent, Time now);
  // Puts an attempt that was not made, or broken off, back in line.
  void give_back(const Delivery& delivery);

  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Metrics& metrics_;
  const Channels channels_;
  const Clock& clock_;
  const Options options_;
  std::atomic<bool> stopping_{false};
  Guarded<Traffic> traffic_;
  Pool workers_;
  Loop loop_;
};

}  // namespace holdpoint
