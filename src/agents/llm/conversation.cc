#include "agents/llm/conversation.h"

#include <stdexcept>

#include "domain/bad_request.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {

std::string_view to_text(Phase phase) {
  switch (phase) {
    case Phase::requesting:
      return "requesting";
    case Phase::executing:
      return "executing";
    case Phase::awaiting_person:
      return "awaiting_person";
    case Phase::awaiting_agents:
      return "awaiting_agents";
    case Phase::done:
      break;
  }
  return "done";
}

Conversation Conversation::begin(std::vector<std::string> first_messages) {
  Conversation fresh;
  fresh.messages_ = std::move(first_messages);
  return fresh;
}

void Conversation::expect(Phase phase, const char* move) const {
  if (phase_ == phase) return;
  throw WrongMove(std::string("the conversation is ") + std::string(to_text(phase_)) + ": " + move +
                  " does not fit");
}

void Conversation::reply(ModelReply reply) {
  expect(Phase::requesting, "a reply");
  messages_.push_back(std::move(reply.message));
  results_.clear();
  text_ = std::move(reply.text);
  remaining_ = std::move(reply.calls);
  if (!remaining_.empty()) {
    phase_ = Phase::executing;
  } else if (reply.stop != ModelStop::paused) {
    phase_ = Phase::done;
  }
}

void Conversation::finish_tool(ToolResult result, const Provider& provider) {
  expect(Phase::executing, "a tool's result");
  settle(std::move(result), provider);
}

void Conversation::await_person() {
  expect(Phase::executing, "an ask");
  phase_ = Phase::awaiting_person;
}

void Conversation::await_agents() {
  expect(Phase::executing, "a start of sub-agents");
  phase_ = Phase::awaiting_agents;
}

void Conversation::resume(ToolResult result, const Provider& provider) {
  if (phase_ != Phase::awaiting_agents) expect(Phase::awaiting_person, "an answer");
  settle(std::move(result), provider);
}

void Conversation::settle(ToolResult result, const Provider& provider) {
  if (result.id != remaining_.front().id) {
    throw WrongMove("the result of " + result.id + " came while " + remaining_.front().id +
                    " was to come");
  }
  results_.push_back(std::move(result));
  remaining_.erase(remaining_.begin());
  phase_ = Phase::executing;
  if (!remaining_.empty()) return;
  phase_ = Phase::requesting;
  for (auto& message : provider.result_messages(results_)) messages_.push_back(std::move(message));
  results_.clear();
}

void Conversation::say(const std::vector<std::string>& texts, const Provider& provider) {
  expect(Phase::done, "a message");
  if (!results_.empty()) {  // It was closed before the model could be told of them.
    for (auto& message : provider.result_messages(results_))
      messages_.push_back(std::move(message));
    results_.clear();
  }
  for (auto& message : provider.user_messages(texts)) messages_.push_back(std::move(message));
  phase_ = Phase::requesting;
}

void Conversation::close(const std::string& reason) {
  for (auto& call : remaining_) results_.push_back({std::move(call.id), reason, true});
  remaining_.clear();
  phase_ = Phase::done;
}

void Conversation::queue(std::int64_t turn, const std::vector<std::string>& messages) {
  if (turn <= queued_through_) return;
  queued_through_ = turn;
  queue_.insert(queue_.end(), messages.begin(), messages.end());
}

std::vector<std::string> Conversation::take_queue() { return std::exchange(queue_, {}); }

std::string Conversation::state() const {
  JsonWriter out;
  out.begin_object().member("phase", to_text(phase_)).key("messages").begin_array();
  for (const auto& message : messages_) out.raw(message);
  out.end_array().key("remaining_tools").begin_array();
  for (const auto& call : remaining_) {
    // As a text: the model may have written anything.
    out.begin_object().member("id", call.id).member("name", call.name);
    out.member("input", call.input).end_object();
  }
  out.end_array().key("tool_results").begin_array();
  for (const auto& result : results_) {
    out.begin_object().member("id", result.id).member("content", result.content);
    out.member("is_error", result.is_error).end_object();
  }
  out.end_array().member("text", text_).key("queue").begin_array();
  for (const auto& message : queue_) out.value(message);
  out.end_array().member("queued_through", queued_through_);
  out.member("steps", used.steps).member("tokens", used.tokens).member("millis", used.millis);
  out.member("questions", used.questions).end_object();
  return out.take();
}

namespace {

Phase phase_from(const std::string& text) {
  for (const Phase phase : kPhases) {
    if (to_text(phase) == text) return phase;
  }
  throw BadRequest("state.phase", "\"" + text + "\" is none");
}

}  // namespace

Conversation Conversation::parse(const std::string& state) {
  Conversation c;
  try {
    for (const auto& [name, value] : members_of(state)) {
      if (name == "messages") {
        for (const auto message : elements_of(value)) c.messages_.emplace_back(message);
        continue;
      }
      const Json given = read_json(value);
      if (name == "phase") c.phase_ = phase_from(given.get<std::string>());
      if (name == "remaining_tools") {
        for (const auto& call : given) {
          c.remaining_.push_back({call.at("id").get<std::string>(),
                                  call.at("name").get<std::string>(),
                                  call.at("input").get<std::string>()});
        }
      }
      if (name == "tool_results") {
        for (const auto& result : given) {
          c.results_.push_back({result.at("id").get<std::string>(),
                                result.at("content").get<std::string>(),
                                result.at("is_error").get<bool>()});
        }
      }
      if (name == "text") c.text_ = given.get<std::string>();
      if (name == "queue") c.queue_ = given.get<std::vector<std::string>>();
      if (name == "queued_through") c.queued_through_ = given.get<std::int64_t>();
      if (name == "steps") c.used.steps = given.get<std::int64_t>();
      if (name == "tokens") c.used.tokens = given.get<std::int64_t>();
      if (name == "millis") c.used.millis = given.get<std::int64_t>();
      if (name == "questions") c.used.questions = given.get<std::int64_t>();
    }
  } catch (const Json::exception&) {
    throw BadRequest("state", "is not that of a model's conversation");
  }
  const bool has_calls = !c.remaining_.empty();
  const bool wants_calls = c.phase_ != Phase::requesting && c.phase_ != Phase::done;
  if (c.messages_.empty() || has_calls != wants_calls) {
    throw BadRequest("state", "is not that of a model's conversation");
  }
  return c;
}

std::string close_conversation(const std::string& state, const std::string& reason) {
  Conversation conversation = Conversation::parse(state);
  conversation.close(reason);
  return conversation.state();
}

}  // namespace holdpoint
