// OpenAI's chat completions, as many others serve them too.
#include "agents/llm/provider.h"
#include "agents/llm/reply_parts.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

// A text, or parts with texts.
std::string text_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const auto& part : content) {
    if (text_member(part, "type") == "text") text += text_member(part, "text");
  }
  return text;
}

// The message as a request may hold it: byte for byte, what only this service knows too, but
// without what the API itself only says and does not take (annotations; of audio all but its id).
std::string echoed(std::string_view raw, bool silent) {
  std::string kept = R"({"role":"assistant")";
  bool has_content = false;
  for (const auto& [name, value] : members_of(raw)) {
    if (name.find('\\') != std::string_view::npos) {
      throw BadRequest("body", "has a message with an escaped name in it");
    }
    if (name == "role" || name == "annotations") continue;
    if (name == "tool_calls" && elements_of(value).empty()) continue;  // Refused when it is empty.
    has_content = has_content || name == "content";
    kept.append(",\"").append(name).append("\":");
    if (name == "audio" && !raw_member(value, "id").empty()) {
      kept.append(R"({"id":)").append(raw_member(value, "id")).append("}");
    } else {
      // Only a message with calls may be without content.
      kept.append(name == "content" && silent ? R"("")" : value);
    }
  }
  if (silent && !has_content) kept.append(R"(,"content":"")");
  return kept + "}";
}

ModelStop stop_from(const std::string& reason, bool calls, bool refused) {
  if (refused || reason == "content_filter") return ModelStop::refusal;
  if (reason == "length") return ModelStop::max_tokens;
  return calls ? ModelStop::tools : ModelStop::done;
}

class ChatCompletions final : public Provider {
 public:
  explicit ChatCompletions(const char* limit_name) : limit_name_(limit_name) {}

  std::string_view path() const override { return "/chat/completions"; }

  std::string body(const ModelRequest& request) const override {
    JsonWriter out;
    out.begin_object().member("model", request.model).member(limit_name_, request.max_tokens);
    if (!request.tools.empty()) {
      out.key("tools").begin_array();
      for (const auto& tool : request.tools) {
        out.begin_object().member("type", "function").key("function").begin_object();
        out.member("name", tool.name).member("description", tool.description);
        out.raw_member("parameters", tool.schema).end_object().end_object();
      }
      out.end_array();
    }
    out.key("messages").begin_array();
    if (!is_blank(request.system)) {
      out.begin_object().member("role", "system").member("content", request.system).end_object();
    }
    for (const auto& message : request.messages) out.raw(message);
    return out.end_array().end_object().take();
  }

  ModelReply read(const std::string& body) const override {
    const Json json = parse_reply(body);
    const auto raw_choices = elements_of(raw_member(body, "choices"));
    if (raw_choices.empty() || !json.contains("choices"))
      throw BadRequest("body", "has no choices");
    const Json& choice = json["choices"].at(0);
    const std::string_view raw = raw_member(raw_choices[0], "message");
    if (raw.empty() || !choice["message"].is_object()) throw BadRequest("body", "has no message");
    const Json& message = choice["message"];
    const Json content = message.value("content", Json());
    ModelReply reply;
    reply.text = text_of(content);
    reply.calls = read_calls(message.value("tool_calls", Json()));
    check_calls(reply.calls);
    const std::string refusal = text_member(message, "refusal");
    const bool silent = content.is_null() && reply.calls.empty();
    const bool readable = content.is_null() || content.is_string() || content.is_array();
    if (!readable || (silent && refusal.empty() && !message.contains("content"))) {
      throw BadRequest("body", "has a message without content");
    }
    if (!refusal.empty()) reply.text = refusal;
    reply.message = echoed(raw, silent);
    reply.stop_reason = shorten(text_member(choice, "finish_reason"), 60);
    reply.stop = stop_from(reply.stop_reason, !reply.calls.empty(), !refusal.empty());
    if (const auto usage = json.find("usage"); usage != json.end())
      reply.usage = read_usage(*usage);
    return reply;
  }

  std::string error_text(const std::string& body) const override { return error_sentence(body); }

  bool is_context_full(int status, const std::string& body) const override {
    if (status != 400 && status != 413) return false;
    const Json error = error_of(body);
    const std::string said = lower_case(text_member(error, "message"));
    return text_member(error, "code") == "context_length_exceeded" ||
           text_member(error, "type") == "exceed_context_size_error" ||
           said.find("maximum context length") != std::string::npos;
  }

  std::vector<std::string> user_messages(const std::vector<std::string>& texts) const override {
    std::vector<std::string> messages;
    for (const auto& text : texts) {
      JsonWriter out;
      out.begin_object().member("role", "user").member("content", text).end_object();
      messages.push_back(out.take());
    }
    return messages;
  }

  std::vector<std::string> result_messages(const std::vector<ToolResult>& results) const override {
    std::vector<std::string> messages;
    for (const auto& result : results) {
      JsonWriter out;
      out.begin_object().member("role", "tool").member("tool_call_id", result.id);
      // There is no flag for it.
      out.member("content", result.is_error ? "Error: " + result.content : result.content);
      messages.push_back(out.end_object().take());
    }
    return messages;
  }

 private:
  static std::vector<ToolCall> read_calls(const Json& given) {
    std::vector<ToolCall> calls;
    if (given.is_null()) return calls;
    if (!given.is_array()) throw BadRequest("body", "has tool_calls that are no list");
    for (const auto& call : given) {
      // A kind we never offer would have no name here: it is refused with the reply.
      const Json function = call.is_object() ? call.value("function", Json()) : Json();
      const std::string arguments = text_member(function, "arguments");
      // Some leave them empty for a tool that takes none.
      calls.push_back({text_member(call, "id"), text_member(function, "name"),
                       is_blank(arguments) ? "{}" : arguments});
    }
    return calls;
  }

  static ModelUsage read_usage(const Json& usage) {
    ModelUsage read;
    read.input_tokens = token_count(usage, "prompt_tokens");
    read.output_tokens = token_count(usage, "completion_tokens");
    if (usage.is_object()) {
      read.cached_tokens =
          std::min(read.input_tokens,
                   token_count(usage.value("prompt_tokens_details", Json()), "cached_tokens"));
    }
    return read;
  }

  const char* const limit_name_;
};

}  // namespace

// The bound is spelled max_tokens, which all who serve this API know.
const Provider& chat_completions() {
  static const ChatCompletions provider("max_tokens");
  return provider;
}

const Provider& openai_chat_completions() {
  static const ChatCompletions provider("max_completion_tokens");
  return provider;
}

}  // namespace holdpoint
