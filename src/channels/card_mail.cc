#include "channels/card_mail.h"

#include "channels/mail_html.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

std::string why_line(const CardMail& mail) {
  return "You get this mail because " + mail.to + " is told what " + mail.agent_name +
         " has to say. There is nothing to answer.";
}

}  // namespace

std::string card_subject(const Card& card) { return is_blank(card.title) ? card.text : card.title; }

std::string card_text(const CardMail& mail) {
  std::string out = mail.agent_name + " says:\n\n";
  if (!is_blank(mail.card.title)) out += mail.card.title + "\n\n";
  out += mail.card.text + "\n\n" + why_line(mail) + "\nThe session's page:\n   " + mail.page + "\n";
  if (!mail.unsubscribe_url.empty()) {
    out += "To get no more of them:\n   " + mail.unsubscribe_url + "\n";
  }
  return out;
}

std::string card_html(const CardMail& mail) {
  const Card& card = mail.card;
  const std::string whole = is_blank(card.title) ? card.text : card.title + "\n" + card.text;
  std::string foot = mail_lines(why_line(mail));
  if (!mail.unsubscribe_url.empty()) foot += " " + mail_link(mail.unsubscribe_url, "Unsubscribe");
  return mail_page(shorten(card_subject(card), 60), card.text,
                   mail_soft(mail.agent_name + " says", "0 0 4px") + mail_title(whole, false) +
                       "<div>" + mail_link(mail.page, "Open the session") + "</div>\n",
                   foot);
}

}  // namespace holdpoint
