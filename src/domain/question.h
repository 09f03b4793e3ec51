#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/transitions.h"

namespace holdpoint {

struct Option {
  std::string label;
  std::string description;  // Empty: none.
  std::string emoji;        // Empty: none.
  bool recommended = false;
  bool operator==(const Option&) const = default;
};

enum class Style { buttons, select };
std::string_view to_text(Style style);

enum class OnTimeout { fail, use_default, carry_on };
std::string_view to_text(OnTimeout policy);
std::optional<OnTimeout> on_timeout_from(std::string_view text);

// What a person picked or typed: labels in the order of the options, and own text.
struct Choice {
  std::vector<std::string> selected;
  std::optional<std::string> text;
  bool operator==(const Choice&) const = default;
};

// What a question asks, before anyone is asked.
struct QuestionSpec {
  std::string question;
  std::optional<std::string> header;
  std::vector<Option> options;  // Empty: free text only.
  bool multi_select = false;
  bool allow_other = true;
  Style style = Style::buttons;
  std::optional<Choice> default_choice;
};

// A question put to people; a row of agent_questions.
struct Question {
  QuestionId id;
  SessionId session_id;
  std::string agent_name;
  std::int64_t ask = 0;  // The turn that asked; with the session it names the ask.
  std::int64_t position = 0;
  // Where it was sent when it was asked, as platforms: `url`, `slack`, `discord`, `email`; sorted,
  // each once. None: people find it in the inbox alone.
  std::vector<std::string> channels;
  QuestionSpec spec;
  std::string context = "{}";  // A JSON object.
  std::optional<std::string> tool_call_id;
  OnTimeout on_timeout = OnTimeout::fail;
  Time created_at;
  Time deadline_at;
  QuestionStatus status = QuestionStatus::pending;
  std::optional<Choice> choice;  // Once answered or defaulted.
  std::optional<std::string> answered_by;
  std::optional<std::string> answered_via;
  std::optional<Time> settled_at;
};

// The places of the selected labels among the options.
std::vector<std::int64_t> selected_index(const QuestionSpec& spec, const Choice& choice);

// The choice as one line of text, as people would say it.
std::string choice_line(const Choice& choice);

// How many of them have ended, in whatever way.
std::size_t count_settled(const std::vector<Question>& questions);

// How a settled question ended, as people are told in every channel: `Answered by ana: Yes`.
std::string settled_line(const Question& question);

}  // namespace holdpoint
