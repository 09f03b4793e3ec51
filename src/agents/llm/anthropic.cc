// Anthropic's Messages.
#include "agents/llm/provider.h"
#include "agents/llm/reply_parts.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

bool is_empty_text(const Json& block) {
  return text_member(block, "type") == "text" && is_blank(text_member(block, "text"));
}

// The content as it may go back: byte for byte, but the API that may reply without words takes
// back neither an empty text nor an empty message.
std::string echoed(std::string_view raw, const Json& blocks) {
  const auto elements = elements_of(raw);
  std::string kept;
  std::size_t count = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (is_empty_text(blocks.at(i))) continue;
    kept.append(count++ ? "," : "").append(elements[i]);
  }
  if (count == 0) return R"([{"type":"text","text":"No words."}])";
  return count == elements.size() ? std::string(raw) : "[" + kept + "]";
}

ModelStop stop_from(const std::string& reason, bool calls) {
  if (reason == "max_tokens") return ModelStop::max_tokens;
  if (reason == "refusal") return ModelStop::refusal;
  if (reason == "model_context_window_exceeded") return ModelStop::context_full;
  if (calls) return ModelStop::tools;
  return reason == "pause_turn" ? ModelStop::paused : ModelStop::done;
}

class AnthropicMessages final : public Provider {
 public:
  std::string_view path() const override { return "/v1/messages"; }

  std::string body(const ModelRequest& request) const override {
    JsonWriter out;
    out.begin_object().member("model", request.model).member("max_tokens", request.max_tokens);
    if (!is_blank(request.system)) out.member("system", request.system);
    if (!request.tools.empty()) {
      out.key("tools").begin_array();
      for (const auto& tool : request.tools) {
        out.begin_object().member("name", tool.name).member("description", tool.description);
        out.raw_member("input_schema", tool.schema).end_object();
      }
      out.end_array();
    }
    out.key("messages").begin_array();
    for (const auto& message : request.messages) out.raw(message);
    return out.end_array().end_object().take();
  }

  ModelReply read(const std::string& body) const override {
    const Json json = parse_reply(body);
    const std::string_view raw = raw_member(body, "content");
    const auto blocks = json.find("content");
    const auto elements = elements_of(raw);
    if (blocks == json.end() || !blocks->is_array() || elements.size() != blocks->size()) {
      throw BadRequest("body", "has no content");
    }
    ModelReply reply;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Json& block = blocks->at(i);
      const std::string type = text_member(block, "type");
      if (type == "text") reply.text += text_member(block, "text");
      if (type == "tool_use") {
        const std::string_view input = raw_member(elements[i], "input");
        if (input.empty()) throw BadRequest("body", "has a tool call without input");
        reply.calls.push_back(
            {text_member(block, "id"), text_member(block, "name"), std::string(input)});
      }
    }
    check_calls(reply.calls);
    reply.message = R"({"role":"assistant","content":)" + echoed(raw, *blocks) + "}";
    reply.stop_reason = shorten(text_member(json, "stop_reason"), 60);
    reply.stop = stop_from(reply.stop_reason, !reply.calls.empty());
    if (const auto usage = json.find("usage"); usage != json.end())
      reply.usage = read_usage(*usage);
    return reply;
  }

  std::string error_text(const std::string& body) const override { return error_sentence(body); }

  bool is_context_full(int status, const std::string& body) const override {
    if (status == 413) return true;
    const std::string said = lower_case(text_member(error_of(body), "message"));
    return status == 400 && (said.find("prompt is too long") != std::string::npos ||
                             said.find("exceed context limit") != std::string::npos);
  }

  std::vector<std::string> user_messages(const std::vector<std::string>& texts) const override {
    JsonWriter out;
    out.begin_object().member("role", "user").key("content").begin_array();
    for (const auto& text : texts) {
      // The API refuses an empty text.
      const std::string_view said = is_blank(text) ? "Nothing." : std::string_view(text);
      out.begin_object().member("type", "text").member("text", said).end_object();
    }
    return {out.end_array().end_object().take()};
  }

  std::vector<std::string> result_messages(const std::vector<ToolResult>& results) const override {
    JsonWriter out;
    out.begin_object().member("role", "user").key("content").begin_array();
    for (const auto& result : results) {
      out.begin_object().member("type", "tool_result").member("tool_use_id", result.id);
      out.member("content", result.content);
      if (result.is_error) out.member("is_error", true);
      out.end_object();
    }
    return {out.end_array().end_object().take()};
  }

 private:
  // Here input_tokens are only those that no cache was used for.
  static ModelUsage read_usage(const Json& usage) {
    ModelUsage read;
    read.cached_tokens = token_count(usage, "cache_read_input_tokens");
    read.input_tokens = token_count(usage, "input_tokens") + read.cached_tokens +
                        token_count(usage, "cache_creation_input_tokens");
    read.output_tokens = token_count(usage, "output_tokens");
    return read;
  }
};

}  // namespace

const Provider& anthropic_messages() {
  static const AnthropicMessages provider;
  return provider;
}

}  // namespace holdpoint
