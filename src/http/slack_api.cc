#include "http/slack_api.h"

#include "base/log.h"
#include "domain/bad_request.h"
#include "wire/form.h"
#include "wire/signature.h"

namespace holdpoint {
namespace {

// A header that is there twice is as good as none: who stands in front of us may have judged the
// other one.
std::string only(const Request& request, const char* name) {
  return request.header_count(name) == 1 ? request.header(name) : "";
}

Response bad_signature(const Request& request, const std::string& message) {
  log(Level::warning, "slack_click_refused", {{"reason", message}, {"address", request.address}});
  Response response = error_response(401, "bad_signature", message);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response acknowledge(std::string body) {
  Response response;
  if (body.empty()) response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

}  // namespace

Response slack_interaction(SlackDesk& desk, const std::vector<Secret>& signing_secrets,
                           const Request& request, Time now) {
  if (signing_secrets.empty()) {
    return error_response(404, "not_set_up",
                          "clicks in Slack are not taken here: set [slack] signing_secret");
  }
  const WebhookHeaders headers{"", only(request, "X-Slack-Request-Timestamp"),
                               only(request, "X-Slack-Signature")};
  switch (verify_webhook(WebhookScheme::slack, signing_secrets, headers, request.body, now)) {
    case Verdict::valid:
      break;
    case Verdict::missing:
      return bad_signature(request, "Slack's signature headers are missing");
    case Verdict::stale:
      return bad_signature(request, "the timestamp is more than 300 s off");
    case Verdict::wrong:
      return bad_signature(request,
                           "the signature does not fit the body and [slack] signing_secret");
  }
  const Form form = Form::parse(request.body);
  // Slack's look at our certificate.
  if (form.text("ssl_check") == "1") return acknowledge("");
  const auto payloads = form.texts("payload");
  if (payloads.size() != 1) throw Unreadable("payload", "must be there, and once");
  return acknowledge(desk.take(payloads.front(), request.address, now));
}

}  // namespace holdpoint
