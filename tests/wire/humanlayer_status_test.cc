#include "wire/humanlayer_status.h"

#include <doctest/doctest.h>

#include "domain/answer.h"
#include "tests/domain/complaint.h"
#include "wire/json.h"

namespace holdpoint::humanlayer {
namespace {

using namespace std::chrono_literals;
using test::complaint_of;

const Time kAsked = *parse_iso("2026-11-18T09:00:00.000Z");
const Time kSettled = *parse_iso("2026-11-18T09:05:00.000Z");

// A call, and its question as people have it.
struct Asked {
  Call call;
  Question question;
};
Asked ask(Kind kind, const std::string& spec) {
  const auto outside = parse_call(kind, R"({"run_id":"r","call_id":"c","spec":)" + spec + "}",
                                  {"humanlayer", {60s, {}}, {}});
  return {*read_call(kind, outside.payload),
          pose(outside.ask, SessionId("s"), "humanlayer", 1, {}, kAsked).at(0)};
}
Asked approval() {
  return ask(
      Kind::function_call,
      R"({"fn":"f","reject_options":[{"name":"risky","title":"Too risky","prompt_fill":"That is too risky"},
                 {"name":"late","description":"It is late"},{"name":"odd"}]})");
}
Asked contact() {
  return ask(
      Kind::human_contact,
      R"({"msg":"When?","response_options":[{"name":"mon","title":"Monday"},{"name":"tue","prompt_fill":"On Tuesday"}]})");
}

Json status_of(const Asked& asked) {
  JsonWriter out;
  write_call(out, asked.call, asked.question);
  return read_json(out.take())["status"];
}
// As a person answers it, on any channel.
Json answered(Asked asked, const std::string& answer, std::optional<std::string> by = "ana") {
  asked.question.choice = choose(asked.question.spec, {answer}, "answer", {});
  asked.question.status = QuestionStatus::answered;
  asked.question.answered_by = std::move(by);
  asked.question.answered_via = "slack";
  asked.question.settled_at = kSettled;
  return status_of(asked);
}
Json ended(Asked asked, QuestionStatus status, std::optional<std::string> by = std::nullopt) {
  asked.question.status = status;
  asked.question.answered_by = std::move(by);
  asked.question.settled_at = kSettled;
  return status_of(asked);
}
// `approved`, `comment`, `reject_option_name`.
Json decision(const Json& status) {
  CHECK(status["responded_at"] == "2026-11-18T09:05:00.000Z");
  return {status["approved"], status["comment"], status["reject_option_name"]};
}
Json response(const Json& status) { return {status["response"], status["response_option_name"]}; }

TEST_CASE("while a question waits, all of the status but its beginning is null") {
  CHECK(status_of(approval()) ==
        read_json(R"({"requested_at":"2026-11-18T09:00:00.000Z","responded_at":null,
    "approved":null,"comment":null,"reject_option_name":null,"user_info":null})"));
  CHECK(status_of(contact()) ==
        read_json(R"({"requested_at":"2026-11-18T09:00:00.000Z","responded_at":null,
    "response":null,"response_option_name":null,"user_info":null})"));
}

TEST_CASE("an approval may have a comment, a rejection always has one") {
  CHECK(decision(answered(approval(), "Approve")) == Json({true, nullptr, nullptr}));
  CHECK(decision(answered(approval(), "Approve: fine by me")) ==
        Json({true, "fine by me", nullptr}));
  CHECK(decision(answered(approval(), " approve ")) == Json({true, nullptr, nullptr}));
  CHECK(decision(answered(approval(), "Reject")) == Json({false, "rejected by ana", nullptr}));
  CHECK(decision(answered(approval(), "Reject", std::nullopt)) ==
        Json({false, "rejected", nullptr}));
  CHECK(decision(answered(approval(), "Reject: no")) == Json({false, "no", nullptr}));
}

TEST_CASE("own words are a rejection, whatever they begin with") {
  for (const std::string words :
       {"no way", "Approved", "Approve it tomorrow", "approve - fine", "yes"}) {
    CAPTURE(words);
    CHECK(decision(answered(approval(), words)) == Json({false, words, nullptr}));
  }
}

TEST_CASE("a reject option says why, unless the person does") {
  CHECK(decision(answered(approval(), "Too risky")) == Json({false, "That is too risky", "risky"}));
  CHECK(decision(answered(approval(), "too risky: not on a Friday")) ==
        Json({false, "not on a Friday", "risky"}));
  CHECK(decision(answered(approval(), "late")) == Json({false, "It is late", "late"}));
  CHECK(decision(answered(approval(), "odd")) == Json({false, "rejected by ana", "odd"}));
}

TEST_CASE("of two labels that fit, the longer one is meant") {
  const auto asked = ask(
      Kind::human_contact,
      R"({"msg":"m","response_options":[{"name":"a","title":"Go"},{"name":"b","title":"Go: now"}]})");
  CHECK(response(answered(asked, "go: now: really")) == Json({"really", "b"}));
  CHECK(response(answered(asked, "go: later")) == Json({"later", "a"}));
}

TEST_CASE("a picked option fills the response, and free text is one") {
  CHECK(response(answered(contact(), "Monday")) == Json({"Monday", "mon"}));
  CHECK(response(answered(contact(), "tue")) == Json({"On Tuesday", "tue"}));
  CHECK(response(answered(contact(), "Monday: after lunch")) == Json({"after lunch", "mon"}));
  CHECK(response(answered(contact(), "Next week")) == Json({"Next week", nullptr}));
  const auto one =
      ask(Kind::human_contact, R"({"msg":"m","response_options":[{"name":"d","title":"Done"}]})");
  CHECK(response(answered(one, "done")) == Json({"Done", "d"}));
  CHECK(response(answered(one, "not yet")) == Json({"not yet", nullptr}));
}

TEST_CASE("who answered is told, and by which channel") {
  CHECK(answered(approval(), "Approve")["user_info"] ==
        read_json(R"({"name":"ana","via":"slack"})"));
}

TEST_CASE("a call that nobody answered ends with a status that says so") {
  CHECK(decision(ended(approval(), QuestionStatus::timed_out)) ==
        Json({false, "Nobody answered in time: the question expired at 2026-11-18T09:01:00.000Z.",
              nullptr}));
  CHECK(decision(ended(approval(), QuestionStatus::cancelled, "ana")) ==
        Json({false, "Nobody answered: the question was cancelled by ana.", nullptr}));
  CHECK(response(ended(contact(), QuestionStatus::cancelled)) ==
        Json({"Nobody answered: the question was cancelled.", nullptr}));
}

TEST_CASE("a status object comes back as it was sent") {
  const auto round = [](const Asked& asked, const std::string& body) {
    return answered(asked, parse_reply(asked.call, asked.question, body).answer);
  };
  CHECK(decision(round(approval(), R"({"approved":true})")) == Json({true, nullptr, nullptr}));
  CHECK(decision(round(approval(), R"({"approved":true,"comment":"ok: go"})")) ==
        Json({true, "ok: go", nullptr}));
  CHECK(decision(round(approval(), R"({"approved":false,"comment":"Approve: not"})")) ==
        Json({false, "Approve: not", nullptr}));
  CHECK(decision(round(approval(),
                       R"({"approved":false,"comment":null,"reject_option_name":"risky"})")) ==
        Json({false, "That is too risky", "risky"}));
  CHECK(
      decision(round(
          approval(),
          R"({"approved":false,"comment":"no","reject_option_name":"late","requested_at":"2026-01-01"})")) ==
      Json({false, "no", "late"}));
  CHECK(response(round(contact(), R"({"response":"Next week"})")) == Json({"Next week", nullptr}));
  CHECK(response(round(contact(), R"({"response_option_name":"mon"})")) == Json({"Monday", "mon"}));
  CHECK(response(round(contact(), R"({"response":"at 9","response_option_name":"mon"})")) ==
        Json({"at 9", "mon"}));
}

TEST_CASE("what is wrong with a status object is named") {
  const auto blamed = [](const Asked& asked, const std::string& body) {
    return complaint_of([&] { return parse_reply(asked.call, asked.question, body); }).field;
  };
  CHECK(blamed(approval(), "[]") == "body");
  CHECK(blamed(approval(), "{}") == "approved");
  CHECK(blamed(approval(), R"({"approved":null})") == "approved");
  CHECK(blamed(approval(), R"({"approved":false,"comment":1})") == "comment");
  CHECK(blamed(approval(), R"({"approved":false,"reject_option_name":"none"})") ==
        "reject_option_name");
  CHECK(blamed(approval(), R"({"approved":true,"reject_option_name":"risky"})") ==
        "reject_option_name");
  CHECK(blamed(contact(), R"({"response":" "})") == "response");
  CHECK(blamed(contact(), R"({"response":"x","response_option_name":"none"})") ==
        "response_option_name");
}

TEST_CASE("a question that was asked otherwise under a call's name is read without harm") {
  Asked asked = approval();
  asked.question.spec.options = {{"Only", "", "", false}, {"Two", "", "", false}};
  CHECK(decision(answered(asked, "Two")) == Json({false, "Two", nullptr}));
  CHECK(parse_reply(asked.call, asked.question, R"({"approved":false,"reject_option_name":"odd"})")
            .answer == "odd");
}

}  // namespace
}  // namespace holdpoint::humanlayer
