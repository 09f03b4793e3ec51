#include "wire/question_json.h"

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/target_json.h"

namespace holdpoint {
namespace {

const std::optional<std::string> kNone;

std::string read_string(const Json& value, const std::string& field) {
  if (!value.is_string()) throw BadRequest(field, "must be a string");
  return value.get<std::string>();
}

bool read_bool(const Json& value, const std::string& field) {
  if (!value.is_boolean()) throw BadRequest(field, "must be true or false");
  return value.get<bool>();
}

// A member that goes by two names; null if it is there under neither.
const Json* find_either(const Json& object, const std::string& at, const char* name,
                        const char* alias) {
  const auto it = object.find(name), other = object.find(alias);
  if (it != object.end() && other != object.end()) {
    throw BadRequest(member_path(at, alias),
                     std::string("is the same as ") + name + "; give only one of them");
  }
  if (it != object.end()) return &*it;
  return other == object.end() ? nullptr : &*other;
}

std::vector<std::string> read_values(const Json& value, const std::string& field) {
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) throw BadRequest(field, "must be a string or a list of strings");
  std::vector<std::string> values;
  for (const auto& item : value) {
    if (!item.is_string()) throw BadRequest(field, "must be a string or a list of strings");
    values.push_back(item.get<std::string>());
  }
  return values;
}

Option read_option(const Json& value, const std::string& at) {
  if (value.is_string()) return {value.get<std::string>(), "", "", false};
  if (!value.is_object()) {
    throw BadRequest(at, "must be a string or an object with a label");
  }
  check_members(value, at, {"label", "description", "emoji", "recommended"});
  if (!value.contains("label")) throw BadRequest(at + ".label", "is required");
  Option option;
  option.label = read_string(value["label"], at + ".label");
  if (value.contains("description")) {
    option.description = read_string(value["description"], at + ".description");
    if (count_chars(option.description) > 1000) {
      throw BadRequest(at + ".description", "has at most 1000 characters");
    }
  }
  if (value.contains("emoji")) {
    option.emoji = read_string(value["emoji"], at + ".emoji");
    if (count_chars(option.emoji) > 16)
      throw BadRequest(at + ".emoji", "has at most 16 characters");
  }
  if (value.contains("recommended")) {
    option.recommended = read_bool(value["recommended"], at + ".recommended");
  }
  return option;
}

QuestionSpec read_question(const Json& value, const std::string& at, const Limits& limits) {
  check_members(value, at,
                {"question", "prompt", "header", "options", "multi_select", "multiSelect",
                 "allow_other", "style", "default"});
  QuestionSpec spec;
  const Json* text = find_either(value, at, "question", "prompt");
  if (!text) throw BadRequest(at + ".question", "is required");
  spec.question = read_string(*text, at + ".question");
  if (value.contains("header") && !value["header"].is_null()) {
    spec.header = read_string(value["header"], at + ".header");
  }
  if (value.contains("options")) {
    const Json& options = value["options"];
    if (!options.is_array()) throw BadRequest(at + ".options", "must be a list");
    for (std::size_t i = 0; i < options.size(); ++i) {
      spec.options.push_back(read_option(options[i], at + ".options[" + std::to_string(i) + "]"));
    }
  }
  if (const Json* multi = find_either(value, at, "multi_select", "multiSelect")) {
    spec.multi_select = read_bool(*multi, at + ".multi_select");
  }
  if (value.contains("allow_other")) {
    spec.allow_other = read_bool(value["allow_other"], at + ".allow_other");
  }
  spec.style = spec.options.size() > 3 ? Style::select : Style::buttons;
  if (value.contains("style")) {
    const std::string style = read_string(value["style"], at + ".style");
    if (style != "buttons" && style != "select") {
      throw BadRequest(at + ".style", "must be \"buttons\" or \"select\"");
    }
    spec.style = style == "select" ? Style::select : Style::buttons;
  }
  if (value.contains("default") && !value["default"].is_null()) {
    spec.default_choice =
        choose(spec, read_values(value["default"], at + ".default"), at + ".default", limits);
  }
  return spec;
}

}  // namespace

Ask parse_ask(std::string_view text, const AskDefaults& defaults, const Limits& limits,
              std::initializer_list<std::string_view> also_known) {
  const Json json = parse_json(text, "body");
  std::vector<std::string_view> known{"questions", "timeout",      "on_timeout",
                                      "context",   "tool_call_id", "channels"};
  known.insert(known.end(), also_known);
  check_members(json, "", known);
  Ask ask;
  ask.timeout = defaults.timeout;
  ask.on_timeout = defaults.on_timeout;
  if (!json.contains("questions")) throw BadRequest("questions", "is required");
  if (!json["questions"].is_array()) throw BadRequest("questions", "must be a list");
  for (std::size_t i = 0; i < json["questions"].size(); ++i) {
    ask.questions.push_back(
        read_question(json["questions"][i], "questions[" + std::to_string(i) + "]", limits));
  }
  if (json.contains("timeout")) {
    const Json& timeout = json["timeout"];
    if (!timeout.is_number_integer()) {
      throw BadRequest("timeout", "must be a whole number of seconds");
    }
    // Past the range of int64 nlohmann keeps it unsigned; both ends are out of our range anyway.
    const bool huge = timeout.is_number_unsigned() && timeout.get<std::uint64_t>() > 1'000'000'000;
    ask.timeout = std::chrono::seconds{huge ? 1'000'000'000 : timeout.get<std::int64_t>()};
  }
  if (json.contains("on_timeout")) {
    const auto policy = on_timeout_from(read_string(json["on_timeout"], "on_timeout"));
    if (!policy) {
      throw BadRequest("on_timeout", "must be \"fail\", \"default\" or \"continue\"");
    }
    ask.on_timeout = *policy;
  }
  if (json.contains("tool_call_id") && !json["tool_call_id"].is_null()) {
    ask.tool_call_id = read_string(json["tool_call_id"], "tool_call_id");
    if (count_chars(*ask.tool_call_id) > 200) {
      throw BadRequest("tool_call_id", "has at most 200 characters");
    }
  }
  if (json.contains("context") && !json["context"].is_null()) {
    if (!json["context"].is_object()) throw BadRequest("context", "must be a JSON object");
    ask.context = json["context"].dump();
    for (const auto& [name, value] : members_of(text)) {
      if (name == "context") ask.context = value;  // As written, if it is plainly written.
    }
  }
  ask.channels = read_channels(json, limits);
  check_ask(ask, limits);
  return ask;
}

Answer parse_answer(std::string_view text) {
  const Json json = parse_json(text, "body");
  check_members(json, "", {"question_id", "answer", "answers", "answered_by"});
  Answer answer;
  if (json.contains("answered_by") && !json["answered_by"].is_null()) {
    answer.by = read_string(json["answered_by"], "answered_by");
    if (is_blank(answer.by) || count_chars(answer.by) > 200) {
      throw BadRequest("answered_by", "must have 1 to 200 characters");
    }
  }
  if (json.contains("answers")) {
    if (json.contains("answer") || json.contains("question_id")) {
      throw BadRequest("answers", "does not go with answer or question_id");
    }
    if (!json["answers"].is_object()) {
      throw BadRequest("answers", "must be an object of question ids or texts");
    }
    answer.by_text = true;
    for (const auto& [key, value] : json["answers"].items()) {
      const std::string field = "answers." + shorten(key, 60);
      if (key.empty()) throw BadRequest("answers", "has an empty key; use question ids or texts");
      answer.values[key] = read_values(value, field);
    }
    if (answer.values.empty()) throw BadRequest("answers", "must hold at least one answer");
    return answer;
  }
  if (!json.contains("answer")) throw BadRequest("answer", "is required");
  std::string key;
  if (json.contains("question_id") && !json["question_id"].is_null()) {
    key = read_string(json["question_id"], "question_id");
    if (key.empty()) throw BadRequest("question_id", "must not be empty");
  }
  answer.values[key] = read_values(json["answer"], "answer");
  return answer;
}

void write_choice(JsonWriter& out, const QuestionSpec& spec, const Choice& choice) {
  if (!spec.multi_select) {
    out.value(choice.selected.empty() ? choice.text.value_or("") : choice.selected.front());
    return;
  }
  out.begin_array();
  for (const auto& label : choice.selected) out.value(label);
  if (choice.text) out.value(*choice.text);
  out.end_array();
}

void write_options(JsonWriter& out, const QuestionSpec& spec) {
  out.key("options").begin_array();
  for (const auto& option : spec.options) out.value(option.label);
  out.end_array();
}

void write_choices(JsonWriter& out, const QuestionSpec& spec) {
  out.key("choices").begin_array();
  for (const auto& option : spec.options) {
    out.begin_object().member("label", option.label);
    out.member("description", option.description.empty() ? kNone : option.description);
    out.member("emoji", option.emoji.empty() ? kNone : option.emoji);
    out.member("recommended", option.recommended).end_object();
  }
  out.end_array();
}

void write_selected(JsonWriter& out, const Question& q) {
  const Choice choice = q.choice.value_or(Choice{});
  out.key("selected").begin_array();
  for (const auto& label : choice.selected) out.value(label);
  out.end_array().key("index").begin_array();
  for (const auto i : selected_index(q.spec, choice)) out.value(i);
  out.end_array();
}

void write_answerer(JsonWriter& out, const Question& q) {
  const bool answered = q.status == QuestionStatus::answered;
  out.member("answered_by", q.answered_by).member("answered_via", q.answered_via);
  out.member("answered_at", answered ? q.settled_at : std::optional<Time>());
}

namespace {

void write_maybe_choice(JsonWriter& out, const QuestionSpec& spec,
                        const std::optional<Choice>& choice) {
  if (choice) {
    write_choice(out, spec, *choice);
  } else {
    out.value(nullptr);
  }
}

void write_answer(JsonWriter& out, const Question& q) {
  write_selected(out, q);
  out.member("text", q.choice ? q.choice->text : kNone);
  write_answerer(out, q);
}

// `written` stands between quotes, perhaps with escapes.
bool is_name(std::string_view written, std::string_view name) {
  if (written.find('\\') == std::string_view::npos) return written == name;
  return read_json("\"" + std::string(written) + "\"") == name;
}

// The ask's context with `asked_at` added, unless it has one of its own.
std::string context_with_time(const Question& q) {
  const auto members = members_of(q.context);
  for (const auto& [name, value] : members) {
    if (is_name(name, "asked_at")) return q.context;
  }
  std::string text = q.context.substr(0, q.context.rfind('}'));
  text += members.empty() ? "\"asked_at\":\"" : ",\"asked_at\":\"";
  return text + to_iso(q.created_at) + "\"}";
}

}  // namespace

void write_question(JsonWriter& out, const Question& q) {
  out.begin_object();
  out.member("id", q.id).member("session_id", q.session_id).member("agent_name", q.agent_name);
  out.member("ask", q.ask).member("position", q.position);
  out.member("question", q.spec.question).raw_member("context", context_with_time(q));
  out.member("header", q.spec.header);
  write_options(out, q.spec);
  write_choices(out, q.spec);
  out.member("multi_select", q.spec.multi_select).member("allow_other", q.spec.allow_other);
  out.member("style", to_text(q.spec.style)).key("default");
  write_maybe_choice(out, q.spec, q.spec.default_choice);
  out.member("status", to_text(q.status)).member("tool_call_id", q.tool_call_id);
  out.key("channels").begin_array();
  for (const auto& channel : q.channels) out.value(channel);
  out.end_array();
  out.member("on_timeout", to_text(q.on_timeout)).member("expires_at", q.deadline_at);
  out.member("created_at", q.created_at).member("settled_at", q.settled_at).key("answer");
  write_maybe_choice(out, q.spec, q.choice);
  write_answer(out, q);
  out.end_object();
}

std::string resume_json(const std::vector<Question>& settled) {
  const AskOutcome outcome = outcome_of(settled);
  std::optional<std::string> reason;
  if (outcome.status == QuestionStatus::cancelled) {
    reason = "the user cancelled the question";
  } else if (outcome.status != QuestionStatus::answered) {
    reason = "timeout";
  }
  JsonWriter out;
  out.begin_object();
  out.member("tool_call_id", settled.empty() ? kNone : settled.front().tool_call_id);
  out.member("answered", outcome.answered).member("outcome", to_text(outcome.status));
  out.member("reason", reason).key("answers").begin_object();
  for (const auto& q : settled) {
    if (!q.choice) continue;
    out.key(q.spec.question);
    write_choice(out, q.spec, *q.choice);
  }
  out.end_object().key("questions").begin_array();
  for (const auto& q : settled) {
    out.begin_object().member("id", q.id).member("question", q.spec.question);
    out.member("outcome", to_text(q.status));
    write_answer(out, q);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

std::string refusal_json(const std::optional<std::string>& tool_call_id,
                         const std::string& reason) {
  JsonWriter out;
  out.begin_object().member("tool_call_id", tool_call_id).member("answered", false);
  out.member("outcome", "refused").member("reason", reason);
  out.key("answers").begin_object().end_object();
  out.key("questions").begin_array().end_array().end_object();
  return out.take();
}

}  // namespace holdpoint
