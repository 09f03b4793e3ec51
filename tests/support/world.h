#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/runner.h"
#include "base/guarded.h"
#include "channels/url_channel.h"
#include "flow/answers.h"
#include "flow/clicks.h"
#include "flow/control.h"
#include "flow/courier.h"
#include "flow/expiry.h"
#include "flow/feed.h"
#include "flow/intake.h"
#include "flow/links.h"
#include "flow/retention.h"
#include "flow/turns.h"
#include "flow/views.h"
#include "store/sqlite.h"
#include "tests/support/temp_dir.h"
#include "wire/json.h"

namespace holdpoint::test {

using namespace std::chrono_literals;

class ManualClock final : public Clock {
 public:
  Time now() const override { return Time{Duration{millis_.load()}}; }
  void advance(Duration by) { millis_ += by.count(); }
  void set(Time time) { millis_ = time.time_since_epoch().count(); }

 private:
  std::atomic<std::int64_t> millis_{
      parse_iso("2026-11-16T09:00:00.000Z")->time_since_epoch().count()};
};

// The other side of every outgoing call: remembers them, and answers as the test says.
class FakeHttp final : public HttpClient {
 public:
  HttpResponse send(const HttpRequest& request) override {
    calls.with([&](auto& all) { all.push_back(request); });
    return respond ? respond(request) : HttpResponse{200, "", "", std::nullopt};
  }
  std::vector<HttpRequest> seen() {
    return calls.with([](auto& all) { return all; });
  }
  std::function<HttpResponse(const HttpRequest&)> respond;
  Guarded<std::vector<HttpRequest>> calls;
};

// An agent written in the test.
class FakeRunner final : public Runner {
 public:
  std::string run(const AgentDefinition& agent, const TurnRequest& request,
                  const TurnContext& context) override {
    requests.with([&](auto& all) { all.push_back(request); });
    return reply(agent, request, context);
  }
  std::vector<TurnRequest> seen() {
    return requests.with([](auto& all) { return all; });
  }
  std::function<std::string(const AgentDefinition&, const TurnRequest&, const TurnContext&)> reply;
  Guarded<std::vector<TurnRequest>> requests;
};

// Who does what tests do.
inline const Actor kUpstream{"upstream", "test", "here"};
inline const Actor kAdmin{"admin", "user:admin", "there"};

std::unique_ptr<Database> open_test_database(const std::filesystem::path& file, Time now);

// Keeps the turns that were claimed as they became due until the test runs them.
class WaitingSeats final : public Seats {
 public:
  std::optional<session_store::Seat> take(Time now) override {
    ++taken;
    return session_store::Seat{"test-node", now + 30s};
  }
  void give_back() override { --taken; }
  void start(session_store::ClaimedTurn turn) override {
    --taken;
    waiting.push_back(std::move(turn));
  }
  int taken = 0;
  std::deque<session_store::ClaimedTurn> waiting;
};

// What lives for as long as the process does; a crash replaces it.
struct Process {
  Process(std::unique_ptr<Database> database, Agents& agents, FakeHttp& http, FakeRunner& runner,
          ManualClock& clock, const Notices::Options& notices_options,
          const Courier::Channels& channels, std::int64_t max_attempts);

  std::unique_ptr<Database> db;
  Metrics metrics;
  WaitingSeats seats;
  Journal journal;
  Notices notices;
  Settling settling;
  TurnEnd turn_end;
  Turns turns;
  UrlChannel url;
  Courier courier;
  Expiry expiry;
  Views views;
  Intake intake;
  Answers answers;
  Links links;
  Control control;
  Clicks clicks;
};

// A whole server without threads, on a manual clock, with a fresh database.
class World {
 public:
  // The agent `poet` may ask and has a callback; `loner` may not ask; `pager` is external.
  explicit World(std::int64_t max_attempts = 5);
  // Whether turns are claimed by the step that makes them due, if it can; else by a claim of their
  // own. Counts from the next start on.
  bool with_seats = false;

  // Throws the process away and starts another on the same database, as after a crash.
  void restart();
  // The next process dies at the given point of its database's life.
  void restart_failing_at(std::int64_t point);

  // Runs everything that is due now: turns, deliveries, expiry. Returns how many turns ran.
  int run_until_idle();

  SessionId trigger(const std::string& agent = "poet", const std::string& payload = "{}",
                    std::optional<std::string> key = std::nullopt);
  AnswerOutcome answer(const SessionId& session, const std::string& value,
                       const std::string& by = "ana");
  Session session(const SessionId& id);
  std::vector<Question> questions(const SessionId& id);
  std::vector<Delivery> deliveries(const SessionId& id);
  std::vector<std::string> event_types(const SessionId& id);
  std::int64_t count_events(const SessionId& id, const std::string& type);
  Time now() const { return clock.now(); }

  Process& process() { return *process_; }
  Database& db() { return *process_->db; }

  TempDir dir;
  ManualClock clock;
  FakeHttp http;
  FakeRunner runner;
  Agents agents;
  Notices::Options notices_options;
  Courier::Channels channels;  // Besides `url`; counts from the next start on.

 private:
  void start(std::unique_ptr<Database> db);

  const std::int64_t max_attempts_;
  std::unique_ptr<Process> process_;
};

// The ask that `poet` poses in most tests.
inline const std::string kAskStyle =
    R"({"ask":{"questions":[{"question":"What style?","options":["haiku","sonnet"]}],)"
    R"("tool_call_id":"toolu_01"},"state":{"step":1}})";

// Asks on its first turn, and answers with what it was told on the next.
std::string ask_then_tell(const TurnRequest& request);

}  // namespace holdpoint::test
