// What a model, or whoever stands in its place, sends back.
#include <set>

#include "agents/llm/provider.h"
#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

void check_usage(const ModelUsage& usage) {
  expect(usage.input_tokens >= 0 && usage.output_tokens >= 0 && usage.cached_tokens >= 0 &&
             usage.cached_tokens <= usage.input_tokens,
         "figures are no less than nothing");
  expect(usage.input_tokens + usage.output_tokens < 10'000'000'000, "figures can be added up");
}

// The ids of the calls that the message holds, as its provider spells them.
std::multiset<std::string> calls_in(const Provider& provider, const Json& message) {
  std::multiset<std::string> ids;
  const bool blocks = &provider == &anthropic_messages();
  for (const auto& call : message.value(blocks ? "content" : "tool_calls", Json::array())) {
    const bool calls = !blocks || (call.is_object() && call.value("type", Json()) == "tool_use");
    if (calls) ids.insert(call["id"]);
  }
  return ids;
}

void check_reply(const Provider& provider, const ModelReply& reply) {
  const Json message = parse_json(reply.message, "message");
  expect(message["role"] == "assistant", "the message is the model's");
  std::multiset<std::string> ids;
  std::vector<ToolResult> results;
  for (const auto& call : reply.calls) {
    expect(!call.id.empty() && !call.name.empty() && !call.input.empty(), "a call is a call");
    ids.insert(call.id);
    results.push_back({call.id, call.input, false});
  }
  expect(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size(), "ids are unlike");
  expect(calls_in(provider, message) == ids, "what goes back has the calls that get results");
  expect(reply.stop != ModelStop::tools || !reply.calls.empty(), "tools are waited for if called");
  expect(is_clean_utf8(reply.text) && is_clean_utf8(reply.stop_reason), "texts can be kept");
  check_usage(reply.usage);
  ModelRequest next;
  next.messages = {reply.message};
  for (auto& result : provider.result_messages(results)) next.messages.push_back(result);
  check_json(provider.body(next), "body");
}

void run(const Provider& provider, const std::string& text) {
  const auto reply = unless_refused([&] { return provider.read(text); });
  if (reply) check_reply(provider, *reply);
  const std::string said = provider.error_text(text);
  expect(is_clean_utf8(said) && count_chars(said) <= 1000, "an error is a short text");
  (void)provider.is_context_full(400, text);
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(holdpoint::text_of(data, size));
  holdpoint::run(holdpoint::anthropic_messages(), text);
  holdpoint::run(holdpoint::chat_completions(), text);
  return 0;
}
