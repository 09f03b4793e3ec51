// Messages of MCP clients, what their calls hold, and the streams that a bridge reads.
#include "wire/rpc.h"

#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/mcp_elicitation.h"
#include "wire/mcp_tools.h"
#include "wire/message_stream.h"
#include "wire/sealed.h"

namespace holdpoint {
namespace {

mcp::Rules rules() {
  mcp::Rules rules;
  rules.agent_name = "mcp";
  return rules;
}

std::optional<RpcMessage> read(std::string_view text) {
  try {
    return parse_rpc(text);
  } catch (const RpcError& e) {
    expect(e.status == 400 && *e.what(), "a refusal is a 400 with a reason");
    expect(Json::parse(rpc_error("", e))["error"]["code"] == e.code, "a refusal can be told");
    return std::nullopt;
  }
}

void check_message(const RpcMessage& message) {
  const bool is_note = message.kind == RpcMessage::Kind::notification;
  expect(message.id.empty() == is_note, "all but notifications have an id");
  expect(message.params.is_object(), "params are an object");
  expect(Json::parse(message.params_text) == message.params, "params are what was written");
  if (is_note) return;
  const auto again = read(rpc_result(message.id, "{}"));
  expect(again && again->id == message.id, "an answer has the id of its request");
}

void check_ask(std::string_view arguments) {
  const auto call = unless_refused([&] { return mcp::parse_ask(arguments, rules()); });
  if (!call) return;
  expect(call->wait <= rules().longest_wait, "no call waits longer than may be");
  expect(!mcp::is_permission(call->ask.payload), "an ask is no permission");
  const Json given = Json::parse(arguments);
  expect(mcp::withdrawn_by_cancel(call->ask.payload) ==
             (given.value("on_cancel", Json()) == "withdraw"),
         "a question is withdrawn only if its call says so");
  const Ask& ask = call->ask.ask;
  const Json form = Json::parse(mcp::elicitation_params(ask));
  expect(form["requestedSchema"]["properties"].size() >= ask.questions.size(),
         "a form has every question");
  if (const auto choices = mcp::read_elicited(given, ask, Limits{})) {
    expect(choices->size() == ask.questions.size(), "a form's answer has every question");
    (void)Json::parse(mcp::elicited_result(ask, *choices));
  }
}

void check_permission(std::string_view arguments) {
  const auto ask = unless_refused([&] { return mcp::parse_permission(arguments, rules()); });
  if (!ask) return;
  expect(mcp::is_permission(ask->payload), "a permission is known for one");
  auto questions = pose(ask->ask, SessionId("s"), "mcp", 1, {}, Time{});
  questions.front().status = QuestionStatus::answered;
  questions.front().choice = Choice{{"Allow"}, std::nullopt};
  Session session;
  session.status = SessionStatus::completed;
  const Json result = Json::parse(mcp::permission_result(session, questions, ask->payload));
  const Json said = Json::parse(result["content"][0]["text"].get<std::string>());
  expect(said["updatedInput"] == Json::parse(arguments)["input"], "what was asked for is allowed");
}

void check_stream(std::string_view text) {
  const auto read_by = [&](std::size_t piece) {
    MessageStream stream(1 << 20);
    std::vector<std::string> messages;
    for (std::size_t i = 0; i < text.size(); i += piece) {
      if (!stream.take(text.substr(i, piece), messages)) break;
    }
    stream.finish(messages);
    messages.push_back(stream.last_event_id());
    return messages;
  };
  const auto whole = read_by(std::max<std::size_t>(text.size(), 1));
  expect(whole == read_by(1) && whole == read_by(7), "pieces make no difference");
  for (const auto& message : whole) {
    expect(message.find_first_of("\r\n") == std::string::npos, "a message is one line");
  }
}

void run(std::string_view text) {
  const Seals seals("a secret of this server's");
  expect(!seals.open("session", text), "nobody else seals anything");
  check_stream(text);
  const auto message = read(text);
  if (!message) return;
  check_message(*message);
  const std::string arguments = member_text(message->params_text, "arguments");
  for (const std::string& given : {arguments, message->params_text}) {
    if (given.empty()) continue;
    check_ask(given);
    check_permission(given);
    unless_refused([&] { return mcp::parse_get_answer(given, rules()).id.size(); });
    unless_refused([&] { return mcp::parse_cancel(given).reason.size(); });
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
