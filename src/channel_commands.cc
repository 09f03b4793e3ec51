#include "channel_commands.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "domain/ask.h"
#include "domain/bad_request.h"
#include "from_settings.h"
#include "load.h"
#include "platforms.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

// Says how each step went, a line each.
class Report {
 public:
  void ok(const std::string& what) { line("ok  ", what); }
  void note(const std::string& what) { line("note", what); }
  void fail(const std::string& what) {
    line("FAIL", what);
    failed_ = true;
  }
  int exit_code() const { return failed_ ? 1 : 0; }

 private:
  static void line(const char* verdict, const std::string& what) {
    std::printf("%s  %s\n", verdict, what.c_str());
    std::fflush(stdout);
  }
  bool failed_ = false;
};

// A question that nobody waits for; it is settled in the same breath, so that no button is left.
Question sample_question(Time now) {
  Ask ask;
  QuestionSpec spec;
  spec.question = "Does this sample of a question reach you?";
  spec.header = "Sample";
  spec.options = {{"Yes", "Then the channel works", "", true}, {"No", "", "", false}};
  ask.questions = {spec};
  return pose(ask, SessionId::make(now), "holdpoint", 1, {}, now).front();
}

Question settled(Question question, Time now) {
  question.status = QuestionStatus::answered;
  question.choice = Choice{{"Yes"}, std::nullopt};
  question.answered_by = "holdpoint channels test";
  question.settled_at = now;
  return question;
}

class Tester {
 public:
  explicit Tester(const Settings& settings)
      : settings_(settings),
        client_(make_http_client(guard_from(settings))),
        public_url_(public_url_from(settings, settings.server.listen)),
        platforms_(settings, *client_, public_url_, {}) {}

  int slack(const std::string& to) {
    if (!platforms_.slack) return off("Slack", "[slack] bot_token");
    const auto auth = platforms_.slack->auth_test();
    if (!auth.ok) {
      report_.fail("bot_token: " + auth.says);
      return 1;
    }
    report_.ok("bot_token: " + auth.says);
    send("slack", *platforms_.slack, to);
    const bool signs = !settings_.slack.signing_secret.empty();
    const bool socket = !settings_.slack.app_token.empty();
    if (socket) try_socket();
    if (signs) ask_to_register("Interactivity & Shortcuts → Request URL", "/slack/interactions");
    if (!signs && !socket) {
      report_.fail(
          "clicks: neither [slack] signing_secret nor app_token is set, so buttons would do "
          "nothing");
    }
    return report_.exit_code();
  }

  int discord(const std::string& to) {
    if (!platforms_.discord) return off("Discord", "[discord] bot_token");
    const auto found = platforms_.discord->check();
    if (!found.error.empty()) {
      report_.fail("bot_token: " + found.error);
      return 1;
    }
    report_.ok("bot_token: " + found.bot_name);
    send("discord", *platforms_.discord, to);
    if (settings_.discord.public_key.empty()) {
      report_.fail("clicks: [discord] public_key is not set, so buttons would do nothing");
    } else {
      ask_to_register("General Information → Interactions Endpoint URL", "/discord/interactions");
    }
    return report_.exit_code();
  }

  int email(const std::string& to) {
    if (!platforms_.email) return off("Email", "[email] smtp_url");
    const auto found = platforms_.mail->check();
    if (found.kind != SmtpResult::Kind::sent) {
      report_.fail(settings_.email.smtp_url + ": " + found.error);
      return 1;
    }
    report_.ok(settings_.email.smtp_url + " lets us in");
    send("email", *platforms_.email, to);
    if (settings_.email.reply_to.empty()) {
      report_.note("replies: [email] reply_to is empty, so people answer by the links alone");
    }
    if (!settings_.email.imap_url.empty()) try_mailbox();
    if (!settings_.email.inbound_secret.empty()) {
      ask_to_register("the mail provider's inbound hook", "/email/inbound");
    }
    return report_.exit_code();
  }

 private:
  int off(const char* name, const char* setting) {
    report_.fail(std::string(name) + " is not set up: " + setting +
                 " is empty (docs/channels.md says how)");
    return 1;
  }

  void ask_to_register(const char* where, const char* path) {
    const bool local = public_url_.find("//127.") != std::string::npos ||
                       public_url_.find("//localhost") != std::string::npos;
    const std::string url = public_url_ + path;
    if (local) {
      report_.note(url + " is of this machine alone: set [server] public_url to what others reach");
    } else {
      report_.note("enter " + url + " under " + where);
    }
  }

  void send(const std::string& name, Channel& channel, const std::string& to) {
    std::vector<Address> places;
    try {
      places = addresses_from(settings_).of(
          parse_target(to.empty() ? name : name + ":" + to, "--to"), "--to");
    } catch (const BadRequest& e) {
      return report_.fail(e.what());
    }
    for (const auto& place : places) send_to(channel, place);
  }

  // Posts the sample, then settles it.
  void send_to(Channel& channel, const Address& place) {
    const Time now = SystemClock().now();
    const Question question = sample_question(now);
    Delivery post;
    post.id = DeliveryId::make(now);
    post.session_id = question.session_id;
    post.question_id = question.id;
    post.agent_name = question.agent_name;
    post.channel = place.channel;
    post.destination = place.to;
    post.event = "question_pending";
    const auto never = [] { return false; };
    const auto posted = channel.send({post, {question}, false, {}}, now, never);
    if (posted.kind != SendOutcome::Kind::delivered) {
      return report_.fail("sample to " + place.to + ": " + posted.error);
    }
    report_.ok("sample to " + place.to);
    Delivery edit = post;
    edit.id = DeliveryId::make(now);
    edit.event = "question_settled";
    const auto edited =
        channel.send({edit, {settled(question, now)}, false, posted.message_ref}, now, never);
    if (edited.kind != SendOutcome::Kind::delivered) {
      return report_.fail("closing the sample at " + place.to + ": " + edited.error);
    }
    report_.ok("closed the sample at " + place.to);
  }

  void try_socket() {
    HttpRequest request;
    request.url = settings_.slack.api_url + "/apps.connections.open";
    request.headers = {{"Authorization", "Bearer " + settings_.slack.app_token.reveal()},
                       {"Content-Type", "application/x-www-form-urlencoded"}};
    const auto response = client_->send(request);
    const Json body = try_json(response.body);
    if (body.is_object() && body.value("ok", Json(false)) == true) {
      return report_.ok("app_token: Socket Mode is open to us");
    }
    const std::string why = body.is_object() && body.contains("error") && body["error"].is_string()
                                ? body["error"].get<std::string>()
                            : response.status == 0 ? response.error
                                                   : "HTTP " + std::to_string(response.status);
    report_.fail("app_token: " + why +
                 " (it needs the scope connections:write, and Socket Mode switched on)");
  }

  void try_mailbox() {
    try {
      report_.ok(check_imap(imap_from(settings_)));
    } catch (const ImapError& e) {
      report_.fail(settings_.email.imap_url + ": " + e.what());
    }
  }

  const Settings& settings_;
  const std::unique_ptr<HttpClient> client_;
  const std::string public_url_;
  Platforms platforms_;
  Report report_;
};

void list(const Settings& s) {
  const auto line = [](const char* name, bool on, const std::string& what) {
    std::printf("%-8s %s\n", name, on ? what.c_str() : "off");
  };
  const auto to = [](const std::string& place) {
    return place.empty() ? std::string("on") : "on, to " + place;
  };
  line("slack", !s.slack.bot_token.empty(), to(s.questions.slack_channel));
  line("discord", !s.discord.bot_token.empty(), to(s.questions.discord_channel));
  std::string readers;
  for (const auto& address : s.questions.email_to) {
    readers += (readers.empty() ? "" : ", ") + address;
  }
  line("email", !s.email.smtp_url.empty(), to(readers));
  line("url", true, to(s.questions.callback_url));
  std::printf("Try one with: holdpoint channels test slack\n");
}

}  // namespace

struct ChannelCommands::Parsed {
  std::optional<std::filesystem::path> settings;
  std::string channel, to;
  CLI::App* command = nullptr;
  CLI::App* test = nullptr;
};

ChannelCommands::ChannelCommands(CLI::App& app) : parsed_(std::make_unique<Parsed>()) {
  const auto add_settings = [this](CLI::App* command) {
    command->add_option("--settings", parsed_->settings, "TOML file")->check(CLI::ExistingFile);
  };
  parsed_->command = app.add_subcommand("channels", "Which channels are set up, and do they work");
  add_settings(parsed_->command);
  parsed_->command->require_subcommand(0, 1);
  parsed_->test = parsed_->command->add_subcommand(
      "test", "Send a sample question to a channel, close it, and say what is wrong");
  parsed_->test->add_option("channel", parsed_->channel, "slack, discord or email")
      ->required()
      ->check(CLI::IsMember({"slack", "discord", "email"}));
  parsed_->test->add_option("--to", parsed_->to,
                            "A channel or address instead of the settings' own");
  add_settings(parsed_->test);
}

ChannelCommands::~ChannelCommands() = default;

bool ChannelCommands::chosen() const { return parsed_->command->parsed(); }

int ChannelCommands::run() {
  signal(SIGPIPE, SIG_IGN);  // A server that hangs up is told by its error.
  const Settings settings = read_settings(parsed_->settings);
  if (!parsed_->test->parsed()) {
    list(settings);
    return 0;
  }
  Tester tester(settings);
  if (parsed_->channel == "slack") return tester.slack(parsed_->to);
  if (parsed_->channel == "discord") return tester.discord(parsed_->to);
  return tester.email(parsed_->to);
}

}  // namespace holdpoint
