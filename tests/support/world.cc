#include "tests/support/world.h"

#include "store/postgres.h"
#include "tests/support/failing_database.h"
#include "tests/support/test_postgres.h"

namespace holdpoint::test {
namespace {

std::map<std::string, AgentDefinition> test_agents() {
  std::map<std::string, AgentDefinition> agents;
  AgentDefinition poet;
  poet.name = "poet";
  poet.runner = RunnerKind::command;
  poet.async_questions = true;
  poet.question_callback = "http://receiver.example/hook";
  poet.callback_events = {"question_settled", "session_completed", "session_failed",
                          "session_cancelled"};
  AgentDefinition loner = poet;
  loner.name = "loner";
  loner.async_questions = false;
  loner.question_callback = std::nullopt;
  AgentDefinition pager = poet;
  pager.name = "pager";
  pager.runner = RunnerKind::external;
  for (const auto& agent : {poet, loner, pager}) agents.emplace(agent.name, agent);
  return agents;
}

Turns::Options turn_options(std::int64_t max_attempts) {
  Turns::Options options;
  options.node = "test-node";
  options.max_attempts = max_attempts;
  return options;
}

Courier::Channels with_url(Courier::Channels channels, UrlChannel& url) {
  channels.emplace("url", &url);
  return channels;
}

Courier::Options courier_options() {
  Courier::Options options;
  options.may_cancel = [](const std::string&) { return true; };
  return options;
}

}  // namespace

std::unique_ptr<Database> open_test_database(const std::filesystem::path& file, Time now) {
  if (const auto url = test_postgres_url(file)) {
    PostgresOptions postgres;
    postgres.url = *url;
    postgres.connections = 8;
    return open_postgres(std::move(postgres));
  }
  SqliteOptions options;
  options.path = file.string();
  options.on_sync_failure = [](const std::string&) { std::abort(); };
  return open_sqlite(std::move(options), now);
}

Process::Process(std::unique_ptr<Database> database, Agents& agents, FakeHttp& http,
                 FakeRunner& runner, ManualClock& clock, const Notices::Options& notices_options,
                 const Courier::Channels& channels, std::int64_t max_attempts)
    : db(std::move(database)),
      notices(agents, notices_options),
      settling(notices, agents),
      turn_end(*db, journal, notices, metrics, agents, {{}, {}, max_attempts}),
      turns(
          *db, journal, turn_end, metrics, agents,
          {{RunnerKind::command, &runner}, {RunnerKind::http, &runner}, {RunnerKind::llm, &runner}},
          clock, turn_options(max_attempts)),
      url(http, [this](const std::string& agent) { return notices.secrets_for(agent); }),
      courier(*db, journal, notices, metrics, with_url(channels, url), clock, courier_options()),
      expiry(*db, journal, settling, clock),
      views(*db, journal),
      intake(*db, journal, notices, agents, {{}, {}}),
      answers(*db, journal, settling, agents, {}),
      links(*db, agents),
      control(*db, journal, notices, settling, agents, {},
              [this](const SessionId& id) { turns.abandon(id); }),
      clicks(answers, control, views, {{"slack", {{"U1", "ana"}}}}) {}

World::World(std::int64_t max_attempts) : agents(test_agents()), max_attempts_(max_attempts) {
  notices_options.public_url = "https://hold.example";
  runner.reply = [](const AgentDefinition&, const TurnRequest& request, const TurnContext&) {
    return ask_then_tell(request);
  };
  restart();
}

void World::start(std::unique_ptr<Database> db) {
  process_ = std::make_unique<Process>(std::move(db), agents, http, runner, clock, notices_options,
                                       channels, max_attempts_);
  if (with_seats) process_->journal.seats = &process_->seats;
  process_->turns.reclaim(clock.now());
  process_->courier.reclaim(clock.now());
}

void World::restart() {
  process_.reset();
  start(open_test_database(dir.path() / "world.db", clock.now()));
}

void World::restart_failing_at(std::int64_t point) {
  process_.reset();
  start(std::make_unique<FailingDatabase>(open_test_database(dir.path() / "world.db", clock.now()),
                                          point));
}

int World::run_until_idle() {
  int turns = 0;
  bool busy = true;
  while (busy) {
    busy = false;
    process_->expiry.run_once(clock.now());
    while (!process_->seats.waiting.empty()) {
      auto turn = std::move(process_->seats.waiting.front());
      process_->seats.waiting.pop_front();
      busy = true;
      ++turns;
      process_->turns.run(std::move(turn));
    }
    for (const auto& turn : process_->turns.claim(clock.now(), 100)) {
      busy = true;
      ++turns;
      process_->turns.run(turn);
    }
    for (const auto& delivery : process_->courier.claim(clock.now())) {
      busy = true;
      process_->courier.attempt(delivery);
    }
  }
  return turns;
}

SessionId World::trigger(const std::string& agent, const std::string& payload,
                         std::optional<std::string> key) {
  Intake::Trigger trigger;
  trigger.agent_name = agent;
  trigger.payload = payload;
  trigger.idempotency_key = std::move(key);
  trigger.by = kUpstream;
  return process_->intake.admit(trigger, clock.now()).value().session;
}

AnswerOutcome World::answer(const SessionId& session, const std::string& value,
                            const std::string& by) {
  return process_->answers.answer(session, {{{"", {value}}}, by, "test"}, {by, "test", "here"},
                                  clock.now());
}

Session World::session(const SessionId& id) {
  return db().read([&](Transaction& tx) { return session_store::find(tx, id).value(); });
}

std::vector<Question> World::questions(const SessionId& id) {
  question_store::Filter filter;
  filter.session = id;
  auto newest_first = process_->views.questions(filter);
  return {newest_first.rbegin(), newest_first.rend()};
}

std::vector<Delivery> World::deliveries(const SessionId& id) {
  delivery_store::Filter filter;
  filter.session = id;
  auto newest_first = process_->views.deliveries(filter);
  return {newest_first.rbegin(), newest_first.rend()};
}

std::vector<std::string> World::event_types(const SessionId& id) {
  std::vector<std::string> types;
  const auto events = process_->views.events(id, 0, 500);
  for (const auto& event : events.value()) types.push_back(event.type);
  return types;
}

std::int64_t World::count_events(const SessionId& id, const std::string& type) {
  const auto types = event_types(id);
  return std::count(types.begin(), types.end(), type);
}

std::string ask_then_tell(const TurnRequest& request) {
  if (request.reason == TurnReason::start) return kAskStyle;
  return R"({"result":{"told":)" + request.resume.value_or("null") + "}}";
}

}  // namespace holdpoint::test
