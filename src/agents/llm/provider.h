#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/llm/tool.h"

namespace holdpoint {

// What one model request took. Cached tokens are a part of the input's.
struct ModelUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;
};

// A conversation as it goes to a model. Messages are the provider's own JSON, byte for byte as they
// came from it or as it made them.
struct ModelRequest {
  std::string model;
  std::int64_t max_tokens = 0;
  std::string system;
  std::vector<ToolSpec> tools;
  std::vector<std::string> messages;
};

// Why the model stopped.
enum class ModelStop {
  done,          // It has said all.
  tools,         // It waits for the results of its calls.
  paused,        // It wants to go on when it gets its own words back.
  max_tokens,    // Cut off.
  refusal,       // It, or a filter, would not.
  context_full,  // The conversation does not fit.
};

struct ModelReply {
  std::string message;  // What goes into the conversation: the provider's own, unknown parts too.
  std::string text;     // What it says, without calls and thoughts.
  std::vector<ToolCall> calls;
  ModelStop stop = ModelStop::done;
  std::string stop_reason;  // In the provider's word.
  ModelUsage usage;
};

// How one kind of API is spoken. Pure: texts in, texts out.
class Provider {
 public:
  virtual ~Provider() = default;
  // What follows the base URL.
  virtual std::string_view path() const = 0;
  virtual std::string body(const ModelRequest& request) const = 0;
  // Of a 200. Throws BadRequest if it is no reply: then asking again may help.
  virtual ModelReply read(const std::string& body) const = 0;
  // What an error's body says: for people. Empty if nothing.
  virtual std::string error_text(const std::string& body) const = 0;
  // Whether this error says that the conversation is too long.
  virtual bool is_context_full(int status, const std::string& body) const = 0;

  // The messages that say this to the model.
  virtual std::vector<std::string> user_messages(const std::vector<std::string>& texts) const = 0;
  // The messages that answer all calls of the last reply, in their order.
  virtual std::vector<std::string> result_messages(
      const std::vector<ToolResult>& results) const = 0;
};

const Provider& anthropic_messages();
const Provider& chat_completions();
// The same as OpenAI itself wants it: its newer models refuse `max_tokens`, which is all that many
// others know, for `max_completion_tokens`. Nobody takes both.
const Provider& openai_chat_completions();

}  // namespace holdpoint
