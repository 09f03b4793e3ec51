#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/llm/llm_runner.h"
#include "tests/support/world.h"

namespace holdpoint::test {

// A service of models at model.example that replies as the test says. Everything else goes to
// `others`.
class ScriptedModel {
 public:
  // Gets the request, and how many model replies its conversation holds already.
  using Script = std::function<std::string(const Json& request, std::size_t replies)>;

  explicit ScriptedModel(FakeHttp& http) {
    http.respond = [this](const HttpRequest& request) { return answer(request); };
  }

  Models models() const {
    Models::Service service;
    service.name = "test";
    service.provider = &anthropic_messages();
    service.base_url = "https://model.example";
    service.aliases = {{"smart", "smart-1"}};
    service.prices = {{"smart", {3, 15, 0.3}}};
    service.max_attempts = 3;
    return Models({service});
  }

  static Budget budget() { return {20, 100'000, 600, 10}; }

  Script script;
  std::function<HttpResponse(const HttpRequest&)> others;
  std::vector<Json> requests;

 private:
  HttpResponse answer(const HttpRequest& request) {
    if (request.url != "https://model.example/v1/messages") {
      return others ? others(request) : HttpResponse{200, "", "", std::nullopt};
    }
    const Json body = Json::parse(request.body);
    requests.push_back(body);
    std::size_t replies = 0;
    for (const auto& message : body["messages"]) replies += message["role"] == "assistant";
    const std::string text = script(body, replies);
    if (text.starts_with("HTTP ")) return {std::stoi(text.substr(5)), "", "{}", std::nullopt};
    return {200, "", text, std::nullopt};
  }
};

// A model's reply: words, or calls of tools.
inline std::string says(const std::string& text, const std::string& stop = "end_turn") {
  const Json reply{{"content", {{{"type", "text"}, {"text", text}}}},
                   {"stop_reason", stop},
                   {"usage", {{"input_tokens", 100}, {"output_tokens", 20}}}};
  return reply.dump();
}
inline std::string calls(const std::vector<ToolCall>& tools) {
  Json content = Json::array();
  for (const auto& tool : tools) {
    content.push_back({{"type", "tool_use"},
                       {"id", tool.id},
                       {"name", tool.name},
                       {"input", Json::parse(tool.input)}});
  }
  const Json reply{{"content", content},
                   {"stop_reason", "tool_use"},
                   {"usage", {{"input_tokens", 100}, {"output_tokens", 20}}}};
  return reply.dump();
}

// The results that the last message of a request has, by call.
inline std::map<std::string, std::string> results_of(const Json& request) {
  std::map<std::string, std::string> results;
  for (const auto& block : request["messages"].back()["content"]) {
    if (block["type"] == "tool_result") results[block["tool_use_id"]] = block["content"];
  }
  return results;
}

inline const ToolCall kAskStyleCall{
    "ask_1", "ask_user_question",
    R"({"questions":[{"question":"What style?","options":[{"label":"haiku"},{"label":"sonnet"}]}]})"};

// A model agent with an http tool `look` at tool.example, which may ask and start `loner`.
inline AgentDefinition model_agent(const std::string& name = "thinker") {
  AgentDefinition agent;
  agent.name = name;
  agent.runner = RunnerKind::llm;
  agent.async_questions = true;
  agent.on_timeout = OnTimeout::carry_on;
  agent.model = "smart";
  agent.prompt = "Think.";
  agent.sub_agents = {"loner", "helper"};
  OwnTool look;
  look.spec = {"look", "Looks.", R"({"type":"object"})"};
  look.how = HttpTool{"POST", "https://tool.example/look", {}};
  agent.tools.push_back(look);
  return agent;
}

// A world whose model agents run, with `thinker`, and `helper` that has no sub-agents of its own.
struct ModelWorld {
  // In a world of its own, or in `given`.
  explicit ModelWorld(World* given = nullptr)
      : owned(given ? nullptr : std::make_unique<World>()), world(given ? *given : *owned) {
    world.runner.reply = [this](const AgentDefinition& agent, const TurnRequest& request,
                                const TurnContext& context) {
      if (agent.runner == RunnerKind::llm) return runner.run(agent, request, context);
      return sub_agent(request);
    };
    define(model_agent());
    define(model_agent("helper"));
  }
  void define(const AgentDefinition& agent) {
    std::map<std::string, AgentDefinition> all;
    for (const auto& name : world.agents.names()) all.emplace(name, *world.agents.find(name));
    all.insert_or_assign(agent.name, agent);
    world.agents.replace(std::move(all));
  }
  Json state(const SessionId& id) {
    return Json::parse(world.process().views.record(id)->record.state.value());
  }

  const std::unique_ptr<World> owned;
  World& world;
  ScriptedModel model{world.http};
  Models models = model.models();
  LlmRunner runner{world.http, models, world.agents, world.clock, ScriptedModel::budget()};
  // What sub-agents that are no models reply.
  std::function<std::string(const TurnRequest&)> sub_agent = [](const TurnRequest& request) {
    return R"({"result":{"did":)" + request.payload + "}}";
  };
};

}  // namespace holdpoint::test
