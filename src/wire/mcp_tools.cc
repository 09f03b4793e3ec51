#include "wire/mcp_tools.h"

#include <algorithm>
#include <set>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/rpc.h"

namespace holdpoint::mcp {
namespace {

constexpr std::size_t kShownInput = 1500;  // Of a tool's input, in the question's own text.

std::string read_text(const Json& json, const char* name, bool required = false) {
  if (!json.contains(name) || json[name].is_null()) {
    if (required) throw BadRequest(name, "is required");
    return "";
  }
  if (!json[name].is_string()) throw BadRequest(name, "must be a string");
  return json[name].get<std::string>();
}

bool read_flag(const Json& json, const char* name) {
  if (!json.contains(name) || json[name].is_null()) return false;
  if (!json[name].is_boolean()) throw BadRequest(name, "must be true or false");
  return json[name].get<bool>();
}

std::chrono::seconds read_wait(const Json& json, const Rules& rules) {
  const auto most = rules.longest_wait.count();
  if (!json.contains("wait_seconds") || json["wait_seconds"].is_null()) return rules.longest_wait;
  const Json& wait = json["wait_seconds"];
  if (!wait.is_number_unsigned()) {
    throw BadRequest("wait_seconds",
                     "must be a whole number of seconds, 0 to " + std::to_string(most));
  }
  // Who would wait longer gets to wait as long as can be: the rest is get_answer's.
  return std::chrono::seconds{
      std::min<std::uint64_t>(wait.get<std::uint64_t>(), static_cast<std::uint64_t>(most))};
}

// `on_cancel` as the payload keeps it, for whichever node hears of the cancellation.
std::string ask_payload(bool withdraw) {
  JsonWriter out;
  out.begin_object().member("mcp", "ask");
  return out.member("on_cancel", withdraw ? "withdraw" : "keep").end_object().take();
}

Json read_arguments(std::string_view arguments) {
  Json json = parse_json(arguments, "arguments");
  if (!json.is_object()) throw BadRequest("arguments", "must be an object");
  return json;
}

std::string_view outcome_name(const std::vector<Question>& questions) {
  return to_text(outcome_of(questions).status);
}

}  // namespace

AskCall parse_ask(std::string_view arguments, const Rules& rules) {
  const Json json = read_arguments(arguments);
  static const std::set<std::string_view> ours{"wait_seconds", "on_cancel", "elicit", "agent",
                                               "payload"};
  AskCall call;
  call.wait = read_wait(json, rules);
  call.elicit = read_flag(json, "elicit");
  const std::string on_cancel = read_text(json, "on_cancel");
  if (!on_cancel.empty() && on_cancel != "keep" && on_cancel != "withdraw") {
    throw BadRequest("on_cancel", "must be keep or withdraw");
  }
  for (const char* name : {"agent", "payload"}) {
    if (json.contains(name)) throw BadRequest(name, "is not known here");
  }
  // The rest is an ask as everybody writes it.
  std::string rest;
  for (const auto& [name, value] : members_of(arguments)) {
    if (ours.count(name)) continue;
    rest.append(rest.empty() ? "{\"" : ",\"").append(name).append("\":").append(value);
  }
  rest.append(rest.empty() ? "{}" : "}");
  call.ask = parse_outside_ask(rest, rules.agent_name, rules.defaults, rules.limits);
  call.ask.payload = ask_payload(on_cancel == "withdraw");
  return call;
}

OutsideAsk parse_permission(std::string_view arguments, const Rules& rules) {
  const Json json = read_arguments(arguments);
  check_members(json, "", {"tool_name", "input", "tool_use_id"});
  const std::string tool = read_text(json, "tool_name", true);
  if (is_blank(tool)) throw BadRequest("tool_name", "must not be empty");
  if (!json.contains("input") || !json["input"].is_object()) {
    throw BadRequest("input", "is required: the tool's input, an object");
  }
  std::string input = member_text(arguments, "input");
  if (input.empty()) input = json["input"].dump();  // Its name is written with escapes.
  const std::string tool_use_id = read_text(json, "tool_use_id");
  OutsideAsk outside;
  outside.agent_name = rules.agent_name;
  Ask& ask = outside.ask;
  // Nobody can come back for the answer: the question is not open for longer than the call waits.
  ask.timeout = std::min(rules.defaults.timeout, rules.longest_wait);
  ask.on_timeout = OnTimeout::fail;
  if (!tool_use_id.empty()) ask.tool_call_id = shorten(tool_use_id, 200);
  QuestionSpec question;
  question.question =
      "Allow " + shorten(tool, 200) + "?\n\n" +
      shorten(json["input"].dump(2, ' ', false, Json::error_handler_t::replace), kShownInput);
  question.header = "Permission";
  question.options = {{"Allow", "", "", false}, {"Deny", "", "", false}};
  ask.questions.push_back(std::move(question));
  JsonWriter context;
  context.begin_object().member("tool", tool);
  if (input.size() + tool.size() + 64 <= rules.limits.max_context_bytes) {
    context.raw_member("input", input);
  } else {
    context.member("input_begins", shorten(input, rules.limits.max_context_bytes / 8));
  }
  ask.context = context.end_object().take();
  check_ask(ask, rules.limits);
  JsonWriter payload;
  payload.begin_object().member("mcp", "permission").member("on_cancel", "withdraw");
  payload.member("tool_name", tool).raw_member("input", input).end_object();
  outside.payload = payload.take();
  return outside;
}

AboutAsk parse_get_answer(std::string_view arguments, const Rules& rules) {
  const Json json = read_arguments(arguments);
  check_members(json, "", {"id", "wait_seconds"});
  return {lower_case(read_text(json, "id", true)), read_wait(json, rules), ""};
}

AboutAsk parse_cancel(std::string_view arguments) {
  const Json json = read_arguments(arguments);
  check_members(json, "", {"id", "reason"});
  AboutAsk about{lower_case(read_text(json, "id", true)), {}, read_text(json, "reason")};
  if (count_chars(about.reason) > 1000) {
    throw BadRequest("reason", "has at most 1000 characters");
  }
  if (is_blank(about.reason)) about.reason = "the agent withdrew it";
  return about;
}

bool withdrawn_by_cancel(std::string_view payload) {
  return member_text(payload, "on_cancel") == "\"withdraw\"";
}

bool is_permission(std::string_view payload) {
  return member_text(payload, "mcp") == "\"permission\"";
}

std::string text_result(std::string_view text, std::string_view structured, bool is_error) {
  JsonWriter out;
  out.begin_object().key("content").begin_array();
  out.begin_object().member("type", "text").member("text", text).end_object().end_array();
  if (!structured.empty()) out.raw_member("structuredContent", structured);
  return out.member("isError", is_error).end_object().take();
}

std::string ask_result(const Session& session, const std::vector<Question>& questions) {
  JsonWriter out;
  out.begin_object().member("id", session.id);
  if (!is_finished(session.status)) {
    const Time until = questions.front().deadline_at;
    out.member("status", "pending").member("expires_at", until).end_object();
    return text_result("Nobody has answered yet. The question stays open until " + to_iso(until) +
                           " and nothing is lost: call get_answer with {\"id\": \"" +
                           session.id.text() +
                           "\"} to go on waiting, or cancel_question to withdraw it.",
                       out.take(), false);
  }
  out.member("status", outcome_name(questions));
  std::string structured = out.take();
  structured.append(",").append(std::string_view(resume_json(questions)).substr(1));
  std::string text;
  for (const auto& question : questions) {
    if (!text.empty()) text += "\n\n";
    if (questions.size() > 1) text += question.spec.question + "\n";
    text += settled_line(question);
  }
  if (session.status == SessionStatus::cancelled && session.error) text += "\n\n" + *session.error;
  return text_result(text, structured, session.status != SessionStatus::completed);
}

std::string told_result(const SessionId& session, const std::vector<std::string>& channels) {
  std::string where;
  JsonWriter out;
  out.begin_object().member("id", session).key("channels").begin_array();
  for (const auto& channel : channels) {
    out.value(channel);
    where += (where.empty() ? "" : ", ") + channel;
  }
  out.end_array().end_object();
  const std::string text =
      where.empty() ? "It is kept where people can read it, but no channel is set up to tell them."
                    : "It is on its way to people by " + where + ".";
  return text_result(text, out.take(), false);
}

std::string permission_result(const Session& session, const std::vector<Question>& questions,
                              std::string_view payload) {
  const Question& question = questions.front();
  JsonWriter out;
  out.begin_object();
  const Choice choice = question.choice.value_or(Choice{});
  if (!choice.selected.empty() && choice.selected.front() == "Allow") {
    out.member("behavior", "allow").raw_member("updatedInput", member_text(payload, "input"));
  } else {
    std::string message;
    if (choice.text) {
      message = *choice.text;
    } else if (!is_finished(session.status)) {
      message = "Nobody has answered yet.";
    } else {
      message = settled_line(question);
    }
    out.member("behavior", "deny").member("message", message);
  }
  return text_result(out.end_object().take(), "", false);
}

}  // namespace holdpoint::mcp
