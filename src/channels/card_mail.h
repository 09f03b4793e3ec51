#pragma once

#include <string>

#include "domain/card.h"

namespace holdpoint {

// A mail with a card, before it has an envelope.
struct CardMail {
  const Card& card;
  std::string agent_name;
  std::string to;
  std::string page;             // The session's, for those who log in.
  std::string unsubscribe_url;  // Empty: none.
};

// What the mail is called, after the agent's name.
std::string card_subject(const Card& card);
std::string card_text(const CardMail& mail);
std::string card_html(const CardMail& mail);

}  // namespace holdpoint
