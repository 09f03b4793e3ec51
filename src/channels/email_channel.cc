#include "channels/email_channel.h"

#include "channels/email_message.h"
#include "domain/target.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

SendOutcome refused(std::string why) {
  SendOutcome outcome;
  outcome.kind = SendOutcome::Kind::refused;
  outcome.error = std::move(why);
  return outcome;
}

}  // namespace

SendOutcome EmailChannel::send(const Outgoing& message, Time now,
                               const std::function<bool()>& cancelled) {
  const Delivery& delivery = message.delivery;
  if (message.questions.empty() && !message.card) return refused("the question is no longer there");
  if (!is_mail_address(delivery.destination)) {
    return refused("\"" + delivery.destination + "\" is no mail address");
  }
  const auto from_option = [&](const std::function<std::string(const DeliveryId&)>& option) {
    return option ? option(delivery.id) : "";
  };
  const Mail mail =
      email_message(message,
                    {options_.from, options_.public_url, from_option(options_.reply_address),
                     from_option(options_.unsubscribe_url)},
                    now);
  const SmtpResult result =
      sender_.send(options_.from.address, mail.to, write_mail(mail), cancelled);
  SendOutcome outcome;
  if (result.code != 0) outcome.http_status = result.code;
  outcome.error = result.error;
  switch (result.kind) {
    case SmtpResult::Kind::sent:
      outcome.kind = SendOutcome::Kind::delivered;
      outcome.message_ref = mail.message_id;
      break;
    case SmtpResult::Kind::refused:
      outcome.kind = SendOutcome::Kind::refused;
      break;
    case SmtpResult::Kind::wrong_login:
      // Servers lock accounts out that try too often.
      outcome.rest = 60s;
      outcome.rest_all = true;
      break;
    case SmtpResult::Kind::failed:
      if (result.code == 421) outcome.rest = 30s;
      break;
  }
  return outcome;
}

}  // namespace holdpoint
