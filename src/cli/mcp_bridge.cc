#include "cli/mcp_bridge.h"

#include "base/log.h"
#include "cli/client.h"
#include "domain/text.h"

namespace holdpoint::cli {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostAtOnce = 256, kMostQueued = 4096;
constexpr int kUnreachable = -32000;
constexpr const char* kInitialize = "initialize";
// How long the server may be away: a call's question is open there, and worth waiting for.
constexpr auto kPatience = 30s, kCallPatience = 300s;
constexpr Duration kFirstPause{200}, kLongestPause{2000};

bool is_for_later(int status) {
  return status == 0 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

}  // namespace

McpBridge::McpBridge(McpLink& link, std::function<void(const std::string&)> write)
    : link_(link), write_(std::move(write)), pool_("hp-mcp", kMostAtOnce, kMostQueued) {}

void McpBridge::take(const std::string& line) {
  if (is_blank(line)) return;
  auto errand = std::make_shared<Errand>();
  try {
    errand->message = parse_rpc(line);
  } catch (const RpcError& e) {
    log(Level::warning, "mcp_line_refused", {{"reason", e.what()}});
    std::lock_guard lock(writing_);
    write_(rpc_error("", e));
    return;
  }
  errand->body = line;
  const RpcMessage& message = errand->message;
  if (message.method == "notifications/cancelled") cancel(message);
  {
    std::lock_guard lock(mutex_);
    ++under_way_;
    if (message.method == kInitialize) ++initializing_;
    if (message.kind == RpcMessage::Kind::request) requests_[message.id] = errand;
  }
  const bool submitted = pool_.submit([this, errand] {
    run(*errand);
    const bool waits = errand->message.kind == RpcMessage::Kind::request && !errand->answered;
    if (waits && !errand->cancelled) {
      pass_on(*errand, rpc_error(errand->message.id,
                                 RpcError(kUnreachable, "the input ended before the answer came")));
    }
    forget(errand);
  });
  if (submitted) return;
  pass_on(*errand, rpc_error(message.id, RpcError(kUnreachable, "too many calls are under way")));
  forget(errand);
}

void McpBridge::stop(Duration grace) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, grace, [&] { return under_way_ == 0; });
    stopping_ = true;
    changed_.notify_all();
  }
  pool_.stop();
}

void McpBridge::cancel(const RpcMessage& notification) {
  const Json id = notification.params.value("requestId", Json());
  std::lock_guard lock(mutex_);
  const auto it = requests_.find(id.dump());
  if (it == requests_.end()) return;
  it->second->cancelled = true;
  changed_.notify_all();
}

void McpBridge::forget(const Shared& errand) {
  std::lock_guard lock(mutex_);
  --under_way_;
  if (errand->message.method == kInitialize) --initializing_;
  const auto it = requests_.find(errand->message.id);
  if (it != requests_.end() && it->second == errand) requests_.erase(it);
  changed_.notify_all();
}

// Some clients say all they have to say at once.
void McpBridge::await_session(const Errand& errand) {
  if (errand.message.method == kInitialize || is_stateless(errand.message)) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return initializing_ == 0 || is_over(errand); });
}

void McpBridge::run(Errand& errand) {
  await_session(errand);
  const auto patience = errand.message.method == "tools/call" ? kCallPatience : kPatience;
  auto give_up_at = Steady::now() + patience;
  Duration pause = kFirstPause;
  std::string event;
  bool away = false;
  while (!is_over(errand)) {
    const McpLink::Session session = link_.session();
    const McpLink::Exchange exchange = send(errand, session, event);
    const HttpResponse& response = exchange.response;
    if (errand.answered || is_over(errand)) return;
    if (!exchange.last_event_id.empty()) event = exchange.last_event_id;
    if (exchange.heard) {
      give_up_at = Steady::now() + patience;
      pause = kFirstPause;
    }
    const bool forgotten = response.status == 404 && !session.id.empty();
    if (forgotten && link_.renew(session, [&] { return is_over(errand); })) {
      log(Level::warning, "mcp_session_renewed");
      event.clear();
      continue;
    }
    if (!forgotten && !may_send_again(errand, response)) return refuse(errand, response);
    if (Steady::now() + pause >= give_up_at) return refuse(errand, response);
    if (!std::exchange(away, true)) {
      log(Level::warning, "mcp_server_away",
          {{"reason",
            response.error.empty() ? "HTTP " + std::to_string(response.status) : response.error}});
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::max(pause, response.retry_after.value_or(Duration{0})),
                      [&] { return is_over(errand); });
    pause = std::min(pause * 2, kLongestPause);
  }
}

McpLink::Exchange McpBridge::send(Errand& errand, const McpLink::Session& session,
                                  const std::string& event) {
  const auto on_message = [&](const std::string& line) {
    if (is_over(errand)) return false;
    pass_on(errand, line);
    return true;
  };
  const auto cancelled = [&] { return is_over(errand); };
  if (!event.empty()) return link_.resume(event, session, on_message, cancelled);
  if (errand.message.method == kInitialize) {
    return link_.initialize(errand.message, errand.body, on_message, cancelled);
  }
  auto exchange = link_.post(errand.message, errand.body, session, on_message, cancelled);
  const bool wants_answer = errand.message.kind == RpcMessage::Kind::request;
  const int status = exchange.response.status;
  if (!wants_answer && status >= 200 && status <= 299) errand.answered = true;
  return exchange;
}

// A session knows a call by its id. Without one, a call that may have arrived is not made again.
bool McpBridge::may_send_again(const Errand& errand, const HttpResponse& response) const {
  const bool broke = response.status >= 200 && response.status <= 299;
  if (!broke && !is_for_later(response.status)) return false;
  const bool once = is_stateless(errand.message) && errand.message.method == "tools/call";
  return !once || response.unreached || response.status == 429 || response.status == 503;
}

void McpBridge::pass_on(Errand& errand, const std::string& line) {
  const Json message = try_json(line);
  if (!message.is_object()) {
    log(Level::warning, "mcp_server_garbled");
    return;
  }
  const bool is_answer = message.contains("id") && !message.contains("method");
  if (is_answer && message["id"].dump() == errand.message.id) errand.answered = true;
  std::lock_guard lock(writing_);
  write_(line);
}

void McpBridge::refuse(Errand& errand, const HttpResponse& response) {
  std::string reason = "the server hung up without an answer";
  if (response.status == 0) {
    reason = "cannot reach the server: " + response.error +
             " (is `holdpoint serve` running? --server or HOLDPOINT_SERVER says where)";
  } else if (response.status > 299) {
    // In its own words if it answers in the protocol's.
    const Json said = try_json(response.body);
    if (said.is_object() && said.contains("jsonrpc") && said.contains("id") &&
        said["id"].dump() == errand.message.id) {
      return pass_on(errand, said.dump());
    }
    try {
      check_reply(response.status, response.body, "the server");
    } catch (const CallFailed& e) {
      reason = e.what();
    }
  }
  log(Level::error, "mcp_call_failed", {{"reason", reason}});
  if (errand.message.kind != RpcMessage::Kind::request) return;
  pass_on(errand, rpc_error(errand.message.id, RpcError(kUnreachable, reason)));
}

}  // namespace holdpoint::cli
