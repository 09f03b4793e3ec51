// An agent's file: front matter and prompt.
#include "agents/definition.h"

#include <algorithm>
#include <charconv>

#include "domain/text.h"
#include "net/http_client.h"
#include "tests/fuzz/expect.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

constexpr std::string_view kFile = "/nowhere/agent.md";
constexpr std::chrono::seconds kMaxTimeout{86400};

// `file:line: reason`, with a line that the file has.
void check_complaint(std::string_view complaint, const std::string& text) {
  expect(complaint.starts_with(kFile) && complaint[kFile.size()] == ':', "the file is named");
  const char* start = complaint.data() + kFile.size() + 1;
  int line = 0;
  const auto [stop, error] = std::from_chars(start, complaint.data() + complaint.size(), line);
  expect(error == std::errc{} && std::string_view(stop).starts_with(": "), "the line is named");
  expect(line >= 1 && line <= std::count(text.begin(), text.end(), '\n') + 1, "the line is there");
}

std::optional<AgentDefinition> read(const std::string& text) {
  try {
    return parse_definition(kFile, text, kMaxTimeout);
  } catch (const DefinitionError& e) {
    check_complaint(e.what(), text);
    return std::nullopt;
  }
}

void check_headers(const std::map<std::string, Secret>& headers) {
  for (const auto& [name, value] : headers) {
    expect(!name.empty() && name.find_first_of(" :\r\n") == std::string::npos, "a header's name");
    expect(!value.empty() && value.reveal().find_first_of("\r\n") == std::string::npos,
           "a header's value is one line");
  }
}

void check_model(const AgentDefinition& agent) {
  const bool is_model = agent.runner == RunnerKind::llm;
  expect(is_model == !agent.model.empty(), "a model for runner: llm, and for no other");
  expect(is_model || (agent.tools.empty() && agent.mcp_servers.empty()), "tools need a model");
  expect(!is_model || (!is_blank(agent.prompt) && agent.on_timeout), "a model has its prompt");
  expect(!agent.max_reply_tokens || *agent.max_reply_tokens >= 1, "a reply has tokens");
  for (const auto& number :
       {agent.budget.steps, agent.budget.tokens, agent.budget.seconds, agent.budget.questions}) {
    expect(!number || *number >= 1, "a budget is at least 1");
  }
  for (const auto& tool : agent.tools) {
    expect(!tool.spec.name.empty() && tool.spec.name.size() <= 64, "a tool has a name");
    expect(tool.timeout.count() >= 1 && tool.timeout.count() <= 600, "a tool has its time");
    check_json(tool.spec.schema, "schema");
    expect(tool.spec.schema.starts_with("{"), "a schema is an object");
    if (const auto* http = std::get_if<HttpTool>(&tool.how)) check_headers(http->headers);
    if (const auto* command = std::get_if<CommandTool>(&tool.how)) {
      expect(!command->command.empty(), "a command is there");
    }
  }
  for (const auto& server : agent.mcp_servers) {
    expect(host_of(server.url).has_value(), "a server has a URL");
    check_headers(server.headers);
  }
}

void run(const std::string& text) {
  const auto agent = read(text);
  if (!agent) return;
  expect(agent->name == "agent", "the name is the file's");
  expect((agent->runner == RunnerKind::command) == !agent->command.empty(),
         "a command for runner: command, and for no other");
  expect((agent->runner == RunnerKind::http) == host_of(agent->url).has_value(),
         "a url for runner: http, and for no other");
  expect(!agent->question_callback || host_of(*agent->question_callback), "a callback is a URL");
  expect(agent->callback_secrets.size() <= 2, "at most two secrets");
  for (const auto& secret : agent->callback_secrets) {
    expect(secret.key().size() >= 16, "a secret has its length");
  }
  const bool verified = agent->webhook_verify != WebhookScheme::none;
  expect(verified == !agent->webhook_keys.empty() && agent->webhook_keys.size() <= 2,
         "a webhook is verified with one or two keys");
  for (const auto& key : agent->webhook_keys) {
    expect(key.reveal().size() >= 16, "a webhook's key has its length");
  }
  if (agent->question_timeout) {
    expect(agent->question_timeout->count() >= 1 && *agent->question_timeout <= kMaxTimeout,
           "a timeout within bounds");
  }
  check_model(*agent);
  std::vector<std::string> texts{agent->prompt, agent->url, agent->description};
  texts.insert(texts.end(), agent->sub_agents.begin(), agent->sub_agents.end());
  texts.insert(texts.end(), agent->command.begin(), agent->command.end());
  texts.insert(texts.end(), agent->answerers.begin(), agent->answerers.end());
  for (const auto& one : texts) expect(is_clean_utf8(one), "a text is UTF-8 without NUL");
  expect(text.ends_with(agent->prompt), "the prompt is the rest of the file");
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(std::string(holdpoint::text_of(data, size)));
  return 0;
}
