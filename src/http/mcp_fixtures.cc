#include "http/mcp_fixtures.h"

#include <thread>

#include "http/mcp_call.h"
#include "http/mcp_peers.h"
#include "http/mcp_stream.h"
#include "http/mcp_tasks.h"
#include "wire/mcp_elicitation.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr std::array kNames{"test_simple_text",
                            "test_error_handling",
                            "test_logging_tool",
                            "test_tool_with_progress",
                            "test_elicitation",
                            "test_reconnection",
                            "test_streaming_elicitation",
                            "test_input_required_result_elicitation",
                            "test_input_required_result_request_state",
                            "test_input_required_result_tampered_state",
                            "test_input_required_result_multi_round",
                            "greet",
                            "slow_compute",
                            "failing_job",
                            "test_tool_with_task",
                            "test_missing_capability"};

std::string form_params(const std::string& message, const std::vector<std::string>& fields) {
  JsonWriter out;
  out.begin_object().member("message", message).key("requestedSchema").begin_object();
  out.member("type", "object").key("properties").begin_object();
  for (const auto& field : fields) {
    out.key(field).begin_object().member("type", "string").end_object();
  }
  out.end_object().key("required").begin_array();
  for (const auto& field : fields) out.value(field);
  return out.end_array().end_object().end_object().take();
}

// Time that passes, told as progress.
class Progressing final : public McpWork {
 public:
  explicit Progressing(std::string token) : token_(std::move(token)) {}
  Step step() override {
    Step step;
    std::this_thread::sleep_for(50ms);
    percent_ += 50;
    if (percent_ > 100) {
      step.result = mcp::text_result("Done.", "", false);
    } else if (!token_.empty()) {
      step.message = rpc_notification("notifications/progress", progress(token_));
    }
    return step;
  }
  std::string finish() override {
    Step last;
    while (!last.result) last = step();
    return *last.result;
  }
  std::string progress(const std::string& token) const override {
    JsonWriter out;
    out.begin_object().raw_member("progressToken", token).member("progress", percent_);
    return out.member("total", std::int64_t{100}).end_object().take();
  }

 private:
  const std::string token_;
  std::int64_t percent_ = 0;
};

// A form for the user of the client, whose answer is told as it came.
class Eliciting final : public McpWork {
 public:
  Eliciting(McpDesk& desk, const McpPeer& peer, std::string params)
      : desk_(desk), form_(desk.open_form(peer.session)), params_(std::move(params)) {}
  ~Eliciting() override { desk_.close_form(form_); }
  Eliciting(const Eliciting&) = delete;
  Step step() override {
    Step step;
    if (!params_.empty()) {
      step.message = rpc_request(form_, "elicitation/create", std::exchange(params_, ""));
    } else if (const auto result = desk_.await_form(form_, std::chrono::steady_clock::now() + 1s)) {
      step.result = mcp::text_result("User response: " + result->dump(), "", false);
    }
    return step;
  }
  std::string finish() override { return mcp::text_result("there is no stream", "", true); }
  std::string progress(const std::string&) const override { return "{}"; }

 private:
  McpDesk& desk_;
  const std::string form_;
  std::string params_;
};

// A call whose stream breaks off at once.
class BreakingOff final : public McpWork {
 public:
  explicit BreakingOff(SessionId ask) : ask_(std::move(ask)) {}
  Step step() override {
    Step step;
    step.dropped = true;
    return step;
  }
  std::string finish() override { return "{}"; }
  std::optional<SessionId> session() const override { return ask_; }
  std::string progress(const std::string&) const override { return "{}"; }

 private:
  const SessionId ask_;
};

class Fixture {
 public:
  Fixture(Api& api, McpDesk& desk, const McpRequest& request, const std::string& name,
          const std::string& arguments)
      : api_(api),
        desk_(desk),
        request_(request),
        name_(name),
        arguments_(arguments),
        given_(parse_json(arguments, "arguments")) {}

  Response run() {
    if (name_ == "test_simple_text" || name_ == "test_logging_tool") {
      return say("This is a simple text response for testing.");
    }
    if (name_ == "test_error_handling") {
      return done(
          desk_, request_,
          mcp::text_result("This tool intentionally returns an error for testing", "", true));
    }
    if (name_ == "test_missing_capability") {
      throw missing_capability("what this tool needs", "{\"sampling\":{}}");
    }
    if (name_ == "greet") return say("Hello, " + given_.value("name", "World") + "!");
    if (name_ == "test_tool_with_progress") {
      return run_call(desk_, request_,
                      std::make_unique<Progressing>(progress_token(request_.message)));
    }
    if (name_ == "test_elicitation") {
      auto params = form_params(given_.value("message", ""), {"username", "email"});
      return run_call(desk_, request_,
                      std::make_unique<Eliciting>(desk_, request_.peer, std::move(params)));
    }
    if (name_ == "test_reconnection") {
      return run_call(desk_, request_, std::make_unique<BreakingOff>(pose(1, "Reconnected.")));
    }
    if (name_ == "slow_compute") return slow_compute();
    if (name_ == "failing_job") {
      require_tasks(request_);
      return as_task(pose(1, ""));
    }
    return with_form();
  }

 private:
  Response say(const std::string& text) {
    return done(desk_, request_, mcp::text_result(text, "", false));
  }

  // A question that nobody answers: it ends by itself, with the default if there is one.
  SessionId pose(std::int64_t seconds, const std::string& otherwise) {
    OutsideAsk outside;
    outside.agent_name = request_.agent_name;
    Ask& ask = outside.ask;
    ask.timeout = std::chrono::seconds{seconds};
    ask.on_timeout = otherwise.empty() ? OnTimeout::fail : OnTimeout::use_default;
    QuestionSpec question;
    question.question = "A question of the conformance suite's: leave it.";
    if (!otherwise.empty()) question.default_choice = Choice{{}, otherwise};
    ask.questions.push_back(std::move(question));
    const auto admitted = api_.intake.admit_ask(outside, request_.http.actor(), api_.clock.now());
    if (!admitted) throw RpcError(kRpcInternal, "there is no such agent");
    return admitted->session;
  }

  Response as_task(const SessionId& ask) {
    return done(desk_, request_, created_task(api_, desk_, ask));
  }

  Response slow_compute() {
    const auto seconds = given_.value("seconds", std::int64_t{1});
    if (seconds <= 0) return say("Computed at once.");
    const SessionId ask = pose(seconds, "Computed " + given_.value("label", "") + ".");
    if (request_.peer.tasks) return as_task(ask);
    McpCall::Context context{api_,
                             desk_,
                             request_.peer,
                             request_.http.actor(),
                             request_.message.id,
                             takes_stream(request_.http)};
    return run_call(desk_, request_, McpCall::follow(std::move(context), ask, 55s));
  }

  Response with_form() {
    const bool rounds = name_ == "test_input_required_result_multi_round";
    const Time now = api_.clock.now();
    const auto ask_for = [&](const FormRound& round, const char* message, const char* field) {
      return done(
          desk_, request_,
          form_round(desk_, request_, arguments_, round, form_params(message, {field}), now));
    };
    if (rounds) {
      const FormRound second{"step2", 2};
      if (read_form(desk_, request_, arguments_, second, now)) return say("Both steps are done.");
      if (read_form(desk_, request_, arguments_, {"step1", 1}, now)) {
        return ask_for(second, "Step 2: What is your favorite color?", "color");
      }
      return ask_for({"step1", 1}, "Step 1: What is your name?", "name");
    }
    const bool state = name_.ends_with("_state");
    const FormRound round{state ? "confirm" : "user_name"};
    const auto result = read_form(desk_, request_, arguments_, round, now);
    if (!result) return ask_for(round, state ? "Please confirm" : "What is your name?", "name");
    if (state) return say("state-ok");
    const std::string name = result->value("content", Json::object()).value("name", "");
    if (name_ == "test_tool_with_task") return as_task(pose(1, "Hello, " + name + "!"));
    return say("Hello, " + name + "!");
  }

  Api& api_;
  McpDesk& desk_;
  const McpRequest& request_;
  const std::string name_;
  const std::string arguments_;
  const Json given_;
};

}  // namespace

std::string fixture_tools() {
  std::string tools;
  for (const char* name : kNames) {
    JsonWriter out;
    out.begin_object().member("name", name);
    out.member("description", "For the conformance suite.").key("inputSchema").begin_object();
    out.member("type", "object").end_object().end_object();
    tools.append(tools.empty() ? "" : ",").append(out.take());
  }
  return tools;
}

std::optional<Response> run_fixture(Api& api, McpDesk& desk, const McpRequest& request,
                                    const std::string& name, const std::string& arguments) {
  const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  if (!known || !desk.options().test_tools) return std::nullopt;
  try {
    return Fixture(api, desk, request, name, arguments).run();
  } catch (const Json::exception&) {
    throw RpcError(kRpcInvalidParams, "params.arguments: are not what this tool takes");
  }
}

}  // namespace holdpoint
