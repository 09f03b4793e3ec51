#include "agents/definition.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "agents/front_matter.h"
#include "agents/model_definition.h"
#include "base/secret.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "net/http_client.h"

namespace holdpoint {
namespace {

// yaml-cpp takes half a kilobyte of memory for a byte.
constexpr std::size_t kMaxFrontMatter = 65536;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string::npos &&
         text[0] != '.' && text[0] != '-';
}

void read_runner(FrontMatter& reader, AgentDefinition& agent) {
  const auto runner = reader.text("runner");
  agent.command = reader.texts("command", false);
  agent.url = reader.text("url").value_or("");
  if (!runner) reader.fail_at(0, "runner is missing: http, command, llm or external");
  const YAML::Node at = reader.get("runner");
  if (*runner == "http") {
    agent.runner = RunnerKind::http;
    if (agent.url.empty()) reader.fail(at, "runner: http needs a url");
    if (!host_of(agent.url))
      reader.fail(reader.get("url"), "url must be an http or https URL with a plain host");
  } else if (*runner == "command") {
    agent.runner = RunnerKind::command;
    if (agent.command.empty()) {
      reader.fail(at, "runner: command needs a command: [program, argument, …]");
    }
  } else if (*runner == "llm") {
    agent.runner = RunnerKind::llm;
  } else if (*runner == "external") {
    agent.runner = RunnerKind::external;
  } else {
    reader.fail(at, "runner must be http, command, llm or external, not \"" + *runner + "\"");
  }
  const bool built_in =
      std::any_of(kBuiltInAgents.begin(), kBuiltInAgents.end(),
                  [&](const BuiltInAgent& known) { return known.name == agent.name; });
  if (built_in && agent.runner != RunnerKind::external) {
    reader.fail(at, "the agent " + agent.name +
                        " stands for programs that ask from outside: runner must be external");
  }
  if (agent.runner != RunnerKind::http && !agent.url.empty()) {
    reader.fail(reader.get("url"), "url goes with runner: http only");
  }
  if (agent.runner != RunnerKind::command && !agent.command.empty()) {
    reader.fail(reader.get("command"), "command goes with runner: command only");
  }
}

void read_callback(FrontMatter& reader, AgentDefinition& agent) {
  agent.question_callback = reader.text("question_callback");
  if (agent.question_callback && !host_of(*agent.question_callback)) {
    reader.fail(reader.get("question_callback"),
                "question_callback must be an http or https URL with a plain host");
  }
  const auto secrets = reader.texts("callback_secret", true);
  if (secrets.size() > 2) {
    reader.fail(reader.get("callback_secret"),
                "callback_secret has at most two: the new and the old one");
  }
  for (const auto& secret : secrets) {
    try {
      agent.callback_secrets.push_back(
          WebhookSecret::parse(read_secret(secret, agent.folder).reveal()));
    } catch (const std::runtime_error& e) {
      reader.fail(reader.get("callback_secret"), std::string("callback_secret: ") + e.what());
    }
  }
  agent.callback_link = reader.value<bool>("callback_link", "true or false").value_or(false);
  agent.callback_events = reader.texts("callback_events", false);
  static const std::set<std::string> known{"question_pending",  "question_settled",
                                           "session_completed", "session_failed",
                                           "session_cancelled", "card_posted"};
  for (const auto& event : agent.callback_events) {
    if (!known.count(event)) {
      reader.fail(reader.get("callback_events"), "unknown event \"" + event + "\"");
    }
  }
}

// How upstream proves who it is.
void read_webhook(FrontMatter& reader, AgentDefinition& agent) {
  const auto scheme = reader.text("webhook_verify");
  const auto secrets = reader.texts("webhook_secret", true);
  if (scheme) {
    const auto known = webhook_scheme_from(*scheme);
    if (!known) {
      reader.fail(reader.get("webhook_verify"),
                  "webhook_verify must be github, standard, slack, bearer or none");
    }
    agent.webhook_verify = *known;
  }
  if (agent.webhook_verify == WebhookScheme::none) {
    if (secrets.empty()) return;
    reader.fail(reader.get("webhook_secret"),
                "webhook_secret needs webhook_verify: github, standard, slack or bearer");
  }
  if (secrets.empty() || secrets.size() > 2) {
    reader.fail(reader.get("webhook_verify"),
                "webhook_verify: " + *scheme +
                    " needs a webhook_secret, or two while upstream changes over");
  }
  for (const auto& text : secrets) {
    try {
      Secret secret = read_secret(text, agent.folder);
      if (agent.webhook_verify == WebhookScheme::standard) {
        secret = Secret(WebhookSecret::parse(secret.reveal()).key());
      } else if (secret.reveal().size() < 16) {
        throw std::runtime_error("must have at least 16 characters");
      } else if (secret.reveal().starts_with("hp_")) {
        throw std::runtime_error("must not begin with hp_: that is how our own keys begin");
      }
      agent.webhook_keys.push_back(std::move(secret));
    } catch (const std::runtime_error& e) {
      reader.fail(reader.get("webhook_secret"), std::string("webhook_secret: ") + e.what());
    }
  }
}

void read_questions(FrontMatter& reader, AgentDefinition& agent, std::chrono::seconds max_timeout) {
  agent.async_questions = reader.value<bool>("async_questions", "true or false")
                              .value_or(agent.runner == RunnerKind::external);
  if (const auto seconds = reader.value<int>("question_timeout", "a whole number of seconds")) {
    if (*seconds < 1 || *seconds > max_timeout.count()) {
      reader.fail(reader.get("question_timeout"), "question_timeout must be 1 to " +
                                                      std::to_string(max_timeout.count()) +
                                                      " seconds ([questions] max_timeout_seconds)");
    }
    agent.question_timeout = std::chrono::seconds{*seconds};
  }
  if (const auto policy = reader.text("on_timeout")) {
    agent.on_timeout = on_timeout_from(*policy);
    if (!agent.on_timeout) {
      reader.fail(reader.get("on_timeout"), "on_timeout must be fail, default or continue");
    }
  } else if (agent.runner == RunnerKind::llm) {
    agent.on_timeout = OnTimeout::carry_on;  // The model is told, and decides.
  }
  agent.answerers = reader.texts("answerers", false);
  for (const auto& name : agent.answerers) {
    if (is_blank(name)) reader.fail(reader.get("answerers"), "answerers must be a list of names");
  }
  if (agent.callback_link && !agent.answerers.empty()) {
    reader.fail(reader.get("callback_link"),
                "callback_link and answerers exclude each other: whoever has the link may answer");
  }
  if (const YAML::Node node = reader.get("answerers"); node && agent.answerers.empty()) {
    reader.fail(node, "answerers is empty: leave it out, or list who may answer");
  }
  agent.allow_cancel = reader.value<bool>("allow_cancel", "true or false").value_or(true);
  for (const auto& channel : reader.texts("channels", false)) {
    try {
      agent.channels.push_back(parse_target(channel, "channels"));
    } catch (const BadRequest& e) {
      reader.fail(reader.get("channels"), std::string("channels: ") + e.what());
    }
  }
}

void read_description(FrontMatter& reader, AgentDefinition& agent) {
  auto text = reader.text("description").value_or("");
  while (!text.empty() && is_blank(text.substr(text.size() - 1)))
    text.pop_back();  // `>` leaves one.
  if (text.find_first_of("\r\n") != std::string::npos) {
    reader.fail(reader.get("description"), "description must be one line: it is for people");
  }
  agent.description = std::move(text);
}

void read_sub_agents(FrontMatter& reader, AgentDefinition& agent) {
  agent.sub_agents = reader.texts("sub_agents", false);
  if (agent.sub_agents.empty()) return;
  const YAML::Node at = reader.get("sub_agents");
  if (agent.runner == RunnerKind::external) {
    reader.fail(at,
                "sub_agents goes with runner: http, command or llm: an external agent has no "
                "turns that could start them");
  }
  std::set<std::string> seen;
  for (const auto& name : agent.sub_agents) {
    if (name == agent.name) reader.fail(at, "sub_agents must not name the agent itself");
    if (!seen.insert(name).second) reader.fail(at, "sub_agents names \"" + name + "\" twice");
  }
}

// What only all files together tell.
std::string complaint_about_sub_agents(const AgentDefinition& agent,
                                       const std::map<std::string, AgentDefinition>& definitions,
                                       const std::set<std::string>& unreadable) {
  for (const auto& name : agent.sub_agents) {
    const auto it = definitions.find(name);
    if (it == definitions.end() && unreadable.count(name)) continue;
    if (it == definitions.end()) {
      return "sub_agents names \"" + name + "\", and there is no " + name + ".md";
    }
    if (it->second.runner == RunnerKind::external) {
      return "sub_agents names \"" + name + "\", which is external: nobody here could run it";
    }
  }
  return "";
}

}  // namespace

std::string_view to_text(RunnerKind kind) {
  switch (kind) {
    case RunnerKind::http:
      return "http";
    case RunnerKind::command:
      return "command";
    case RunnerKind::llm:
      return "llm";
    case RunnerKind::external:
      break;
  }
  return "external";
}

AgentDefinition parse_definition(const std::filesystem::path& file, const std::string& text,
                                 std::chrono::seconds max_timeout) {
  const auto fail = [&](int line, const std::string& reason) {
    throw DefinitionError(file.string() + ":" + std::to_string(line) + ": " + reason);
  };
  if (text.starts_with("\xef\xbb\xbf")) fail(1, "begins with a byte order mark; save it without");
  if (!text.starts_with("---\n") && !text.starts_with("---\r\n")) {
    fail(1, "must begin with a line --- and the front matter");
  }
  const auto start = text.find('\n') + 1;
  auto end = text.find("\n---", start - 1);
  if (end == std::string::npos) fail(1, "the front matter has no closing line ---");
  if (end + 1 - start > kMaxFrontMatter) {
    fail(1, "the front matter has more than " + std::to_string(kMaxFrontMatter) + " bytes");
  }
  if (!is_clean_utf8(text)) fail(1, "must be UTF-8 without NUL");
  YAML::Node root;
  try {
    root = YAML::Load(text.substr(start, end + 1 - start));
  } catch (const YAML::Exception& e) {
    fail(2 + e.mark.line, "the front matter is not valid YAML: " + e.msg);
  }
  if (!root.IsMap()) fail(2, "the front matter must be keys and values");
  FrontMatter reader(file, root, 2);
  AgentDefinition agent;
  agent.folder = file.parent_path();
  agent.name = reader.text("name").value_or(file.stem().string());
  if (!is_name(agent.name)) {
    reader.fail_at(0, "name has 1 to 64 letters, digits, - _ and .: \"" + agent.name + "\"");
  }
  if (agent.name != file.stem().string()) {
    reader.fail(reader.get("name"), "name must be the file's: " + file.stem().string());
  }
  read_runner(reader, agent);
  read_callback(reader, agent);
  read_webhook(reader, agent);
  read_questions(reader, agent, max_timeout);
  read_description(reader, agent);
  read_sub_agents(reader, agent);
  read_model_agent(reader, agent);
  reader.refuse_unknown();
  const auto body = text.find('\n', end + 1);
  if (body != std::string::npos) agent.prompt = text.substr(body + 1);
  if (agent.runner == RunnerKind::llm && is_blank(agent.prompt)) {
    reader.fail(reader.get("runner"),
                "runner: llm needs a prompt: the text below the front matter");
  }
  return agent;
}

std::map<std::string, AgentDefinition> load_definitions(const std::filesystem::path& folder,
                                                        std::chrono::seconds max_timeout) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw DefinitionError("[agents] dir: there is no folder " + folder.string() +
                          " (create it, or name another in the settings)");
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".md" && entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::map<std::string, AgentDefinition> definitions;
  std::string complaints;
  const auto complain = [&](const std::string& what) {
    complaints.append(complaints.empty() ? "" : "\n").append(what);
  };
  std::set<std::string> unreadable;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    try {
      if (!in) throw DefinitionError(file.string() + ": cannot be read");
      AgentDefinition agent = parse_definition(file, text.str(), max_timeout);
      definitions.emplace(agent.name, std::move(agent));
    } catch (const DefinitionError& e) {
      complain(e.what());
      unreadable.insert(file.stem().string());
    }
  }
  for (const auto& [name, agent] : definitions) {
    const std::string what = complaint_about_sub_agents(agent, definitions, unreadable);
    if (!what.empty()) complain((folder / (name + ".md")).string() + ": " + what);
  }
  if (!complaints.empty()) throw DefinitionError(complaints);
  return definitions;
}

Agents::Map Agents::share(std::map<std::string, AgentDefinition> definitions) {
  for (const auto& [name, description] : kBuiltInAgents) {
    if (definitions.count(name)) continue;
    AgentDefinition external;
    external.name = name;
    external.description = description;
    external.async_questions = true;
    definitions.emplace(name, std::move(external));
  }
  Map map;
  for (auto& [name, definition] : definitions) {
    map.emplace(name, std::make_shared<const AgentDefinition>(std::move(definition)));
  }
  return map;
}

Agents::Agents(std::map<std::string, AgentDefinition> definitions)
    : agents_(share(std::move(definitions))) {}

std::shared_ptr<const AgentDefinition> Agents::find(const std::string& name) {
  return agents_.with([&](Map& agents) -> std::shared_ptr<const AgentDefinition> {
    const auto it = agents.find(name);
    return it == agents.end() ? nullptr : it->second;
  });
}

bool Agents::may_cancel(const std::string& name) {
  const auto agent = find(name);
  return !agent || agent->allow_cancel;
}

std::vector<std::string> Agents::names() {
  return agents_.with([](Map& agents) {
    std::vector<std::string> names;
    for (const auto& [name, agent] : agents) names.push_back(name);
    return names;
  });
}

void Agents::replace(std::map<std::string, AgentDefinition> definitions) {
  Map fresh = share(std::move(definitions));
  agents_.with([&](Map& agents) { agents.swap(fresh); });
}

}  // namespace holdpoint
