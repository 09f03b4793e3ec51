#include "parked.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "errors.h"
#include "http_message.h"
#include "json_scan.h"
#include "load.h"
#include "process_usage.h"

namespace holdpoint::bench {
namespace {

constexpr long kClients = 16;
constexpr long kWarmUpSessions = 1000;
constexpr Seconds kBaseLimit{60};
constexpr Seconds kLimitPerSession{0.05};

struct ParkTally {
  long to_trigger = 0;
  Errors errors;
};

// One client: triggers a session and sees it park, while there are sessions left to trigger.
class ParkScript : public Script {
 public:
  ParkScript(std::string host, ParkTally& tally) : host_(std::move(host)), tally_(tally) {}

  std::optional<std::string> begin(Instant) override {
    if (tally_.to_trigger == 0 || tally_.errors.too_many()) return std::nullopt;
    --tally_.to_trigger;
    triggered_ = false;
    return post_request(host_, "/agent/webhook/bench", R"({"topic":"autumn"})");
  }

  std::optional<std::string> on_response(const Response& response, Instant now) override {
    const bool success = response.status >= 200 && response.status <= 299;
    if (success && !triggered_) {
      triggered_ = true;
      const std::string session(text_of(member(response.body, "session_id")));
      return get_request(host_, "/agent/session/" + session + "?wait=30");
    }
    if (!success || text_of(member(response.body, "status")) != "pending_input")
      tally_.errors.add(triggered_ ? "the session did not park" : "trigger", response);
    return begin(now);
  }

  std::optional<std::string> on_failure(const std::string& reason, Instant now) override {
    tally_.errors.add("park: " + reason);
    return begin(now);
  }

 private:
  std::string host_;
  ParkTally& tally_;
  bool triggered_ = false;
};

long park(const std::vector<Endpoint>& endpoints, long sessions) {
  ParkTally tally;
  tally.to_trigger = sessions;
  std::vector<ParkScript> each(static_cast<std::size_t>(std::min(kClients, sessions)),
                               ParkScript(endpoints.front().text(), tally));
  std::vector<Script*> scripts;
  for (ParkScript& script : each) scripts.push_back(&script);
  Load(endpoints, scripts)
      .run(after(kBaseLimit + static_cast<double>(sessions) * kLimitPerSession));
  return tally.errors.count();
}

// Of all nodes together.
ProcessUsage memory_of(const Deployment& deployment) {
  ProcessUsage sum;
  for (const ProcessUsage& node : deployment.usage()) {
    sum.rss_bytes += node.rss_bytes;
    sum.peak_rss_bytes += node.peak_rss_bytes;
  }
  return sum;
}

}  // namespace

Parked park_sessions(const Deployment& deployment, long sessions) {
  const std::vector<Endpoint> endpoints = deployment.endpoints();
  Parked parked;
  parked.setup = deployment.setup();
  parked.sessions = sessions;
  parked.errors = park(endpoints, kWarmUpSessions);

  const double rss_before = memory_of(deployment).rss_bytes;
  const DiskUse disk_before = deployment.disk();
  const Instant start = now();

  parked.errors += park(endpoints, sessions);

  const auto count = static_cast<double>(sessions);
  parked.per_s = count / Seconds(now() - start).count();
  const ProcessUsage memory = memory_of(deployment);
  const DiskUse disk = deployment.disk();
  parked.memory_bytes = (memory.rss_bytes - rss_before) / count;
  parked.disk_bytes =
      (disk.database_bytes + disk.wal_bytes - disk_before.database_bytes - disk_before.wal_bytes) /
      count;
  parked.database_bytes = disk.database_bytes;
  parked.wal_bytes = disk.wal_bytes;
  parked.rss_bytes = memory.rss_bytes;
  parked.peak_rss_bytes = memory.peak_rss_bytes;
  return parked;
}

}  // namespace holdpoint::bench
