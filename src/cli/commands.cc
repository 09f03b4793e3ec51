#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/client.h"
#include "cli/print.h"
#include "wire/form.h"
#include "wire/json_writer.h"

namespace holdpoint::cli {

struct Commands::Parsed {
  std::string server = "http://127.0.0.1:8080";
  bool json = false;
  std::int64_t wait = 0;
  std::int64_t limit = 50;
  std::string agent, payload = "{}", key, status, session, question, by, reason, message, delivery;
  std::vector<std::string> answers;
  std::string recipient, key_text;
  bool events = false, cancel = false, retry = false;
  CLI::App* trigger_command = nullptr;
  CLI::App* questions_command = nullptr;
  CLI::App* answer_command = nullptr;
  CLI::App* session_command = nullptr;
  CLI::App* deliveries_command = nullptr;
  CLI::App* link_command = nullptr;

  void show(const Reply& reply, void (*print)(const Json&), const char* member) const {
    if (json) {
      std::printf("%s\n", reply.text.c_str());
    } else {
      print(member ? reply.body.at(member) : reply.body);
    }
  }

  // Until the session asks or ends (`settled`), or ends (`finished`), as long as --wait says.
  Reply follow_session(Client& client, const std::string& id, const char* until) const {
    const std::string path = "/agent/session/" + escape_url(id);
    Reply seen = client.get(path);
    const auto over = [&] {
      const std::string now = seen.body["status"].get<std::string>();
      return now != "running" && (now != "pending_input" || until == std::string("settled"));
    };
    for (auto left = wait; left > 0 && !over(); left -= 55) {
      const auto step = std::min<std::int64_t>(left, 55);
      seen = client.get(path + "?wait=" + std::to_string(step) + "&until=" + until,
                        std::chrono::seconds{step});
    }
    return seen;
  }

  int trigger(Client& client) const;
  int list_questions(Client& client) const;
  int answer(Client& client) const;
  int show_session(Client& client) const;
  int list_deliveries(Client& client) const;
  int make_link(Client& client) const;
};

namespace {

// `@file`, `-` or the text itself; what is not JSON is refused here, where we can say what to type.
std::string read_json(const char* what, const std::string& text) {
  std::string content = text;
  if (text == "-" || text.starts_with("@")) {
    std::ifstream file;
    if (text != "-" && !std::filesystem::is_directory(text.substr(1))) file.open(text.substr(1));
    std::istream& in = text == "-" ? std::cin : file;
    content.assign(std::istreambuf_iterator<char>(in), {});
    if (in.bad() || content.empty()) {
      throw CallFailed(std::string(what) + ": nothing could be read from " +
                       (text == "-" ? "standard input" : text.substr(1)));
    }
  }
  if (!Json::accept(content)) {
    throw CallFailed(std::string(what) + " must be JSON; a plain text is '\"text\"'");
  }
  return content;
}

}  // namespace

int Commands::Parsed::trigger(Client& client) const {
  if (agent.find('/') != std::string::npos) throw CallFailed("agents have no / in their names");
  const Reply started =
      client.post("/agent/webhook/" + escape_url(agent), read_json("the payload", payload));
  const std::string id = started.body.at("session_id").get<std::string>();
  if (wait > 0) {
    show(follow_session(client, id, "settled"), print_session, nullptr);
  } else {
    std::printf("%s\n", json ? started.text.c_str() : id.c_str());
  }
  return 0;
}

int Commands::Parsed::list_questions(Client& client) const {
  std::string path = "/agent/questions?limit=" + std::to_string(limit);
  if (!status.empty() && status != "all") path += "&status=" + escape_url(status);
  if (!agent.empty()) path += "&agent=" + escape_url(agent);
  if (!session.empty()) path += "&session=" + escape_url(session);
  show(client.get(path), print_questions, "questions");
  return 0;
}

int Commands::Parsed::answer(Client& client) const {
  JsonWriter out;
  out.begin_object();
  if (!question.empty()) out.member("question_id", question);
  if (!by.empty()) out.member("answered_by", by);
  out.key("answer");
  if (answers.size() == 1) {
    out.value(answers.front());
  } else {
    out.begin_array();
    for (const auto& value : answers) out.value(value);
    out.end_array();
  }
  out.end_object();
  const Reply reply = client.post("/agent/answer/" + escape_url(session), out.take());
  const Json& result = reply.body["status"];
  if (json) {
    std::printf("%s\n", reply.text.c_str());
  } else if (result == "pending_input") {
    std::printf("answered; %s more to answer in this session\n",
                reply.body["remaining"].dump().c_str());
  } else {
    std::puts(result == "resumed" ? "answered; the session goes on"
                                  : "this answer was given before, and counts");
  }
  return 0;
}

int Commands::Parsed::show_session(Client& client) const {
  const std::string path = "/agent/session/" + escape_url(session);
  if (cancel) {
    JsonWriter out;
    out.begin_object();
    if (!reason.empty()) out.member("reason", reason);
    out.end_object();
    client.post(path + "/cancel", out.take());
  }
  if (retry) client.post(path + "/retry", "{}");
  if (!message.empty()) {
    client.post(path + "/message", "{\"message\":" + read_json("--message", message) + "}");
  }
  if (events) {
    show(client.get(path + "/events?limit=500"), print_events, "events");
  } else {
    show(follow_session(client, session, "finished"), print_session, nullptr);
  }
  return 0;
}

int Commands::Parsed::list_deliveries(Client& client) const {
  if (!delivery.empty()) {
    const Reply reply =
        client.post("/agent/deliveries/" + escape_url(delivery) + "/redeliver", "{}");
    std::printf("%s\n", json ? reply.text.c_str() : "it will be delivered again");
    return 0;
  }
  std::string path = "/agent/deliveries?limit=" + std::to_string(limit);
  if (!status.empty() && status != "all") path += "&status=" + escape_url(status);
  if (!session.empty()) path += "&session=" + escape_url(session);
  show(client.get(path), print_deliveries, "deliveries");
  return 0;
}

int Commands::Parsed::make_link(Client& client) const {
  JsonWriter out;
  out.begin_object().member("recipient", recipient).end_object();
  const Reply reply =
      client.post("/agent/questions/" + escape_url(question) + "/links", out.take());
  std::printf("%s\n", json ? reply.text.c_str() : reply.body.at("url").get<std::string>().c_str());
  return 0;
}

Commands::Commands(CLI::App& app) : parsed_(std::make_unique<Parsed>()) {
  Parsed& p = *parsed_;
  // Read by hand: CLI11 would let the variable win over what is typed, since the option is there
  // five times.
  if (const char* server = std::getenv("HOLDPOINT_SERVER"); server && *server) p.server = server;
  if (const char* key = std::getenv("HOLDPOINT_KEY"); key && *key) p.key_text = key;
  const auto add = [&](const char* name, const char* what) {
    auto* command = app.add_subcommand(name, what);
    command
        ->add_option("--server", p.server,
                     "Where the server is; without it what HOLDPOINT_SERVER says")
        ->capture_default_str();
    command->add_flag("--json", p.json, "Print what the server says, as JSON");
    return command;
  };
  p.trigger_command = add("trigger", "Start a session of an agent");
  p.trigger_command->add_option("agent", p.agent, "The agent's name")->required();
  p.trigger_command->add_option("payload", p.payload,
                                "A JSON object, @file, or - for standard input; {} if left out");
  p.trigger_command
      ->add_option("--wait", p.wait, "Wait up to this many seconds for a question or the end")
      ->check(CLI::Range(0, 86400));

  p.questions_command = add("questions", "List questions, the newest first");
  p.status = "pending";
  p.questions_command->add_option(
      "--status", p.status,
      "pending (if left out), answered, timed_out, defaulted, cancelled, or all");
  p.questions_command->add_option("--agent", p.agent, "Of this agent only");
  p.questions_command->add_option("--session", p.session, "Of this session only");
  p.questions_command->add_option("--limit", p.limit, "At most this many")
      ->check(CLI::Range(1, 500));

  p.answer_command = add("answer", "Answer a session's question");
  p.answer_command->add_option("session", p.session, "The session's id")->required();
  p.answer_command
      ->add_option("answer", p.answers, "An option's label or your own text; several where allowed")
      ->required();
  p.answer_command->add_option("--question", p.question,
                               "The question's id; needed when several are pending");
  p.answer_command->add_option("--by", p.by, "Who answers");

  p.session_command = add("session", "Show a session; cancel it, run it again, send it a message");
  p.session_command->add_option("session", p.session, "The session's id")->required();
  p.session_command->add_option("--wait", p.wait, "Wait up to this many seconds for its end")
      ->check(CLI::Range(0, 86400));
  p.session_command->add_flag("--events", p.events, "Its history instead");
  auto* cancel = p.session_command->add_flag("--cancel", p.cancel, "Cancel it");
  p.session_command->add_option("--reason", p.reason, "Why it is cancelled")->needs(cancel);
  auto* retry = p.session_command->add_flag("--retry", p.retry, "Run it again after it failed");
  auto* message =
      p.session_command->add_option("--message", p.message, "Queue a message: JSON, @file or -");
  cancel->excludes(retry)->excludes(message);
  retry->excludes(message);

  p.deliveries_command =
      add("deliveries", "List what was or will be sent to callbacks and channels");
  p.deliveries_command->add_option("--status", p.status,
                                   "pending, delivered, dead, obsolete, or all (if left out)");
  p.deliveries_command->add_option("--session", p.session, "Of this session only");
  p.deliveries_command->add_option("--limit", p.limit, "At most this many")
      ->check(CLI::Range(1, 500));
  p.deliveries_command->add_option("--redeliver", p.delivery, "Send this one again");

  p.link_command = add("link", "Make a link with which somebody may answer a question");
  p.link_command->add_option("question", p.question, "The question's id")->required();
  p.link_command->add_option("--for", p.recipient, "Who answers by it, as it will be recorded")
      ->required();
}

Commands::~Commands() = default;

int Commands::run() {
  Parsed& p = *parsed_;
  Client client(p.server, p.key_text);
  try {
    if (*p.link_command) return p.make_link(client);
    if (*p.trigger_command) return p.trigger(client);
    if (*p.questions_command) return p.list_questions(client);
    if (*p.answer_command) return p.answer(client);
    if (*p.session_command) return p.show_session(client);
    if (*p.deliveries_command) {
      if (p.deliveries_command->count("--status") == 0) p.status = "all";
      return p.list_deliveries(client);
    }
  } catch (const CallFailed& e) {
    std::fprintf(stderr, "holdpoint: %s\n", e.what());
    if (p.json && !e.text.empty()) std::printf("%s\n", e.text.c_str());
    if (e.body.is_object() && e.body.contains("answered_by")) print_conflict(e.body);
  }
  return 1;
}

}  // namespace holdpoint::cli
