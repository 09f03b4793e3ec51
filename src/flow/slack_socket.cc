#include "flow/slack_socket.h"

#include <algorithm>

#include "base/ids.h"
#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Kind = WebSocket::Message::Kind;

constexpr Duration kLook{1'000};
constexpr Duration kLongestConnect{10'000};
constexpr Duration kGrace{100};  // For what was on its way when Slack said goodbye.
constexpr int kMostDrained = 100;
constexpr Duration kAfterMistake{120'000};  // Only a person can mend it.
constexpr std::int64_t kLasting = 10;       // First waits; what ends earlier did not work.
constexpr const char* kAddress = "slack-socket";

std::string text_in(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

Json read_json(const std::string& text) {
  try {
    return parse_json(text, "message");
  } catch (const BadRequest&) {
    return Json();
  }
}

// What a person has to do about what Slack complains of; empty if it may pass by itself.
std::string fix_for(const std::string& error) {
  if (error == "invalid_auth" || error == "not_authed" || error == "token_revoked" ||
      error == "token_expired" || error == "account_inactive") {
    return "Slack does not know the app token; copy it anew from Basic Information, App-Level "
           "Tokens, into [slack] app_token";
  }
  if (error == "not_allowed_token_type" || error == "missing_scope" || error == "no_permission") {
    return "[slack] app_token must be an app-level token (xapp-…) with the scope connections:write";
  }
  if (error == "link_disabled" || error == "socket_mode_not_enabled" || error == "forbidden") {
    return "Socket Mode is off; turn it on in the app's settings at api.slack.com";
  }
  return "";
}

}  // namespace

SlackSocket::SlackSocket(HttpClient& client, AddressGuard guard, Take take, const Clock& clock,
                         Options options)
    : client_(client),
      guard_(std::move(guard)),
      take_(std::move(take)),
      clock_(clock),
      options_(std::move(options)),
      loop_("hp-slack-socket", clock, [this](Time now) { return run_once(now); }) {}

void SlackSocket::stop() {
  stopping_ = true;
  loop_.stop();
}

std::optional<Time> SlackSocket::run_once(Time) {
  wait_ = Duration{0};
  auto line = dial();
  while (line && !stopping_) line = serve(*line);
  connected_ = false;
  if (stopping_) return std::nullopt;
  return clock_.now() + next_wait();
}

Duration SlackSocket::next_wait() {
  const auto grown = options_.first_wait * (std::int64_t{1} << std::min(failures_, 20));
  ++failures_;
  const Duration wait = std::max(wait_, std::min(grown, options_.longest_wait));
  // Apart, so that nodes that were cut off together do not come back together.
  return wait + Duration{static_cast<std::int64_t>(static_cast<double>(wait.count()) *
                                                   random_fraction() / 4)};
}

void SlackSocket::fail(const std::string& reason, Duration wait) {
  wait_ = std::max(wait_, wait);
  if (!stopping_) log(Level::warning, "slack_socket_failed", {{"reason", reason}});
}

std::string SlackSocket::fetch_url() {
  HttpRequest request;
  request.url = options_.api_url + "/apps.connections.open";
  request.headers = {{"Authorization", "Bearer " + options_.app_token.reveal()},
                     {"Content-Type", "application/x-www-form-urlencoded"}};
  request.total_timeout = kLongestConnect;
  request.cancelled = [this] { return stopping_.load(); };
  const HttpResponse response = client_.send(request);
  if (response.status == 429) {
    fail("Slack wants fewer calls (HTTP 429)", response.retry_after.value_or(30s));
    return "";
  }
  const Json body = read_json(response.body);
  if (std::string url = text_in(body, "url"); response.status == 200 && !url.empty()) return url;
  const std::string error = text_in(body, "error");
  const std::string fix = fix_for(error);
  if (!fix.empty()) {
    fail(fix + " (" + error + ")", kAfterMistake);
  } else if (response.status == 0) {
    fail("Slack cannot be reached: " + response.error, 0s);
  } else {
    fail("Slack gave no connection: HTTP " + std::to_string(response.status) +
             (error.empty() ? "" : ", " + shorten(error, 100)),
         response.retry_after.value_or(0s));
  }
  return "";
}

std::unique_ptr<WebSocket> SlackSocket::dial() {
  const std::string url = fetch_url();
  if (url.empty() || stopping_) return nullptr;
  auto line = std::make_unique<WebSocket>(guard_, [this] { return stopping_.load(); });
  if (const auto error = line->connect(url, kLongestConnect); !error.empty()) {
    fail("Slack's socket cannot be reached: " + error, 0s);
    return nullptr;
  }
  return line;
}

std::unique_ptr<WebSocket> SlackSocket::serve(WebSocket& line) {
  const Time opened = clock_.now();
  const auto lasted = [&] { return clock_.now() - opened >= kLasting * options_.first_wait; };
  const auto close = [&](const std::string& reason) {
    if (lasted()) failures_ = 0;
    if (!stopping_) log(Level::warning, "slack_socket_closed", {{"reason", reason}});
    return nullptr;
  };
  asked_ = false;
  while (!stopping_) {
    const auto message = line.read(std::min(kLook, options_.longest_silence / 4));
    if (message.kind == Kind::closed) return close(message.text);
    if (message.kind == Kind::timeout) {
      if (is_dead(line)) return close("nothing was heard for too long");
      continue;
    }
    const Next next = handle(line, message.text);
    if (next == Next::hang_up) return close(reason_);
    // A line that ends as soon as it begins is one to wait for.
    if (next == Next::replace && !lasted()) return close("Slack ended it at once");
    if (next != Next::replace) continue;
    // The new one first: what is clicked meanwhile comes by either. Without one the old will do.
    if (auto replacement = dial()) {
      failures_ = 0;
      drain(line);
      log(Level::info, "slack_socket_closed", {{"reason", "Slack asked for a new connection"}});
      return replacement;
    }
  }
  return nullptr;
}

bool SlackSocket::is_dead(WebSocket& line) {
  const Duration silence = line.silence();
  const bool long_enough = silence >= options_.longest_silence / 2;
  if (long_enough && !asked_) (void)line.ping();
  asked_ = long_enough;
  return silence >= options_.longest_silence;
}

void SlackSocket::drain(WebSocket& line) {
  for (int i = 0; i < kMostDrained && !stopping_; ++i) {
    const auto message = line.read(kGrace);
    if (message.kind != Kind::text || handle(line, message.text) == Next::hang_up) return;
  }
}

SlackSocket::Next SlackSocket::handle(WebSocket& line, const std::string& text) {
  const Json message = read_json(text);
  const std::string type = text_in(message, "type");
  if (!text_in(message, "envelope_id").empty()) return acknowledge(line, message);
  if (type == "hello") {
    connected_ = true;
    log(Level::info, "slack_socket_open");
  }
  if (type != "disconnect") return Next::go_on;
  const std::string why = text_in(message, "reason");
  const std::string fix = fix_for(why);
  if (fix.empty()) return Next::replace;
  wait_ = kAfterMistake;
  reason_ = fix + " (" + why + ")";
  return Next::hang_up;
}

SlackSocket::Next SlackSocket::acknowledge(WebSocket& line, const Json& envelope) {
  const std::string id = text_in(envelope, "envelope_id");
  std::string payload;
  try {
    if (text_in(envelope, "type") == "interactive" && envelope.contains("payload")) {
      payload = take_(envelope["payload"].dump(), kAddress, clock_.now());
    }
  } catch (const BadRequest& e) {
    // It will not become readable by being sent again.
    log(Level::warning, "slack_socket_failed", {{"reason", e.what()}, {"field", e.field()}});
  } catch (const std::exception& e) {
    log(Level::error, "slack_socket_failed",
        {{"reason", e.what()}, {"envelope", shorten(id, 100)}});
    return Next::go_on;
  }
  JsonWriter out;
  out.begin_object().member("envelope_id", id);
  const auto accepts = envelope.find("accepts_response_payload");
  if (!payload.empty() && accepts != envelope.end() && *accepts == true) {
    out.raw_member("payload", payload);
  }
  out.end_object();
  if (line.send(out.take())) return Next::go_on;
  reason_ = "the connection was lost";
  return Next::hang_up;
}

}  // namespace holdpoint
