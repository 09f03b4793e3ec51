#include "channels/discord_channel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "channels/discord_card.h"
#include "channels/discord_message.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

using Kind = SendOutcome::Kind;

constexpr double kLongestRest = 24 * 3600;

// Discord's own numbers for what went wrong.
enum Code {
  unknown_channel = 10003,
  unknown_message = 10008,
  missing_access = 50001,
  missing_permissions = 50013,
};

bool is_discord_id(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

Json read_body(const HttpResponse& response) {
  try {
    return parse_json(response.body, "body");
  } catch (const BadRequest&) {
    return Json();
  }
}

std::string text_in(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string header(const HttpResponse& response, const char* name) {
  const auto it = response.headers.find(name);
  return it == response.headers.end() ? "" : it->second;
}

std::optional<Duration> from_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
  return Duration{static_cast<std::int64_t>(std::ceil(std::min(seconds, kLongestRest) * 1000))};
}

std::optional<Duration> seconds_in_header(const HttpResponse& response, const char* name) {
  const std::string text = header(response, name);
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : from_seconds(seconds);
}

void note_rate_limit(const HttpResponse& response, const Json& body, SendOutcome& outcome) {
  if (body.is_object() && body.contains("retry_after") && body["retry_after"].is_number()) {
    outcome.retry_after = from_seconds(body["retry_after"].get<double>());
  }
  if (!outcome.retry_after) outcome.retry_after = seconds_in_header(response, "retry-after");
  outcome.rest = outcome.retry_after.value_or(std::chrono::seconds{5});
  // What stands before Discord's API answers in no JSON, and means all calls of this machine.
  outcome.rest_all = !body.is_object() || body.value("global", Json()) == true ||
                     header(response, "x-ratelimit-global") == "true" ||
                     header(response, "x-ratelimit-scope") == "global";
  outcome.error = std::string("Discord wants fewer calls (HTTP 429)") +
                  (outcome.rest_all ? ", of all kinds" : "");
}

// What to say about an answer that is no success, besides its number.
std::string reason_of(int status, std::int64_t code, const Json& body) {
  if (status == 401) {
    return "Discord does not know the bot token; copy it anew from the developer portal, page Bot, "
           "into [discord] bot_token";
  }
  if (code == unknown_channel) {
    return "Discord knows no such channel, or the bot is not in its server; copy the channel's id "
           "by Discord's developer mode, and invite the bot";
  }
  if (code == missing_access) {
    return "the bot may not see the channel; invite it to the server, and allow it View Channel";
  }
  if (code == missing_permissions) {
    return "the bot may not write in the channel; allow it Send Messages there";
  }
  if (code == unknown_message) return "the message was deleted in Discord";
  const std::string message = text_in(body, "message");
  std::string reason = "Discord answered HTTP " + std::to_string(status);
  if (!message.empty()) reason += ": " + shorten(message, 200);
  if (body.is_object() && body.contains("errors")) {
    reason += " " + shorten(body["errors"].dump(), 300);
  }
  return reason;
}

void note_refusal(const HttpResponse& response, const Json& body, SendOutcome& outcome) {
  std::int64_t code = 0;
  if (body.is_object() && body.contains("code") && body["code"].is_number_integer()) {
    code = body["code"].get<std::int64_t>();
  }
  outcome.error = reason_of(response.status, code, body);
  // The rest an operator can mend while it is tried again.
  if (response.status == 400 || response.status == 413 || code == unknown_message) {
    outcome.kind = Kind::refused;
  }
}

SendOutcome refused(std::string error) {
  SendOutcome outcome;
  outcome.kind = Kind::refused;
  outcome.error = std::move(error);
  return outcome;
}

}  // namespace

HttpRequest DiscordChannel::request(const std::string& method, const std::string& path) const {
  HttpRequest request;
  request.method = method;
  request.url = options_.api_url + path;
  request.headers = {{"Authorization", "Bot " + options_.bot_token.reveal()},
                     {"Content-Type", "application/json"},
                     // Discord wants one of this form, and may turn others away.
                     {"User-Agent", "DiscordBot (" + options_.public_url + ", 1)"}};
  request.max_response_bytes = std::size_t{1} << 20;
  return request;
}

SendOutcome DiscordChannel::send(const Outgoing& message, Time,
                                 const std::function<bool()>& cancelled) {
  const Delivery& delivery = message.delivery;
  if (message.questions.empty() && !message.card)
    return refused("the questions of this message are gone");
  std::string channel = delivery.destination, edited;
  if (message.message_ref) {
    const auto space = message.message_ref->find(' ');
    channel = message.message_ref->substr(0, space);
    if (space != std::string::npos) edited = message.message_ref->substr(space + 1);
    if (!is_discord_id(edited)) return refused("there is no message of Discord by this name");
  }
  if (!is_discord_id(channel)) {
    return refused("\"" + shorten(channel, 40) +
                   "\" is no channel id; copy it by Discord's developer mode");
  }
  const DiscordStyle style{options_.public_url, message.may_cancel};
  const std::string messages = "/channels/" + channel + "/messages";
  HttpRequest call =
      edited.empty() ? request("POST", messages) : request("PATCH", messages + "/" + edited);
  const std::string nonce = discord_nonce(delivery.id.text());
  if (message.card) {
    call.body = discord_card(*message.card, delivery.agent_name,
                             session_page(options_.public_url, delivery), nonce);
  } else {
    call.body = edited.empty() ? discord_new_message(message.questions, style, nonce)
                               : discord_message(message.questions, style);
  }
  call.cancelled = cancelled;
  const HttpResponse response = client_.send(call);
  SendOutcome outcome;
  if (response.status == 0) {
    outcome.error = response.error;
    return outcome;
  }
  outcome.http_status = response.status;
  const Json body = read_body(response);
  if (response.status == 429) {
    note_rate_limit(response, body, outcome);
    return outcome;
  }
  if (response.status < 200 || response.status >= 300) {
    outcome.retry_after = response.retry_after;
    note_refusal(response, body, outcome);
    return outcome;
  }
  outcome.kind = Kind::delivered;
  if (const std::string id = text_in(body, "id"); edited.empty() && is_discord_id(id)) {
    outcome.message_ref = channel + " " + id;
  }
  if (header(response, "x-ratelimit-remaining") == "0") {
    outcome.rest = seconds_in_header(response, "x-ratelimit-reset-after");
  }
  return outcome;
}

DiscordChannel::Check DiscordChannel::check() {
  const HttpResponse response = client_.send(request("GET", "/users/@me"));
  const Json body = read_body(response);
  if (response.status == 200 && !text_in(body, "username").empty()) {
    return {text_in(body, "username"), ""};
  }
  if (response.status == 0) {
    return {"", options_.api_url + " cannot be reached: " + response.error};
  }
  if (response.status == 200) {
    return {"", options_.api_url + " is not Discord's API; see [discord] api_url"};
  }
  SendOutcome outcome;
  note_refusal(response, body, outcome);
  return {"", outcome.error};
}

}  // namespace holdpoint
