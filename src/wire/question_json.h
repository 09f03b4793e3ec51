#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/answer.h"
#include "domain/ask.h"
#include "wire/json_writer.h"

namespace holdpoint {

// What an ask may leave out.
struct AskDefaults {
  std::chrono::seconds timeout{3600};
  OnTimeout on_timeout = OnTimeout::fail;
};

// An ask as agents write it (DESIGN 5). Throws BadRequest for what is not an ask, and for an ask
// that breaks a rule. `also_known` names members that the caller reads itself.
Ask parse_ask(std::string_view text, const AskDefaults& defaults, const Limits& limits,
              std::initializer_list<std::string_view> also_known = {});

// `{"question_id"?, "answer", "answered_by"?}` or `{"answers": {…}, "answered_by"?}`. The channel
// fills in `via`.
Answer parse_answer(std::string_view text);

// A question as the API shows it.
void write_question(JsonWriter& out, const Question& question);

// `"haiku"`, or `["a","b"]` of a question with multi_select.
void write_choice(JsonWriter& out, const QuestionSpec& spec, const Choice& choice);

// `"options":[labels]` and `"choices":[{label, description, emoji, recommended}]`.
void write_options(JsonWriter& out, const QuestionSpec& spec);
void write_choices(JsonWriter& out, const QuestionSpec& spec);

// How a question was answered, if it was: `"selected"`, `"index"`; and who did: `"answered_by"`,
// `"answered_via"`, `"answered_at"`.
void write_selected(JsonWriter& out, const Question& question);
void write_answerer(JsonWriter& out, const Question& question);

// What the agent gets back once all questions of its ask are settled (DESIGN 5).
std::string resume_json(const std::vector<Question>& settled);

// What the agent gets back for an ask that nobody was asked.
std::string refusal_json(const std::optional<std::string>& tool_call_id, const std::string& reason);

}  // namespace holdpoint
