#include "agents/llm/ask_tool.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

// What people can take in at a glance, and what models of this tool were taught.
constexpr std::size_t kFewestOptions = 2;
constexpr std::size_t kMostOptions = 4;

constexpr const char* kDescription =
    "Asks a person, and waits until they have answered: minutes or hours. Use it when the next "
    "step "
    "depends on a decision that is theirs: a preference among several good ways, an approval "
    "before something that cannot be undone, or a fact that neither the payload nor your other "
    "tools hold. Do not use it for what you can find out or reasonably decide yourself, and never "
    "to report progress.\n"
    "Ask all you need to know at once: 1 to 4 questions. Each must make sense to somebody who has "
    "not followed your work, and has 2 to 4 options that exclude each other, unless multiSelect is "
    "true. Mark the option that you would take as recommended. People can always type an answer of "
    "their own, so add no option \"Other\".\n"
    "The result has the answers by question. {\"answered\":false,\"reason\":\"timeout\"} means "
    "that "
    "nobody answered in time: go on as carefully as you can without them, and say so in the end.";

constexpr const char* kSchema =
    R"({"type":"object","required":["questions"],"additionalProperties":false,"properties":{)"
    R"("questions":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"object",)"
    R"("required":["question","options"],"additionalProperties":false,"properties":{)"
    R"("question":{"type":"string","description":"The whole question, with what one must know to answer it."},)"
    R"("header":{"type":"string","maxLength":12,"description":"A label of at most 12 characters."},)"
    R"("multiSelect":{"type":"boolean","description":"Whether several options may be chosen. Default: false."},)"
    R"("options":{"type":"array","minItems":2,"maxItems":4,"items":{"type":"object",)"
    R"("required":["label"],"additionalProperties":false,"properties":{)"
    R"("label":{"type":"string","description":"A few words."},)"
    R"("description":{"type":"string","description":"What choosing it means."},)"
    R"("recommended":{"type":"boolean","description":"At most one option of a question."}}}}}}}}})";

// The answer that counts if nobody gives one.
void add_default(Json& question, const std::string& at) {
  for (const auto& option : question["options"]) {
    if (option.is_object() && option.value("recommended", false)) {
      question["default"] = option.value("label", "");
      return;
    }
  }
  throw BadRequest(at + ".options",
                   "must have one that is recommended: it counts if nobody answers in time");
}

}  // namespace

ToolSpec ask_tool() { return {kAskTool, kDescription, kSchema}; }

ToolAsk read_ask_call(const ToolCall& call, const AskDefaults& defaults, const Limits& limits) {
  Json ask = parse_json(call.input, "input");
  check_members(ask, "input", {"questions"});
  Limits tool = limits;
  tool.max_options = std::min(limits.max_options, kMostOptions);
  if (ask.contains("questions") && ask["questions"].is_array()) {
    for (std::size_t i = 0; i < ask["questions"].size(); ++i) {
      Json& question = ask["questions"][i];
      const std::string at = "questions[" + std::to_string(i) + "]";
      if (!question.is_object()) continue;  // What reads it below says so.
      check_members(question, at, {"question", "header", "options", "multiSelect"});
      const auto options = question.find("options");
      if (options == question.end() || !options->is_array() || options->size() < kFewestOptions) {
        throw BadRequest(at + ".options", "must be a list of 2 to 4 options");
      }
      if (defaults.on_timeout == OnTimeout::use_default) add_default(question, at);
    }
  }
  ask["tool_call_id"] = call.id;
  const std::string text = ask.dump();
  const Ask parsed = parse_ask(text, defaults, tool);
  return {text, static_cast<std::int64_t>(parsed.questions.size())};
}

ToolResult ask_result(const ToolCall& call, const std::string& resume) {
  const Json end = read_json(resume);
  const std::string outcome = end.value("outcome", "");
  const std::string reason = end.value("reason", Json()).is_string() ? end["reason"] : "";
  if (outcome == "cancelled") return {call.id, "The user cancelled the question.", true};
  if (outcome == "refused") return {call.id, "The question was not asked: " + reason, true};
  const bool answered = end.value("answered", false);
  std::string_view answers = "{}";
  for (const auto& [name, value] : members_of(resume)) {
    if (name == "answers") answers = value;
  }
  JsonWriter out;
  out.begin_object().member("answered", answered);
  if (!reason.empty()) out.member("reason", reason);  // Defaults have one too.
  if (answers != "{}") out.raw_member("answers", answers);
  out.end_object();
  return {call.id, out.take(), false};
}

}  // namespace holdpoint
