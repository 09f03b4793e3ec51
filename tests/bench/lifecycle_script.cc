#include "lifecycle_script.h"

#include <string_view>
#include <utility>

#include "http_message.h"
#include "json_scan.h"

namespace holdpoint::bench {
namespace {

constexpr std::string_view kAnswer = "haiku";

struct WrongAnswer {
  const char* what;
};

const char* describe(int step) {
  static constexpr const char* kSteps[] = {"trigger", "read the question", "answer",
                                           "read the result"};
  return kSteps[step];
}

}  // namespace

LifecycleScript::LifecycleScript(std::string host, LifecycleTally& tally)
    : host_(std::move(host)), tally_(tally) {}

std::optional<std::string> LifecycleScript::begin(Instant now) {
  awaits_ = Awaits::trigger;
  triggered_ = now;
  return post_request(host_, "/agent/webhook/bench", R"({"topic":"autumn"})");
}

std::optional<std::string> LifecycleScript::on_response(const Response& response, Instant now) {
  try {
    if (response.status < 200 || response.status > 299)
      throw WrongAnswer{describe(static_cast<int>(awaits_))};
    switch (awaits_) {
      case Awaits::trigger:
        session_ = text_of(member(response.body, "session_id"));
        if (session_.empty()) throw WrongAnswer{"no session_id"};
        return read_session();
      case Awaits::question:
        return answer_question(response, now);
      case Awaits::answer:
        return read_result();
      case Awaits::result:
        return finish(response, now);
    }
  } catch (const WrongAnswer& wrong) {
    tally_.errors.add(wrong.what, response);
  }
  return begin_unless_over(now);
}

std::optional<std::string> LifecycleScript::on_failure(const std::string& reason, Instant now) {
  tally_.errors.add(std::string(describe(static_cast<int>(awaits_))) + ": " + reason);
  return begin_unless_over(now);
}

std::string LifecycleScript::read_session() {
  awaits_ = Awaits::question;
  return get_request(host_, "/agent/session/" + session_ + "?wait=30");
}

std::string LifecycleScript::answer_question(const Response& response, Instant now) {
  if (text_of(member(response.body, "status")) != "pending_input")
    throw WrongAnswer{"the session did not ask"};
  const auto question = text_of(member(first_element(member(response.body, "questions")), "id"));
  if (question.empty()) throw WrongAnswer{"no pending question"};
  awaits_ = Awaits::answer;
  answered_ = now;
  return post_request(host_, "/agent/answer/" + session_,
                      R"({"question_id":")" + std::string(question) + R"(","answer":")" +
                          std::string(kAnswer) + R"("})");
}

std::string LifecycleScript::read_result() {
  awaits_ = Awaits::result;
  return get_request(host_, "/agent/session/" + session_ + "?wait=30&until=finished");
}

std::optional<std::string> LifecycleScript::finish(const Response& response, Instant now) {
  if (text_of(member(response.body, "status")) != "completed")
    throw WrongAnswer{"the session did not complete"};
  if (text_of(member(member(response.body, "result"), "style")) != kAnswer)
    throw WrongAnswer{"a wrong result"};
  ++tally_.finished;
  if (now < tally_.end) {
    ++tally_.completed;
    tally_.answer_to_completed_ms.push_back(milliseconds_between(answered_, now));
    tally_.lifecycle_ms.push_back(milliseconds_between(triggered_, now));
  }
  return begin_unless_over(now);
}

std::optional<std::string> LifecycleScript::begin_unless_over(Instant now) {
  if (now >= tally_.end || tally_.errors.too_many()) return std::nullopt;
  return begin(now);
}

}  // namespace holdpoint::bench
