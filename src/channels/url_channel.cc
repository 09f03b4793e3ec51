#include "channels/url_channel.h"

#include "domain/text.h"

namespace holdpoint {

SendOutcome UrlChannel::send(const Outgoing& message, Time now,
                             const std::function<bool()>& cancelled) {
  const Delivery& delivery = message.delivery;
  HttpRequest request;
  request.cancelled = cancelled;
  request.url = delivery.destination;
  request.body = delivery.body;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  request.headers = {{"Content-Type", "application/json"},
                     {"X-Agent-Session", delivery.session_id.text()},
                     {"webhook-id", delivery.id.text()},
                     {"webhook-timestamp", std::to_string(seconds)}};
  const auto secrets = secrets_(delivery.agent_name);
  if (!secrets.empty()) {
    request.headers["webhook-signature"] =
        sign_webhook(secrets, delivery.id.text(), now, delivery.body);
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
    // A body past the cap was cut off, but the receiver has said yes.
    outcome.kind = SendOutcome::Kind::delivered;
    return outcome;
  }
  if (response.status == 410) outcome.kind = SendOutcome::Kind::gone;
  outcome.error = "HTTP " + std::to_string(response.status);
  if (response.status >= 300 && response.status < 400)
    outcome.error += " (redirects are not followed)";
  return outcome;
}

}  // namespace holdpoint
