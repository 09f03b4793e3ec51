// HumanLayer's calls as its SDK sends them, what people would be asked, and what any answer of
// theirs would come back as. The first byte chooses the kind of call; an answer follows behind a
// line of its own.
#include <algorithm>

#include "domain/answer.h"
#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/humanlayer_status.h"
#include "wire/json.h"

namespace holdpoint::humanlayer {
namespace {

const Rules kRules{"humanlayer", {}, {}};

Json written(const Call& call, const Question& question) {
  JsonWriter out;
  write_call(out, call, question);
  return parse_json(out.take(), "call");
}

void check_status(Kind kind, const Json& status, bool ended) {
  expect(status["responded_at"].is_null() == !ended, "it is responded to when it has ended");
  if (kind == Kind::function_call) {
    expect(status["approved"].is_boolean() == ended, "an ended call is approved or not");
    expect(
        status["approved"] != false || (status["comment"].is_string() && status["comment"] != ""),
        "a rejection has a comment");
    expect(status["reject_option_name"].is_null() || status["approved"] == false,
           "a reject option rejects");
  } else {
    expect(status["response"].is_string() == ended, "an ended contact has a response");
    expect(status["response"] != "", "a response is not empty");
  }
}

void answer(const Call& call, Question question, const std::string& text) {
  const auto choice =
      unless_refused([&] { return choose(question.spec, {text}, "answer", kRules.limits); });
  if (!choice) return;
  question.choice = *choice;
  question.status = QuestionStatus::answered;
  question.settled_at = Time{};
  check_status(call.kind, written(call, question)["status"], true);
}

bool has_token(const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (json.is_object() && name == "bot_token") return true;
    if (value.is_structured() && has_token(value)) return true;
  }
  return false;
}

void run(Kind kind, std::string_view body, std::string_view said) {
  const auto outside = unless_refused([&] { return parse_call(kind, body, kRules); });
  if (!outside) return;
  check_ask(outside->ask, kRules.limits);  // Throws what nobody expects.
  check_idempotency_key(*outside->idempotency_key, "key");
  const auto call = read_call(kind, outside->payload);
  expect(call.has_value(), "what was taken is found again");
  const Json given = Json::parse(body), spec = parse_json(call->spec, "spec");
  expect(call->call_id == given["call_id"] && call->run_id == given["run_id"], "ids stay");
  if (kind == Kind::function_call) {
    const Json kwargs = given["spec"].value("kwargs", Json());
    expect(spec["kwargs"] == (kwargs.is_null() ? Json::object() : kwargs), "arguments stay");
  }
  expect(!spec.contains("channel") || !has_token(spec["channel"]), "no token stays");
  expect(asks_the_same(*call, *call), "a call is the same as itself");

  Question question = pose(outside->ask, SessionId("s"), "humanlayer", 1, {}, Time{}).at(0);
  check_status(kind, written(*call, question)["status"], false);
  for (const auto& option : question.spec.options) answer(*call, question, option.label);
  if (is_clean_utf8(said)) answer(*call, question, std::string(said));
  const auto reply = unless_refused([&] { return parse_reply(*call, question, said); });
  if (reply) answer(*call, question, reply->answer);
  for (const auto status : {QuestionStatus::timed_out, QuestionStatus::cancelled}) {
    question.status = status;
    question.settled_at = Time{};
    check_status(kind, written(*call, question)["status"], true);
  }
}

}  // namespace
}  // namespace holdpoint::humanlayer

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using holdpoint::humanlayer::Kind;
  if (size < 1) return 0;
  const std::string_view text = holdpoint::text_of(data + 1, size - 1);
  const auto cut = std::min(text.find("\n---\n"), text.size());
  holdpoint::humanlayer::run(data[0] == 'f' ? Kind::function_call : Kind::human_contact,
                             text.substr(0, cut), text.substr(std::min(cut + 5, text.size())));
  return 0;
}
