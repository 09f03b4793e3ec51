#include "channels/slack_webhook_channel.h"

#include <algorithm>

#include "channels/slack_card.h"
#include "channels/slack_message.h"
#include "channels/slack_text.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr Duration kRest{5000};

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

SendOutcome SlackWebhookChannel::send(const Outgoing& message, Time,
                                      const std::function<bool()>& cancelled) {
  using Kind = SendOutcome::Kind;
  const Delivery& delivery = message.delivery;
  if (message.questions.empty() && !message.card) {
    SendOutcome outcome;
    outcome.kind = Kind::refused;
    outcome.error = "the questions of the message are gone";
    return outcome;
  }
  HttpRequest request;
  request.cancelled = cancelled;
  request.url = delivery.destination;
  request.headers = {{"Content-Type", "application/json; charset=utf-8"}};
  if (message.card) {
    request.body =
        slack_card(*message.card, delivery.agent_name, session_page(public_url_, delivery));
  } else {
    request.body = delivery.event == "question_settled"
                       ? slack_webhook_closing(message.questions, public_url_)
                       : slack_webhook_message(message.questions, delivery.tokens, public_url_);
  }
  const HttpResponse response = client_.send(request);
  SendOutcome outcome;
  outcome.retry_after = response.retry_after;
  if (response.status == 0) {
    outcome.error = response.error;
    return outcome;
  }
  outcome.http_status = response.status;
  if (response.status >= 200 && response.status < 300) {
    outcome.kind = Kind::delivered;
    return outcome;
  }
  // Slack says why in one word.
  const std::string word =
      is_clean_utf8(response.body) ? on_one_line(shorten(response.body, 60)) : "";
  outcome.error = "HTTP " + std::to_string(response.status) + (word.empty() ? "" : ": " + word);
  if (response.status == 429) {
    outcome.rest = outcome.retry_after = response.retry_after.value_or(kRest);
  } else if (response.status == 410 ||
             is_one_of(word, {"no_service", "no_service_id", "no_team", "team_disabled",
                              "channel_not_found", "user_not_found", "invalid_token"})) {
    outcome.kind = Kind::gone;
    outcome.error += " (Slack's webhook is no more: make a new one for the agent)";
  } else if (response.status == 400) {
    outcome.kind = Kind::refused;
  } else if (is_one_of(word, {"channel_is_archived", "action_prohibited",
                              "posting_to_general_channel_denied"})) {
    outcome.error += " (the workspace does not let the webhook post to its channel)";
  }
  return outcome;
}

}  // namespace holdpoint
