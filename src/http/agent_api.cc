#include <functional>

#include "domain/text.h"
#include "http/api.h"

namespace holdpoint {
namespace {

// `text` says what of each is shown.
template <class All, class Text = std::identity>
void write_texts(JsonWriter& out, const char* name, const All& all, Text text = {}) {
  out.key(name).begin_array();
  for (const auto& one : all) out.value(std::invoke(text, one));
  out.end_array();
}

// What people wrote about it: its description, or the first paragraph of the text under its front
// matter. A model agent's text is its prompt, and nobody's to read here.
std::string about(const AgentDefinition& agent) {
  if (!agent.description.empty()) return shorten(agent.description, 300);
  if (agent.runner == RunnerKind::llm) return "";
  const auto begin = agent.prompt.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  const std::string text = agent.prompt.substr(begin, agent.prompt.find("\n\n", begin) - begin);
  return shorten(text.substr(0, text.find_last_not_of(" \t\r\n") + 1), 300);
}

// What is here is for all who may look: no secret, no prompt, no command, and no URL, which may
// hold one.
void write_agent(JsonWriter& out, Api& api, const AgentDefinition& agent, const Request& request) {
  const AskDefaults ask = api.intake.ask_defaults(agent);
  const bool listed = may_decide(agent.answerers, request.actor());
  out.begin_object().member("name", agent.name).member("runner", to_text(agent.runner));
  out.member("about", about(agent)).member("async_questions", agent.async_questions);
  out.member("model", agent.model.empty() ? std::nullopt : std::optional(agent.model));
  write_texts(out, "tools", agent.tools, [](const OwnTool& tool) { return tool.spec.name; });
  write_texts(out, "mcp_servers", agent.mcp_servers, &McpServer::name);
  write_texts(out, "sub_agents", agent.sub_agents);
  write_texts(out, "channels", api.notices.targets_of(agent));
  out.member("callback", api.notices.has_callback(agent.name));
  write_texts(out, "answerers", agent.answerers);
  out.member("allow_cancel", agent.allow_cancel);
  out.member("question_timeout", std::int64_t{ask.timeout.count()});
  out.member("on_timeout", to_text(ask.on_timeout));
  out.member("webhook_verify", to_text(agent.webhook_verify));
  out.member("may_answer", request.caller.may("questions:answer") && listed);
  out.member("named", !agent.answerers.empty() && listed);
  out.member("may_start", agent.runner != RunnerKind::external && may_start(request.caller, agent));
  out.end_object();
}

Response list(Api& api, const Request& request) {
  const Query query(request, {});
  JsonWriter out;
  out.begin_object().key("agents").begin_array();
  for (const auto& name : api.agents.names()) {
    if (const auto agent = api.agents.find(name)) write_agent(out, api, *agent, request);
  }
  out.end_array().end_object();
  return json_response(200, out.take());
}

}  // namespace

bool may_start(const Caller& caller, const AgentDefinition& agent) {
  const bool verified = agent.webhook_verify != WebhookScheme::none;
  return caller.may("webhook:" + agent.name) && !(verified && caller.kind == Caller::Kind::open);
}

Routes agent_routes(Api& api) {
  return {
      {"GET", "/agent/agents", any_of({"sessions:read", "questions:read"}),
       [&api](const Request& r) { return list(api, r); }},
  };
}

}  // namespace holdpoint
