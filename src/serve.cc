#include "serve.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <thread>

#include "agents/command_runner.h"
#include "agents/http_runner.h"
#include "agents/llm/llm_runner.h"
#include "base/log.h"
#include "channels/url_channel.h"
#include "database.h"
#include "flow/expiry.h"
#include "flow/herald.h"
#include "flow/notary.h"
#include "flow/overview.h"
#include "flow/retention.h"
#include "flow/roll_call.h"
#include "flow/turns.h"
#include "from_settings.h"
#include "http/api.h"
#include "http/server.h"
#include "load.h"
#include "platforms.h"
#include "reception.h"
#include "store/secret_store.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// A connection needs a descriptor, and so does each pipe of a command.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Large blocks go back to the system when they are done, and few heaps keep small ones: many
// clients at once must not leave their memory behind.
void keep_memory_small() {
  mallopt(M_ARENA_MAX, 16);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

// The signals that steer the server, taken by one thread that waits for them.
sigset_t steering_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// Whether one of them that ends the server waits to be taken.
bool told_to_stop() {
  sigset_t waiting;
  sigpending(&waiting);
  return sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGINT) == 1;
}

// A database that goes away during the start is as if it had not been there yet.
template <class F>
auto patiently(F use) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (true) {
    try {
      return use();
    } catch (const StoreError& e) {
      if (!e.retryable() || told_to_stop() || std::chrono::steady_clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(250ms);
  }
}

void reload_agents(Agents& agents, const Settings& settings) {
  try {
    agents.replace(definitions_from(settings));
    log(Level::info, "agents_reloaded",
        {{"count", static_cast<std::int64_t>(agents.names().size())}});
  } catch (const DefinitionError& e) {
    log(Level::error, "agents_not_reloaded",
        {{"reason", e.what()}, {"what_now", "the agents stay as they were"}});
  }
}

// Every part of a running server, in the order they need each other.
class Node {
 public:
  explicit Node(const Settings& settings)
      : settings_(settings),
        agents_(definitions_from(settings)),
        client_(make_http_client(guard_from(settings))),
        db_(open_database(settings, hooks())),
        server_(http_from(settings)),
        address_(server_.bind()),
        public_url_(public_url_from(settings, address_)),
        notices_(agents_, notices_from(settings, public_url_)),
        gate_(clock_, credentials_, keys_, people_, FormNonce(own_secret(*db_, "forms")),
              gate_from(settings)) {
    refuse_to_stand_open();
    journal_.seats = &turns_;
    journal_.on_turn_due = [this] { turns_.wake(); };
    journal_.on_delivery_due = [this] { courier_.wake(); };
    journal_.on_deadline = [this](Time deadline) { expiry_.note_deadline(deadline); };
    journal_.on_events = [this] { feed_.wake(); };
    credentials_.on_changed = [this] {
      feed_.nudge();
      if (herald_) herald_->tell_credentials();
    };
    if (herald_) journal_.on_announced = [this](const Story& story) { herald_->tell(story); };
    complete_ = true;
  }

  int run() {
    if (!herald_) {
      // Nobody else shares the database, so what is claimed was claimed by a process that is gone.
      turns_.reclaim(clock_.now());
      courier_.reclaim(clock_.now());
    }
    turns_.start();
    courier_.start();
    expiry_.start();
    retention_.start();
    keys_.start();
    notary_.start();
    feed_.start();
    reception_.start();
    if (herald_) herald_->start();
    roll_call_.start();
    Pool signals("hp-signals", 1, 1);
    if (!signals.submit([this] { obey_signals(); })) return 1;
    log(Level::info, "server_listening",
        {{"address", address_},
         {"database", settings_.database.name},
         {"agents", static_cast<std::int64_t>(agents_.names().size())}});
    const bool told_to = server_.run(gate_.guard(all_routes(api_)));
    if (!told_to) {
      // Alive but deaf helps nobody: stop as if told to, and let the supervisor start afresh.
      log(Level::error, "listener_failed", {{"what_now", "exiting; start again"}});
      kill(getpid(), SIGTERM);
    }
    reception_.stop();
    // Requests are answered; let turns end, or give them back.
    turns_.stop(4s);
    expiry_.stop();
    retention_.stop();
    courier_.stop();
    keys_.stop();
    if (herald_) herald_->stop();
    roll_call_.stop();
    notary_.stop();
    signals.stop();
    log(Level::info, "server_stopped");
    return told_to ? 0 : 1;
  }

 private:
  // Whoever can reach it could answer in anybody's name.
  void refuse_to_stand_open() {
    const auto& server = settings_.server;
    if (server.loopback) return;
    std::string wrong;
    if (!patiently([this] { return credentials_.live(clock_.now()); })) {
      wrong =
          "\n  there is no key and no user yet. Make one first, e.g. `holdpoint users add ana "
          "--role "
          "admin` or `holdpoint keys create --name ci --scope sessions:create`";
    }
    if (server.tls_cert.empty() && server.trusted_proxies.empty() && !server.insecure_http) {
      wrong +=
          "\n  what is sent could be read on the way. Set [server] tls_cert and tls_key; or, "
          "behind a "
          "proxy that does TLS, trusted_proxies; or, if the network is trusted, insecure_http = "
          "true";
    }
    if (wrong.empty()) return;
    throw SettingsError("[server] listen = \"" + server.listen +
                        "\" lets other machines in, but:" + wrong);
  }

  // What this deployment signs with: the same on all nodes, and after every start.
  static std::string own_secret(Database& db, const char* name) {
    const std::string fresh = to_hex(random_bytes(32));
    return patiently([&] {
      return db.write(
          [&](Transaction& tx) { return secret_store::find_or_insert(tx, name, fresh); });
    });
  }

  Gate::Options gate_from(const Settings& s) {
    Gate::Options options;
    options.loopback = s.server.loopback;
    options.public_url = s.server.public_url;
    options.trusted_proxies = proxies_from(s);
    options.proxy_user_header = s.auth.proxy_user_header;
    options.requests_per_key = static_cast<std::size_t>(s.limits.requests_per_key_per_second);
    options.wrong_credentials = static_cast<std::size_t>(s.limits.wrong_credentials_per_minute);
    options.on_refused = [this](const char* reason) { metrics_.refused(reason); };
    return options;
  }

  static People::Options people_from(const Settings& s) {
    return {std::chrono::hours{s.auth.login_hours}, role_from(s.auth.proxy_role)};
  }

  HttpServer::Options http_from(const Settings& s) {
    HttpServer::Options options;
    options.listen = s.server.listen;
    options.max_threads = static_cast<std::size_t>(s.server.http_threads);
    options.max_body_bytes = static_cast<std::size_t>(s.limits.max_body_bytes);
    options.tls_cert = s.server.tls_cert;
    options.tls_key = s.server.tls_key;
    options.max_header_bytes = static_cast<std::size_t>(s.limits.max_header_bytes);
    options.max_headers = static_cast<std::size_t>(s.limits.max_headers);
    options.max_connections_per_address =
        static_cast<std::size_t>(s.limits.max_connections_per_address);
    options.head_deadline = std::chrono::seconds{s.limits.head_deadline_seconds};
    options.body_deadline = std::chrono::seconds{s.limits.body_deadline_seconds};
    options.exempt = [proxies = proxies_from(s)](const std::string& address) {
      return proxies.hold(address);
    };
    options.on_refused = [this](const char* reason) { metrics_.refused(reason); };
    options.on_request = [this](const std::string& route, int status) {
      metrics_.request(route, status);
    };
    return options;
  }

  Turns::Options turns_from(const Settings& s) {
    Turns::Options options;
    options.node = node_;
    options.lease = std::chrono::seconds{s.agents.lease_seconds};
    options.workers = static_cast<std::size_t>(s.agents.workers);
    options.turn_timeout = std::chrono::seconds{s.agents.turn_timeout_seconds};
    options.max_reply_bytes = static_cast<std::size_t>(s.limits.max_reply_bytes);
    options.max_attempts = s.agents.max_attempts;
    return options;
  }

  Turns::Runners runners() {
    return {{RunnerKind::http, &http_runner_},
            {RunnerKind::command, &command_runner_},
            {RunnerKind::llm, &llm_runner_}};
  }

  Courier::Options courier_from() {
    Courier::Options options;
    options.may_cancel = [this](const std::string& agent) { return agents_.may_cancel(agent); };
    return options;
  }

  Platforms::MailWays mail_ways() {
    Platforms::MailWays ways;
    if (!settings_.email.reply_to.empty()) {
      ways.reply_address = [this](const DeliveryId& id) {
        return reply_address(settings_.email.reply_to, reply_tokens_.make(id));
      };
    }
    ways.unsubscribe_url = [this](const DeliveryId& id) {
      return public_url_ + "/email/unsubscribe?token=" + unsubscribe_tokens_.make(id);
    };
    return ways;
  }

  OpenHooks hooks() {
    OpenHooks hooks;
    hooks.on_commit = [this](std::size_t writes) {
      metrics_.commit(writes);
      if (complete_) notary_.wake();
    };
    hooks.give_up = told_to_stop;
    return hooks;
  }

  node_store::Node self() const {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    const Time now = clock_.now();
    return {node_, host, address_, HOLDPOINT_VERSION, now, now};
  }

  std::unique_ptr<Herald> make_herald() {
    Bulletin* bulletin = db_->bulletin();
    if (!bulletin) return nullptr;
    Herald::Hearers hearers;
    hearers.turns = [this] { turns_.wake(); };
    hearers.deliveries = [this] { courier_.wake(); };
    hearers.deadlines = [this] {
      expiry_.wake();
      notary_.wake();  // Another node may have been linking when this one tried.
    };
    hearers.events = [this] { feed_.wake(); };
    hearers.credentials = [this] {
      credentials_.hear_changed();
      feed_.nudge();
    };
    hearers.takes_turns = [this] { return turns_.has_room(); };
    hearers.takes_deliveries = [this] { return courier_.has_room(); };
    hearers.cancelled = [this](const SessionId& session) { turns_.abandon(session); };
    return std::make_unique<Herald>(*db_, *bulletin, journal_, node_, clock_, std::move(hearers));
  }

  void reload_tls() {
    if (settings_.server.tls_cert.empty()) return;
    try {
      server_.reload_tls();
      log(Level::info, "tls_reloaded");
    } catch (const std::runtime_error& e) {
      log(Level::error, "tls_not_reloaded",
          {{"reason", e.what()}, {"what_now", "the certificate stays as it was"}});
    }
  }

  // Until SIGTERM or SIGINT; a second one ends the process at once.
  void obey_signals() {
    const sigset_t signals = steering_signals();
    int number = 0;
    while (sigwait(&signals, &number) == 0 && number == SIGHUP) {
      reload_agents(agents_, settings_);
      reload_tls();
    }
    log(Level::info, "server_stopping");
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    journal_.close();
    feed_.stop();
    server_.stop();
  }

  const Settings settings_;
  const Limits limits_ = limits_from(settings_);
  const AskDefaults ask_ = ask_defaults_from(settings_);
  Agents agents_;
  Metrics metrics_;
  const std::unique_ptr<HttpClient> client_;
  std::atomic<bool> complete_{false};  // The database may commit before all parts are there.
  const std::unique_ptr<Database> db_;
  const Clock& clock_ = db_->clock();
  const std::string node_ = new_uuid(clock_.now());
  Journal journal_;
  HttpServer server_;
  const std::string address_;
  const std::string public_url_;
  Notices notices_;
  Credentials credentials_{*db_};
  Keys keys_{*db_, clock_};
  People people_{*db_, people_from(settings_)};
  Links links_{*db_, agents_};
  Gate gate_;
  Settling settling_{notices_, agents_};
  TurnEnd turn_end_{*db_,     journal_, notices_,
                    metrics_, agents_,  {ask_, limits_, settings_.agents.max_attempts}};
  HttpRunner http_runner_{*client_};
  CommandRunner command_runner_;
  const Models models_ = models_from(settings_);
  LlmRunner llm_runner_{*client_, models_, agents_, clock_, budget_from(settings_)};
  Turns turns_{*db_,    journal_,  turn_end_, metrics_,
               agents_, runners(), clock_,    turns_from(settings_)};
  UrlChannel url_{*client_,
                  [this](const std::string& agent) { return notices_.secrets_for(agent); }};
  const ReplyTokens reply_tokens_{own_secret(*db_, "replies")};
  // Not those of replies: links end up in histories and logs.
  const ReplyTokens unsubscribe_tokens_{own_secret(*db_, "unsubscribe")};
  Platforms platforms_{settings_, *client_, public_url_, mail_ways()};
  Courier courier_{*db_,   journal_,      notices_, metrics_, platforms_.channels(url_),
                   clock_, courier_from()};
  Expiry expiry_{*db_, journal_, settling_, clock_};
  Retention retention_{*db_, std::chrono::days{settings_.sessions.retention_days}, clock_};
  Notary notary_{*db_, clock_};
  Feed feed_{*db_, clock_};
  Views views_{*db_, journal_};
  Intake intake_{*db_, journal_, notices_, agents_, {ask_, limits_}};
  Answers answers_{*db_, journal_, settling_, agents_, limits_};
  Control control_{
      *db_, journal_, notices_, settling_, agents_, limits_, [this](const SessionId& id) {
        turns_.abandon(id);
      }};
  Reception reception_{
      settings_,
      {*db_, clock_, *client_, journal_, notices_, agents_, answers_, control_, views_, platforms_,
       reply_tokens_, unsubscribe_tokens_, public_url_, limits_}};
  RollCall roll_call_{*db_, self(), clock_};
  Overview overview_{*db_, notices_,
                     [this](std::string_view platform) { return reception_.connected(platform); }};
  // Only where other nodes may share the database.
  const std::unique_ptr<Herald> herald_ = make_herald();
  Pages pages_;
  McpDesk mcp_{mcp_from(settings_), own_secret(*db_, "mcp")};
  AccessApi access_{clock_, keys_, people_, credentials_, *db_, pages_};
  Api api_{clock_,
           notices_,
           intake_,
           answers_,
           control_,
           courier_,
           views_,
           overview_,
           roll_call_,
           feed_,
           metrics_,
           agents_,
           access_,
           links_,
           gate_,
           public_url_,
           herald_ ? "postgres" : "sqlite",
           limits_,
           [this] { return db_->healthy(); },
           [this](Metrics::Gauges& gauges) {
             gauges.turns_running = turns_.running();
             gauges.http_threads = static_cast<std::int64_t>(server_.threads());
           },
           reception_.desks(),
           &mcp_};
};

}  // namespace

int serve(const std::optional<std::filesystem::path>& settings_file) {
  const Settings settings = read_settings(settings_file);
  const sigset_t signals = steering_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // Before any thread, so that all inherit it.
  signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  keep_memory_small();
  try {
    return Node(settings).run();
  } catch (const StoreError&) {
    if (!told_to_stop()) throw;
    log(Level::info, "server_stopped", {{"reason", "told to, while it waited for its database"}});
    return 0;
  }
}

}  // namespace holdpoint
