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

long park(const Endpoint& endpoint, long sessions) {
  ParkTally tally;
  tally.to_trigger = sessions;
  std::vector<ParkScript> each(static_cast<std::size_t>(std::min(kClients, sessions)),
                               ParkScript(endpoint.text(), tally));
  std::vector<Script*> scripts;
  for (ParkScript& script : each) scripts.push_back(&script);
  Load(endpoint, scripts).run(after(kBaseLimit + static_cast<double>(sessions) * kLimitPerSession));
  return tally.errors.count();
}

}  // namespace

Parked park_sessions(const ServerProcess& server, long sessions) {
  Parked parked;
  parked.sessions = sessions;
  parked.errors = park(server.endpoint(), kWarmUpSessions);

  const double rss_before = usage_of(server.pid()).rss_bytes;
  const auto disk = [&] {
    return static_cast<double>(server.database_bytes() + server.wal_bytes());
  };
  const double disk_before = disk();
  const Instant start = now();

  parked.errors += park(server.endpoint(), sessions);

  const auto count = static_cast<double>(sessions);
  const ProcessUsage usage = usage_of(server.pid());
  parked.per_s = count / Seconds(now() - start).count();
  parked.memory_bytes = (usage.rss_bytes - rss_before) / count;
  parked.disk_bytes = (disk() - disk_before) / count;
  parked.database_bytes = static_cast<double>(server.database_bytes());
  parked.wal_bytes = static_cast<double>(server.wal_bytes());
  parked.rss_bytes = usage.rss_bytes;
  parked.peak_rss_bytes = usage.peak_rss_bytes;
  return parked;
}

}  // namespace holdpoint::bench
