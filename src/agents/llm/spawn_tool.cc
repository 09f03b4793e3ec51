#include "agents/llm/spawn_tool.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "wire/json.h"
#include "wire/json_writer.h"
#include "wire/turn_json.h"

namespace holdpoint {

ToolSpec spawn_tool(const AgentDefinition& agent, Agents& agents) {
  ToolSpec spec;
  spec.name = kSpawnTool;
  spec.description =
      "Starts other agents side by side, each with a payload of its own, waits until all have "
      "ended, "
      "and returns their results. They know nothing of this conversation but their payload, cannot "
      "ask people, and start no agents. There are:";
  JsonWriter names;
  names.begin_array();
  for (const auto& name : agent.sub_agents) {
    const auto sub = agents.find(name);
    spec.description += "\n- " + name;
    if (sub && !sub->description.empty()) spec.description += ": " + sub->description;
    names.value(name);
  }
  names.end_array();
  JsonWriter schema;
  schema.begin_object().member("type", "object").key("required").raw(R"(["agents"])");
  schema.member("additionalProperties", false).key("properties").begin_object();
  schema.key("agents").begin_object().member("type", "array");
  schema.member("minItems", std::int64_t{1});
  schema.member("maxItems", static_cast<std::int64_t>(kMaxSpawned)).key("items").begin_object();
  schema.member("type", "object").key("required").raw(R"(["agent"])");
  schema.member("additionalProperties", false).key("properties").begin_object();
  schema.key("agent").begin_object().member("type", "string");
  schema.raw_member("enum", names.take()).end_object();
  schema.key("payload").raw(R"({"type":"object","description":"All that it gets to know."})");
  schema.end_object().end_object().end_object().end_object().end_object();
  spec.schema = schema.take();
  return spec;
}

std::string read_spawn_call(const ToolCall& call, const AgentDefinition& agent) {
  Json input = parse_json(call.input, "input");
  check_members(input, "input", {"agents"});
  input["tool_call_id"] = call.id;
  std::string text = input.dump();
  const SpawnReply parsed = parse_spawn(text, std::nullopt);
  for (const auto& start : parsed.starts) {
    const auto& mine = agent.sub_agents;
    if (std::find(mine.begin(), mine.end(), start.agent_name) != mine.end()) continue;
    std::string names;
    for (const auto& name : mine) names += (names.empty() ? "" : ", ") + name;
    throw BadRequest("agents", "may not name \"" + start.agent_name + "\"; there are: " + names);
  }
  return text;
}

ToolResult spawn_result(const ToolCall& call, const std::string& resume) {
  const Json end = read_json(resume);
  if (end.value("outcome", "") == "refused") {
    return {call.id, "No agent was started: " + end.value("reason", ""), true};
  }
  std::string content = R"({"agents":[]})";
  for (const auto& [name, value] : members_of(resume)) {
    if (name == "agents") content = "{\"agents\":" + std::string(value) + "}";
  }
  return {call.id, std::move(content), false};
}

}  // namespace holdpoint
