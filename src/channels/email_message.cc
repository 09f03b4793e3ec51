#include "channels/email_message.h"

#include <algorithm>

#include "channels/card_mail.h"
#include "channels/letter_html.h"
#include "channels/letter_text.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostSubject = 120;

std::size_t place_of(const Outgoing& message) {
  const auto& all = message.questions;
  const auto it = std::find_if(all.begin(), all.end(), [&](const Question& q) {
    return q.id == message.delivery.question_id;
  });
  return it == all.end() ? 0 : static_cast<std::size_t>(it - all.begin());
}

// Which of several, as far as is known.
std::string number_of(const Outgoing& message, const Question& q) {
  const std::string number = std::to_string(q.position + 1);
  const std::size_t all = std::max(message.asked_together, message.questions.size());
  if (all > 1) return "(" + number + "/" + std::to_string(all) + ") ";
  return q.position > 0 ? "(" + number + ") " : "";
}

std::string id_at(const std::string& id, const Mailbox& from) {
  return "<" + id + "@" + from.domain() + ">";
}

// Mail programs file by it: one list an agent.
std::string list_id(const std::string& agent, const Mailbox& from) {
  std::string label = lower_case(agent);
  std::replace_if(
      label.begin(), label.end(),
      [](char c) { return c != '-' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'); }, '-');
  return "<" + label + ".holdpoint." + from.domain() + ">";
}

Letter letter_of(const Outgoing& message, const EmailFrame& frame, std::size_t place) {
  const Delivery& delivery = message.delivery;
  const Question& q = message.questions[place];
  Letter letter{Letter::Kind::asks, q, delivery.destination, "", "", "", false, ""};
  if (is_settled(q.status)) {
    letter.kind = Letter::Kind::settled;
  } else if (delivery.event == "reply_unclear") {
    letter.kind = Letter::Kind::unclear;
    letter.reason = delivery.body;
  }
  letter.page = frame.public_url + "/question/" + q.id.text();
  const std::size_t token = delivery.tokens.size() == 1 ? 0 : place;
  if (token < delivery.tokens.size() && letter.kind != Letter::Kind::settled) {
    letter.answer_link = frame.public_url + "/agent/answer/" + q.session_id.text() +
                         "?token=" + delivery.tokens[token];
  }
  letter.replies_are_read = !frame.reply_to.empty();
  letter.unsubscribe_url = frame.unsubscribe_url;
  return letter;
}

// Who it is from and to, and what files it with the others of its session.
Mail envelope(const Outgoing& message, const EmailFrame& frame, Time now) {
  const Delivery& delivery = message.delivery;
  Mail mail;
  mail.from = frame.from;
  mail.to = delivery.destination;
  mail.date = now;
  mail.message_id = id_at(delivery.id.text(), frame.from);
  mail.references = {id_at(delivery.session_id.text(), frame.from)};
  if (message.message_ref) {
    mail.in_reply_to = *message.message_ref;
    mail.references.push_back(*message.message_ref);
  }
  mail.headers = {
      {"Auto-Submitted", "auto-generated"},
      {"X-Auto-Response-Suppress", "All"},
      {"X-Holdpoint-Session", delivery.session_id.text()},
      {"List-Id", list_id(delivery.agent_name, frame.from)},
  };
  if (!frame.unsubscribe_url.empty()) {
    mail.headers.emplace_back("List-Unsubscribe", "<" + frame.unsubscribe_url + ">");
    mail.headers.emplace_back("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
  }
  return mail;
}

void write_card(Mail& mail, const Outgoing& message, const EmailFrame& frame) {
  const Delivery& delivery = message.delivery;
  const CardMail card{*message.card, delivery.agent_name, delivery.destination,
                      session_page(frame.public_url, delivery), frame.unsubscribe_url};
  mail.subject = "[" + delivery.agent_name + "] " +
                 shorten(one_line(card_subject(*message.card)), kMostSubject);
  mail.text = card_text(card);
  mail.html = card_html(card);
}

}  // namespace

Mail email_message(const Outgoing& message, const EmailFrame& frame, Time now) {
  Mail mail = envelope(message, frame, now);
  if (message.card) {
    write_card(mail, message, frame);
    return mail;
  }
  const Letter letter = letter_of(message, frame, place_of(message));
  const Question& q = letter.question;
  if (letter.kind != Letter::Kind::settled) mail.reply_to = frame.reply_to;
  if (letter.kind == Letter::Kind::unclear) mail.headers.front().second = "auto-replied";
  mail.subject = (message.message_ref ? "Re: [" : "[") + q.agent_name + "] " +
                 number_of(message, q) + shorten(one_line(q.spec.question), kMostSubject);
  mail.text = letter_text(letter);
  mail.html = letter_html(letter);
  return mail;
}

}  // namespace holdpoint
