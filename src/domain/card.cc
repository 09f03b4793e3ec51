#include "domain/card.h"

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {

void check_card(const Card& card, const Limits& limits) {
  if (is_blank(card.text)) throw BadRequest("message", "must not be empty");
  if (count_chars(card.text) > limits.max_question_chars) {
    throw BadRequest("message",
                     "has at most " + std::to_string(limits.max_question_chars) + " characters");
  }
  if (count_chars(card.title) > limits.max_title_chars) {
    throw BadRequest("title",
                     "has at most " + std::to_string(limits.max_title_chars) + " characters");
  }
}

}  // namespace holdpoint
