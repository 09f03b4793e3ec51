#include "channels/slack_channel.h"

#include "channels/slack_blocks.h"
#include "channels/slack_card.h"
#include "channels/slack_errors.h"
#include "channels/slack_form.h"
#include "channels/slack_message.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

// How long Slack is left alone when it does not say.
constexpr Duration kRest{5000};
constexpr Duration kSendTimeout{30'000};
// People wait for these, and a server that is to stop.
constexpr Duration kClickTimeout{3000};

// Empty too if it is text that the database could not hold.
std::string text_of(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_string()) return "";
  std::string text = object[name].get<std::string>();
  return is_clean_utf8(text) ? text : "";
}

// `object` with members in front; neither may be empty.
std::string join_objects(std::string members, const std::string& object) {
  members.back() = ',';
  return members + object.substr(1);
}

struct Ref {
  std::string channel, ts;
};
std::optional<Ref> read_ref(const std::string& text) {
  const auto space = text.find(' ');
  if (space == std::string::npos || space == 0 || space + 1 == text.size()) return std::nullopt;
  return Ref{text.substr(0, space), text.substr(space + 1)};
}

}  // namespace

std::string SlackChannel::Reply::complaint(const std::string& place) const {
  if (!http.error.empty()) return "Slack could not be reached: " + http.error;
  if (!error.empty()) return slack_error_text(error, body, place);
  const std::string status = "HTTP " + std::to_string(http.status);
  if (http.status == 429 || http.status >= 500) return "Slack answers with " + status;
  return "Slack's answer (" + status + ") is not as its API answers: check [slack] api_url";
}

SlackChannel::Reply SlackChannel::call(const std::string& method, std::string body,
                                       Duration timeout, const std::function<bool()>& cancelled) {
  HttpRequest request;
  request.url = options_.api_url + "/" + method;
  request.headers = {{"Content-Type", "application/json; charset=utf-8"},
                     {"Authorization", "Bearer " + options_.bot_token.reveal()}};
  request.body = std::move(body);
  // A posted message comes back with all its blocks.
  request.max_response_bytes = 1 << 20;
  request.total_timeout = timeout;
  request.cancelled = cancelled;
  Reply reply;
  reply.http = client_.send(request);
  reply.body = try_json(reply.http.body);
  if (!reply.body.is_object()) reply.body = Json::object();
  reply.ok = reply.http.status == 200 && reply.body.value("ok", Json()) == true;
  if (!reply.ok) reply.error = text_of(reply.body, "error");
  return reply;
}

SendOutcome SlackChannel::send(const Outgoing& message, Time,
                               const std::function<bool()>& cancelled) {
  SendOutcome outcome;
  if (message.questions.empty() && !message.card) {
    outcome.kind = SendOutcome::Kind::refused;
    outcome.error = "the questions of the message are gone";
    return outcome;
  }
  const std::string content =
      message.card ? slack_card(*message.card, message.delivery.agent_name,
                                session_page(options_.public_url, message.delivery))
                   : slack_message(message.questions, message.may_cancel, options_.public_url);
  const bool edits = message.message_ref.has_value();
  Reply reply;
  if (edits) {
    const auto ref = read_ref(*message.message_ref);
    if (!ref) {
      outcome.kind = SendOutcome::Kind::refused;
      outcome.error = "the message's name is none of Slack's";
      return outcome;
    }
    const SlackJson members{{"channel", ref->channel}, {"ts", ref->ts}};
    reply =
        call("chat.update", join_objects(slack_dump(members), content), kSendTimeout, cancelled);
  } else {
    const SlackJson members{{"channel", message.delivery.destination},
                            {"unfurl_links", false},
                            {"unfurl_media", false}};
    reply = call("chat.postMessage", join_objects(slack_dump(members), content), kSendTimeout,
                 cancelled);
  }
  if (reply.http.status != 0) outcome.http_status = reply.http.status;
  // A message that somebody deleted needs no edit: there is nothing left to mislead anybody.
  if (reply.ok || (edits && reply.error == "message_not_found")) {
    outcome.kind = SendOutcome::Kind::delivered;
    const std::string channel = text_of(reply.body, "channel"), ts = text_of(reply.body, "ts");
    if (!edits && !channel.empty() && !ts.empty()) outcome.message_ref = channel + " " + ts;
    return outcome;
  }
  outcome.error = reply.complaint(edits ? "" : message.delivery.destination);
  outcome.retry_after = reply.http.retry_after;
  if (reply.http.status == 429 || reply.error == "ratelimited" || reply.error == "rate_limited") {
    outcome.http_status = 429;
    outcome.rest = outcome.retry_after = reply.http.retry_after.value_or(kRest);
    // Posts are counted by channel, edits over the whole workspace.
    outcome.rest_all = edits;
  } else if (is_fault_of_message(reply.error) || (edits && (reply.error == "cant_update_message" ||
                                                            reply.error == "edit_window_closed"))) {
    outcome.kind = SendOutcome::Kind::refused;
  }
  return outcome;
}

std::string SlackChannel::respond(const std::string& response_url, std::string body) {
  if (response_url.empty()) return "Slack gave no address for a reply";
  HttpRequest request;
  request.url = response_url;
  request.headers = {{"Content-Type", "application/json; charset=utf-8"}};
  request.body = std::move(body);
  request.total_timeout = kClickTimeout;
  const HttpResponse response = client_.send(request);
  if (response.status >= 200 && response.status < 300) return "";
  return response.status == 0 ? response.error : "HTTP " + std::to_string(response.status);
}

std::string SlackChannel::tell(const std::string& response_url, const std::string& notice) {
  SlackCutter cut;
  const std::string shown = cut(notice, kSlackSection);
  return respond(response_url, slack_dump({{"response_type", "ephemeral"},
                                           {"replace_original", false},
                                           {"text", escape_slack(shown)},
                                           {"blocks", SlackJson::array({slack_section(shown)})}}));
}

std::string SlackChannel::replace(const std::string& response_url,
                                  const std::vector<Question>& questions, bool may_cancel) {
  return respond(response_url,
                 join_objects(R"({"replace_original":true})",
                              slack_message(questions, may_cancel, options_.public_url)));
}

std::string SlackChannel::open_form(const std::string& trigger_id, const Question& question,
                                    const std::vector<std::size_t>& ticked) {
  const std::string view = slack_form(question, ticked, options_.public_url);
  const Reply reply =
      call("views.open",
           join_objects(slack_dump({{"trigger_id", trigger_id}}), R"({"view":)" + view + "}"),
           kClickTimeout, {});
  return reply.ok ? "" : reply.complaint("");
}

SlackChannel::AuthTest SlackChannel::auth_test() {
  const Reply reply = call("auth.test", "{}", kClickTimeout, {});
  if (!reply.ok) return {false, reply.complaint("")};
  return {true, "@" + text_of(reply.body, "user") + " in " + text_of(reply.body, "team")};
}

}  // namespace holdpoint
