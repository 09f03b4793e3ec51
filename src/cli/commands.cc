#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/ask_command.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/terminal_inbox.h"
#include "cli/waiting.h"
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
  CLI::App* ask_command = nullptr;
  CLI::App* wait_command = nullptr;
  CLI::App* inbox_command = nullptr;
  AskLine ask;
  AskManner manner;

  // Those with exit codes of their own.
  std::vector<CLI::App*> asking() const { return {ask_command, wait_command, inbox_command}; }

  void show(const Reply& reply, void (*print)(const Json&), const char* member) const {
    if (json) {
      print_json(reply.text);
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
    print_json(reply.text);
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
  // many times.
  const Whereabouts given = whereabouts();
  if (!given.server.empty()) p.server = given.server;
  p.key_text = given.key;
  const auto add_without_json = [&](const char* name, const char* what) {
    auto* command = app.add_subcommand(name, what);
    command
        ->add_option("--server", p.server,
                     "Where the server is; without it what HOLDPOINT_SERVER says")
        ->capture_default_str();
    return command;
  };
  const auto add = [&](const char* name, const char* what) {
    auto* command = add_without_json(name, what);
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

  p.ask_command = add("ask", "Ask people a question, wait, and print the answer");
  const auto add_repeated = [&](const char* name, std::vector<std::string>& values,
                                const char* what) {
    // One value each, or the question would be taken for another.
    p.ask_command->add_option(name, values, what)->allow_extra_args(false);
  };
  p.ask_command->add_option("question", p.ask.question, "What to ask")->required();
  add_repeated("--option", p.ask.options, "What may be picked; repeat it for each");
  p.ask_command->add_flag("--multi", p.ask.multi, "Several may be picked: an answer a line");
  p.ask_command->add_flag("--no-other", p.ask.no_other, "Nothing but the options will do");
  p.ask_command->add_option("--timeout", p.ask.timeout,
                            "How long people have: 90, 90s, 30m, 2h, 1d; else as the server says");
  add_repeated("--default", p.ask.defaults, "What counts if nobody answers in time");
  add_repeated("--channel", p.ask.channels,
               "Where to ask besides the usual places: slack, email:ana@example.org, …");
  p.ask_command->add_option("--header", p.ask.header, "A title of at most 12 characters");
  p.ask_command->add_option("--agent", p.ask.agent, "In whose name; else external");
  p.ask_command->add_option("--context", p.ask.context,
                            "What helps to decide: a JSON object, @file, or - for standard input");
  p.ask_command->add_flag("--dedupe", p.ask.dedupe, "Join the same question if it is open already");
  p.ask_command->add_option("--key", p.ask.key,
                            "An idempotency key: with the same key it is asked once");
  p.ask_command->add_flag("--detach", p.manner.detach, "Print the id and do not wait");

  p.inbox_command = add_without_json("inbox", "Answer questions in the terminal, live");
  p.inbox_command->add_option("--by", p.by, "Who answers");

  p.wait_command = add("wait", "Wait for the answer to a question that was asked before");
  p.wait_command->add_option("id", p.question, "The question's id, or its session's")->required();
  for (auto* command : {p.ask_command, p.wait_command}) {
    command
        ->add_option("--connect-timeout", p.manner.connect_timeout,
                     "How long to try a server that was never reached")
        ->capture_default_str();
    command->footer(
        "Exit codes: 0 answered, 2 timed out, 3 cancelled, 4 refused input, 1 anything else.\n"
        "Restarts of the server are waited for. After Ctrl-C the question stays open.");
  }
}

Commands::~Commands() = default;

int Commands::exit_code_of_wrong_line() const {
  for (const auto* command : parsed_->asking()) {
    if (command && *command) return exits::kRefused;
  }
  return 2;
}

int Commands::run() {
  Parsed& p = *parsed_;
  p.manner.json = p.json;
  const Whereabouts where{p.server, p.key_text};
  if (*p.ask_command) return run_ask(where, p.ask, p.manner);
  if (*p.inbox_command) return run_inbox(where, p.by);
  if (*p.wait_command) return run_wait(where, p.question, p.manner);
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
    complain(e.what());
    if (p.json && !e.text.empty()) print_json(e.text);
    if (e.body.is_object() && e.body.contains("answered_by")) print_conflict(e.body);
  }
  return 1;
}

}  // namespace holdpoint::cli
