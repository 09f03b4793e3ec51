#include <doctest/doctest.h>

#include "tests/domain/complaint.h"
#include "tests/flow/audit_rows.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const Actor kAna{"ana", "user:ana", "here"};
const Actor kBen{"ben", "user:ben", "here"};

// A session that waits for an answer of Ana's, or of the key `pager`.
struct Asked {
  explicit Asked(const std::function<void(AgentDefinition&)>& change = [](AgentDefinition&) {}) {
    AgentDefinition poet = *world.agents.find("poet");
    poet.answerers = {"Ana", "key:pager"};
    change(poet);
    world.agents.replace({{"poet", poet}});
    session = world.trigger();
    world.run_until_idle();
  }
  AnswerOutcome answer(const Actor& by, const std::string& as = "") {
    return world.process().answers.answer(session, {{{"", {"haiku"}}}, as, "test"}, by,
                                          world.now());
  }
  Control::Outcome cancel(const Actor& by, Control::As as) {
    return world.process().control.cancel(session, "enough", by, as, world.now()).outcome;
  }
  Control::Outcome call_off(const Question& q, const Actor& by) {
    return world.process().control.call_off(q, by, by.name, world.now()).outcome;
  }
  Question question() { return world.questions(session).back(); }
  bool pending() { return question().status == QuestionStatus::pending; }

  World world;
  SessionId session;
};

}  // namespace

TEST_CASE("only those whom the agent lists may answer, and the question waits for them") {
  Asked asked;
  for (const Actor& by : {kBen, Actor{"", "open", ""}, Actor{"pager", "user:pager", ""},
                          Actor{"ana", "key:0a", ""}, Actor{"ben", "link:0a", ""}, kAdmin}) {
    CAPTURE(by.credential);
    const auto outcome = asked.answer(by, "ana");
    REQUIRE(std::holds_alternative<NotAnAnswerer>(outcome));
    CHECK(std::get<NotAnAnswerer>(outcome).agent_name == "poet");
  }
  CHECK(asked.pending());
  CHECK(audited(asked.world.db()).count("question_answered") == 0);
  CHECK(std::holds_alternative<AnswerAccepted>(asked.answer(kAna, "ana")));
  CHECK(asked.question().answered_by == "ana");
}

TEST_CASE("a key that the agent lists may answer, whoever it speaks for") {
  Asked asked;
  CHECK(std::holds_alternative<AnswerAccepted>(asked.answer({"Pager", "key:0a", ""}, "cleo")));
  CHECK(asked.question().answered_by == "cleo");
  const auto row = audit_rows(asked.world.db()).back();
  CHECK(row.actor.credential == "key:0a");
  CHECK(row.detail == "as cleo via test");
}

TEST_CASE("who is not listed is not told how the question ended") {
  Asked asked;
  CHECK(std::holds_alternative<AnswerAccepted>(asked.answer(kAna, "ana")));
  CHECK(std::holds_alternative<NotAnAnswerer>(asked.answer(kBen)));
  CHECK(std::holds_alternative<AlreadyAnswered>(asked.answer(kAna, "ana")));
}

TEST_CASE("answerers that a reload brought count for questions that wait already") {
  Asked asked([](AgentDefinition& poet) { poet.answerers = {}; });
  AgentDefinition poet = *asked.world.agents.find("poet");
  poet.answerers = {"ana"};
  asked.world.agents.replace({{"poet", poet}});
  CHECK(std::holds_alternative<NotAnAnswerer>(asked.answer(kBen)));
  CHECK(std::holds_alternative<AnswerAccepted>(asked.answer(kAna)));
}

TEST_CASE("an answerer may call the question off, and the agent is told") {
  Asked asked;
  CHECK(asked.call_off(asked.question(), kAna) == Control::Outcome::done);
  CHECK(asked.question().status == QuestionStatus::cancelled);
  CHECK(asked.question().answered_by == "ana");
  const Session session = asked.world.session(asked.session);
  CHECK(session.status == SessionStatus::cancelled);
  CHECK(session.error == "the user cancelled the question: cancelled by ana");
  asked.world.run_until_idle();
  CHECK(asked.world.count_events(asked.session, "session_cancelled") == 1);
  CHECK(asked.world.http.seen().back().body.find("session_cancelled") != std::string::npos);
  const auto row = audit_rows(asked.world.db()).back();
  CHECK(row.action == "question_cancelled");
  CHECK(row.actor.name == "ana");
  CHECK(row.subject == "question:" + asked.question().id.text());
}

TEST_CASE("who is not listed calls nothing off") {
  Asked asked;
  CHECK(asked.call_off(asked.question(), kBen) == Control::Outcome::not_allowed);
  CHECK(asked.cancel(kBen, Control::As::answerer) == Control::Outcome::not_allowed);
  CHECK(asked.pending());
  CHECK(asked.world.session(asked.session).status == SessionStatus::pending_input);
  CHECK(audited(asked.world.db()) == std::map<std::string, std::int64_t>{{"session_started", 1}});
}

TEST_CASE("with allow_cancel: false answerers can only answer; who started it may still cancel") {
  Asked asked([](AgentDefinition& poet) { poet.allow_cancel = false; });
  CHECK(asked.call_off(asked.question(), kAna) == Control::Outcome::not_allowed);
  CHECK(asked.cancel(kAna, Control::As::answerer) == Control::Outcome::not_allowed);
  CHECK(asked.pending());
  CHECK(asked.cancel(kBen, Control::As::owner) == Control::Outcome::done);
  CHECK(asked.world.session(asked.session).status == SessionStatus::cancelled);
}

TEST_CASE("an answerer may cancel the session that waits for them; a repeat is done") {
  Asked asked;
  CHECK(asked.cancel(kAna, Control::As::answerer) == Control::Outcome::done);
  CHECK(asked.cancel(kAna, Control::As::answerer) == Control::Outcome::done);
  CHECK(asked.question().status == QuestionStatus::cancelled);
  CHECK(audited(asked.world.db())["session_cancelled"] == 1);
}

TEST_CASE("a stale page calls off nothing that came after it") {
  Asked asked([](AgentDefinition& poet) { poet.answerers = {}; });
  const Question first = asked.question();
  asked.world.runner.reply = [](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    return R"({"ask":{"questions":[{"question":"And how long?"}]},"state":2})";
  };
  CHECK(std::holds_alternative<AnswerAccepted>(asked.answer(kAna)));
  asked.world.run_until_idle();
  REQUIRE(asked.question().spec.question == "And how long?");
  CHECK(asked.call_off(first, kAna) == Control::Outcome::refused);
  CHECK(asked.pending());
  CHECK(asked.world.session(asked.session).status == SessionStatus::pending_input);
  CHECK(asked.call_off(asked.question(), kAna) == Control::Outcome::done);
  CHECK(asked.call_off(asked.question(), kAna) == Control::Outcome::refused);
  CHECK(audited(asked.world.db())["question_cancelled"] == 1);
}

TEST_CASE("a question that timed out or was answered is not called off") {
  Asked answered;
  CHECK(std::holds_alternative<AnswerAccepted>(answered.answer(kAna)));
  CHECK(answered.call_off(answered.question(), kAna) == Control::Outcome::refused);
  CHECK(answered.question().status == QuestionStatus::answered);
  Asked expired;
  expired.world.clock.advance(3601s);
  expired.world.run_until_idle();
  CHECK(expired.call_off(expired.question(), kAna) == Control::Outcome::refused);
  CHECK(expired.question().status == QuestionStatus::timed_out);
}

TEST_CASE("one question of an ask called off ends them all") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    return R"({"ask":{"questions":[{"question":"a"},{"question":"b"},{"question":"c"}]},"state":1})";
  };
  const auto id = world.trigger();
  world.run_until_idle();
  const auto questions = world.questions(id);
  REQUIRE(questions.size() == 3);
  CHECK(std::holds_alternative<AnswerAccepted>(world.process().answers.answer(
      id, {{{questions[0].id.text(), {"yes"}}}, "ana", "test"}, kAna, world.now())));
  CHECK(world.process().control.call_off(questions[1], kAna, "ana", world.now()).outcome ==
        Control::Outcome::done);
  const auto after = world.questions(id);
  CHECK(after[0].status == QuestionStatus::answered);
  CHECK(after[1].status == QuestionStatus::cancelled);
  CHECK(after[2].status == QuestionStatus::cancelled);
  CHECK(world.session(id).status == SessionStatus::cancelled);
}

TEST_CASE("a person without a name is called a person in the reason") {
  Asked asked([](AgentDefinition& poet) { poet.answerers = {}; });
  CHECK(asked.call_off(asked.question(), {"", "open", ""}) == Control::Outcome::done);
  CHECK(asked.world.session(asked.session).error ==
        "the user cancelled the question: cancelled by a person");
}
