#pragma once

#include <string>

#include "domain/question.h"

namespace holdpoint {

// What interactions are answered with.
std::string discord_pong();
// They were heard; the message stays as it is for now.
std::string discord_deferred();
// The clicked message becomes this one, as discord_message made it.
std::string discord_update(const std::string& message);
// The clicked message, one that only the clicker sees, becomes this text.
std::string discord_update_notice(const std::string& text);
// A text that only the clicker sees.
std::string discord_notice(const std::string& text);
// The form for an answer of their own: text, several options, or both.
std::string discord_form(const Question& question);
// Asks the clicker alone whether they mean it.
std::string discord_cancel_question(const QuestionId& question);

}  // namespace holdpoint
