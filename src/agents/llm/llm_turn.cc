#include "agents/llm/llm_turn.h"

#include "agents/llm/ask_tool.h"
#include "agents/llm/instructions.h"
#include "agents/llm/spawn_tool.h"
#include "agents/llm/tool_text.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

// Messages to the session are JSON; a text is said as it is.
std::vector<std::string> texts_of(const std::vector<std::string>& messages) {
  std::vector<std::string> texts;
  for (const auto& message : messages) {
    const Json value = read_json(message);
    texts.push_back(value.is_string() ? value.get<std::string>() : message);
  }
  return texts;
}

// Why a reply cannot be used, if it cannot.
std::optional<std::string> fault_of(const ModelReply& reply, const Model& model) {
  switch (reply.stop) {
    case ModelStop::max_tokens:
      return "the model's reply was cut off at " + std::to_string(model.max_tokens) +
             " tokens; raise max_reply_tokens of the agent, or max_tokens of its [llm.*]";
    case ModelStop::refusal:
      return "the model refused to go on (" + reply.stop_reason + ")" +
             (is_blank(reply.text) ? "" : ": " + shorten(reply.text, 300));
    case ModelStop::context_full:
      return "the conversation no longer fits into the model's context";
    case ModelStop::done:
    case ModelStop::tools:
    case ModelStop::paused:
      break;
  }
  return std::nullopt;
}

ToolResult refused(const ToolCall& call, const std::string& why) { return {call.id, why, true}; }

}  // namespace

LlmTurn::LlmTurn(Parts parts, const AgentDefinition& agent, const TurnRequest& request,
                 const TurnContext& context)
    : parts_(parts),
      agent_(agent),
      request_(request),
      context_(context),
      provider_(*parts.model.provider),
      talk_(open()),
      started_(parts.clock.now()),
      counted_(started_),
      step_from_(started_) {}

Conversation LlmTurn::open() const {
  Conversation talk =
      request_.state
          ? Conversation::parse(*request_.state)
          : Conversation::begin(provider_.user_messages({first_message(request_.payload)}));
  talk.queue(request_.turn, texts_of(request_.messages));
  return talk;
}

std::string LlmTurn::run() {
  take_resume();
  while (true) {
    if (context_.cancelled()) throw TurnFailed("the turn was stopped", true);
    step_from_ = parts_.clock.now();
    if (step_from_ - started_ > context_.timeout) {
      // Others wait for a worker too.
      return R"({"continue":true,"state":)" + state() + "}";
    }
    switch (talk_.phase()) {
      case Phase::requesting:
        ask_model_once();
        break;
      case Phase::executing:
        if (auto reply = run_tool()) return std::move(*reply);
        break;
      case Phase::awaiting_person:
      case Phase::awaiting_agents:
        throw TurnFailed("the session waits for an answer that did not come with this turn", false);
      case Phase::done:
        if (!talk_.has_queue()) {
          JsonWriter out;
          out.begin_object().key("result").begin_object().member("text", talk_.last_text());
          out.end_object().end_object();
          return out.take();
        }
        talk_.say(talk_.take_queue(), provider_);
        break;
    }
  }
}

void LlmTurn::take_resume() {
  const bool from_person = talk_.phase() == Phase::awaiting_person;
  const bool from_agents = talk_.phase() == Phase::awaiting_agents;
  // A turn that runs again may have taken it already.
  if (!request_.resume || (!from_person && !from_agents)) return;
  const ToolCall& call = talk_.remaining_tools().front();
  ToolResult result =
      from_person ? ask_result(call, *request_.resume) : spawn_result(call, *request_.resume);
  result.content = tool_text(result.content);
  talk_.resume(std::move(result), provider_);
}

void LlmTurn::check_budget() const {
  const auto& used = talk_.used;
  const auto& budget = parts_.budget;
  const auto fail = [](std::int64_t most, const char* what, const char* key) {
    throw TurnFailed("the budget of " + std::to_string(most) + " " + what +
                         " is used up; raise budget." + key +
                         " of the agent and try the session again, if it was worth it",
                     false);
  };
  if (used.steps >= *budget.steps) fail(*budget.steps, "model requests", "steps");
  if (used.tokens >= *budget.tokens) fail(*budget.tokens, "tokens", "tokens");
  if (used.millis >= *budget.seconds * 1000) fail(*budget.seconds, "seconds of work", "seconds");
}

const std::vector<ToolSpec>& LlmTurn::tools() {
  if (tools_) return *tools_;
  std::vector<ToolSpec> specs;
  if (agent_.async_questions && !context_.has_parent) specs.push_back(ask_tool());
  if (!agent_.sub_agents.empty() && !context_.has_parent) {
    specs.push_back(spawn_tool(agent_, parts_.agents));
  }
  for (auto& spec : parts_.toolbox.offered(agent_, context_)) specs.push_back(std::move(spec));
  return tools_.emplace(std::move(specs));
}

void LlmTurn::ask_model_once() {
  count_time();
  check_budget();
  const Model& model = parts_.model;
  ModelRequest request;
  request.model = model.name;
  request.max_tokens = model.max_tokens;
  request.system = instructions(agent_, context_.has_parent);
  request.tools = tools();
  request.messages = talk_.messages();
  ModelReply reply = ask_model(parts_.client, model, request, context_);
  ModelStep step;
  step.model = model.label;
  step.stop_reason = reply.stop_reason;
  step.calls = static_cast<std::int64_t>(reply.calls.size());
  step.spent = {1, reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens,
                cost_micros(model, reply.usage)};
  talk_.used.steps += 1;
  talk_.used.tokens += reply.usage.input_tokens + reply.usage.output_tokens;
  const auto fault = fault_of(reply, model);
  // A reply that cannot be used was paid for all the same; a retry asks again from before it.
  if (!fault) talk_.reply(std::move(reply));
  keep(std::move(step));
  if (fault) throw TurnFailed(*fault, false);
}

std::optional<std::string> LlmTurn::run_tool() {
  const ToolCall call = talk_.remaining_tools().front();
  if (call.name == kAskTool) return run_ask(call);
  if (call.name == kSpawnTool) return run_spawn(call);
  const std::string key =
      request_.session_id.text() + ":" + std::to_string(talk_.used.steps) + ":" + call.id;
  auto result = parts_.toolbox.run(agent_, call, key, context_);
  if (result) return finish(std::move(*result));
  std::string names;
  for (const auto& spec : tools()) names += (names.empty() ? "" : ", ") + spec.name;
  return finish(refused(call, "There is no tool \"" + shorten(call.name, 100) + "\". " +
                                  (names.empty() ? "There are none." : "There are: " + names)));
}

std::optional<std::string> LlmTurn::run_ask(const ToolCall& call) {
  if (context_.has_parent) {
    return finish(refused(call, "ask_user_question is not available to sub-agents."));
  }
  if (!agent_.async_questions) {
    return finish(refused(call, "This agent cannot ask people. Work with the payload alone."));
  }
  try {
    const AskDefaults defaults{agent_.question_timeout.value_or(context_.ask.timeout),
                               agent_.on_timeout.value_or(context_.ask.on_timeout)};
    const ToolAsk ask = read_ask_call(call, defaults, context_.limits);
    const auto left = *parts_.budget.questions - talk_.used.questions;
    if (ask.questions > left) {
      return finish(
          refused(call, left > 0 ? "Only " + std::to_string(left) + " more questions may be asked."
                                 : "No more questions may be asked. Go on without."));
    }
    talk_.used.questions += ask.questions;
    talk_.await_person();
    count_time();
    return "{\"ask\":" + ask.ask + ",\"state\":" + state() + "}";
  } catch (const BadRequest& e) {
    return finish(refused(call, "Invalid input: " + e.field() + " " + e.what() +
                                    ". Nobody was asked; correct it and call the tool again."));
  }
}

std::optional<std::string> LlmTurn::run_spawn(const ToolCall& call) {
  if (context_.has_parent) {
    return finish(refused(call, "spawn_agents is not available to sub-agents."));
  }
  if (agent_.sub_agents.empty()) {
    return finish(refused(call, "This agent cannot start others."));
  }
  try {
    const std::string spawn = read_spawn_call(call, agent_);
    talk_.await_agents();
    count_time();
    return "{\"spawn\":" + spawn + ",\"state\":" + state() + "}";
  } catch (const BadRequest& e) {
    return finish(refused(call, "Invalid input: " + e.field() + " " + e.what() +
                                    ". No agent was started; correct it and call the tool again."));
  }
}

std::optional<std::string> LlmTurn::finish(ToolResult result) {
  const ToolStep step{talk_.remaining_tools().front().name, result.id, result.is_error, {}};
  talk_.finish_tool(std::move(result), provider_);
  keep(step);
  return std::nullopt;
}

void LlmTurn::count_time() {
  const Time now = parts_.clock.now();
  talk_.used.millis += (now - counted_).count();
  counted_ = now;
}

std::string LlmTurn::state() const {
  std::string text = talk_.state();
  if (text.size() > context_.limits.max_state_bytes) {
    throw TurnFailed("the conversation has " + std::to_string(text.size()) + " bytes, more than " +
                         "[limits] max_state_bytes = " +
                         std::to_string(context_.limits.max_state_bytes) + " keeps",
                     false);
  }
  return text;
}

void LlmTurn::keep(std::variant<ModelStep, ToolStep> done) {
  count_time();
  std::visit([&](auto& step) { step.took = counted_ - step_from_; }, done);
  context_.checkpoint({state(), std::move(done)});
}

}  // namespace holdpoint
