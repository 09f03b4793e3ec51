#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "domain/card.h"

namespace holdpoint {

// A card of an agent that lives elsewhere, with what the session that it becomes is known by.
struct OutsideCard {
  std::string agent_name;
  Card card;
  // The same key of the same agent is the same card.
  std::optional<std::string> idempotency_key;
};

// `{"message", "title"?, "channels"?, "idempotency_key"?, "agent"?}`. Throws BadRequest.
OutsideCard parse_outside_card(std::string_view body, std::string agent_name, const Limits& limits);

// `{"title","message"}`: what a card's session keeps as its payload.
std::string card_json(const Card& card);

// The body of the `url` channel, which is also what the outbox keeps of a card.
std::string card_posted_json(const SessionId& session, const std::string& agent_name,
                             const Card& card);
// The card of such a body.
Card read_card_posted(std::string_view body);

}  // namespace holdpoint
