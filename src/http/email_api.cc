#include "http/email_api.h"

#include <algorithm>

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/html.h"
#include "wire/digest.h"
#include "wire/form.h"
#include "wire/inbound_hook.h"
#include "wire/json_writer.h"
#include "wire/signature.h"

namespace holdpoint {
namespace {

// Hashed first, so that the length does not show in the time either.
bool is_secret(const std::vector<Secret>& secrets, const std::string& given) {
  bool fits = false;
  for (const auto& secret : secrets) {
    fits = equal_in_constant_time(sha256(secret.reveal()), sha256(given)) || fits;
  }
  return fits && !given.empty();
}

bool by_authorization(const std::vector<Secret>& secrets, const Request& request) {
  if (request.header_count("Authorization") != 1) return false;
  const std::string header = request.header("Authorization");
  const std::string scheme = lower_case(header.substr(0, header.find(' ')));
  const auto begin = header.find_first_not_of(' ', scheme.size());
  if (begin == std::string::npos) return false;
  const std::string given = header.substr(begin);
  if (scheme == "bearer") return is_secret(secrets, given);
  if (scheme != "basic") return false;
  const auto pair = from_base64(given);
  const auto colon = pair ? pair->find(':') : std::string::npos;
  return colon != std::string::npos && is_secret(secrets, pair->substr(colon + 1));
}

bool by_standard_webhook(const std::vector<Secret>& secrets, const Request& request, Time now) {
  if (request.header_count("webhook-signature") != 1) return false;
  std::vector<Secret> keys;
  for (const auto& secret : secrets) {
    try {
      keys.emplace_back(WebhookSecret::parse(secret.reveal()).key());
    } catch (const BadRequest&) {
      // A secret of another kind.
    }
  }
  const WebhookHeaders headers{request.header("webhook-id"), request.header("webhook-timestamp"),
                               request.header("webhook-signature")};
  return verify_webhook(WebhookScheme::standard, keys, headers, request.body, now) ==
         Verdict::valid;
}

// Mailgun signs a timestamp and a token, not the mail, and tries again for eight hours. What makes
// a copy of its call worthless to others is the token in the mail's address.
bool by_mailgun(const std::vector<Secret>& secrets, const InboundHook& hook, Time now) {
  constexpr std::chrono::hours kOldest{12};
  const std::string timestamp = hook.field("timestamp"), signature = hook.field("signature");
  const bool digits = !timestamp.empty() && timestamp.size() <= 12 &&
                      timestamp.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || signature.empty() || hook.field("token").empty()) return false;
  const Time signed_at{std::chrono::seconds{std::stoll(timestamp)}};
  if (signed_at < now - kOldest || signed_at > now + std::chrono::minutes{5}) return false;
  bool fits = false;
  for (const auto& secret : secrets) {
    const auto expected = to_hex(hmac_sha256(secret.reveal(), timestamp + hook.field("token")));
    fits = equal_in_constant_time(lower_case(signature), expected) || fits;
  }
  return fits;
}

Response not_ours() {
  Response response = error_response(
      401, "unauthenticated",
      "this needs a secret of [email] inbound_secret: as Authorization: Bearer, as the password of "
      "HTTP Basic, or as the key of a Standard Webhooks or Mailgun signature");
  response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"mail\"");
  return response;
}

Response wrong_link() {
  return message_page(404, "This link is not valid",
                      "It may be incomplete, or the mail it came with is too old. Nothing was "
                      "changed.");
}

std::optional<Delivery> find_mail(Unsubscribe& unsubscribe, const Request& request) {
  const auto token = request.query.find("token");
  if (token == request.query.end()) return std::nullopt;
  return unsubscribe.find(token->second);
}

}  // namespace

Response email_inbound(Replies& replies, const std::vector<Secret>& secrets, const Request& request,
                       Time now) {
  const bool known =
      by_authorization(secrets, request) || by_standard_webhook(secrets, request, now);
  // Who shows no credential gets no word about their body but this.
  std::optional<InboundHook> hook;
  try {
    hook = InboundHook::parse(request.content_type, request.body);
  } catch (const BadRequest&) {
    if (known) throw;
  }
  if (!known && !(hook && by_mailgun(secrets, *hook, now))) return not_ours();
  const auto outcome = replies.take(hook->mail(), request.address, now);
  Facts facts{{"outcome", to_text(outcome.kind)}};
  if (!outcome.reason.empty()) facts.emplace_back("reason", outcome.reason);
  log(Level::info, "mail_taken", facts);
  JsonWriter out;
  out.begin_object().member("ok", true).member("outcome", to_text(outcome.kind)).end_object();
  Response response;
  response.body = out.take();
  return response;
}

Response unsubscribe_page(Unsubscribe& unsubscribe, const Request& request) {
  const auto mail = find_mail(unsubscribe, request);
  if (!mail) return wrong_link();
  const std::string token = request.query.find("token")->second;
  return html_page(200, "No more mails",
                   "<h1>No more mails?</h1>\n<p>" + escape_html(mail->destination) +
                       " will get no more questions by mail from this server, whichever agent "
                       "asks them.</p>\n<form method=\"post\" action=\"/email/unsubscribe?token=" +
                       escape_html(escape_url(token)) +
                       "\"><p><button>Send me no more mails</button></p></form>\n");
}

Response unsubscribe(Unsubscribe& unsubscribe, const Request& request, Time now) {
  const auto mail = find_mail(unsubscribe, request);
  if (!mail) return wrong_link();
  unsubscribe.stop(*mail, request.address, now);
  return message_page(200, "No more mails",
                      mail->destination +
                          " gets no more questions by mail. If that was a mistake, tell who runs "
                          "this server.");
}

}  // namespace holdpoint
