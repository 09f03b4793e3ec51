#include "flow/replies.h"

#include <doctest/doctest.h>

#include "tests/flow/mail_world.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("a reply by mail answers its question, in the name of whom it was sent to") {
  MailWorld m;
  const auto id = m.ask();
  CHECK(m.take(m.reply("Yes\n\n> Deploy?")) == "answered");
  m.world.run_until_idle();
  CHECK(m.world.session(id).status == SessionStatus::completed);
  const Question question = m.world.questions(id)[0];
  CHECK(question.choice->selected == std::vector<std::string>{"Yes"});
  CHECK(question.answered_by == "ana@example.org");
  CHECK(question.answered_via == "email");
  CHECK(m.world.count_events(id, "question_answered") == 1);
  std::string credential, address;
  m.world.db().read([&](Transaction& tx) {
    tx.query("SELECT credential, address FROM audit_pending WHERE action = 'question_answered'",
             [&](const Row& row) {
               credential = row.string(0);
               address = row.string(1);
             });
  });
  CHECK(credential == "mail:" + m.asked().id.text());
  CHECK(address == "imap.example");
}

TEST_CASE("the same reply again changes nothing and says nothing") {
  MailWorld m;
  const auto id = m.ask();
  const auto mail = m.reply("1");
  CHECK(m.take(mail) == "answered");
  CHECK(m.take(mail) == "already_answered");
  m.world.run_until_idle();
  CHECK(m.take(mail) == "already_answered");
  CHECK(m.take(m.reply("Yes")) == "already_answered");
  m.world.run_until_idle();
  CHECK(m.world.count_events(id, "question_answered") == 1);
  CHECK(m.mails_back() == 0);
}

TEST_CASE("an own answer by mail is the text without what it quotes") {
  MailWorld m;
  const auto id = m.ask(R"({"question":"Deploy?","options":["Yes","No"]})");
  CHECK(m.take(m.reply("Let us wait.\nIt is Friday.\n\n-- \nAna")) == "answered");
  CHECK(m.world.questions(id)[0].choice->text == "Let us wait.\nIt is Friday.");
}

TEST_CASE("out-of-office notices and bounces are ignored, with a word in the history") {
  MailWorld m;
  const auto id = m.ask();
  auto away = m.reply("Yes");
  away.automatic = AutomaticMail{AutomaticMail::Kind::auto_reply, "Auto-Submitted: auto-replied"};
  CHECK(m.take(away) == "ignored");
  CHECK(m.take(away) == "ignored");
  auto bounce = m.reply("Yes", "mailer-daemon@example.org");
  bounce.automatic = AutomaticMail{AutomaticMail::Kind::bounce, "Return-Path: <>"};
  CHECK(m.take(bounce) == "ignored");
  m.world.run_until_idle();
  CHECK(m.world.questions(id)[0].status == QuestionStatus::pending);
  CHECK(m.world.count_events(id, "reply_ignored") == 1);
  CHECK(m.world.count_events(id, "mail_bounced") == 1);
  CHECK(m.mails_back() == 0);
}

TEST_CASE("a reply from another address than the mail went to is refused, and not answered") {
  MailWorld m;
  const auto id = m.ask();
  // Not even from another who was asked: the token is Ana's.
  for (const char* from : {"eve@example.com", "bo@example.org", "", "ana@example.org.evil"}) {
    CHECK(m.take(m.reply("Yes", from)) == "refused");
  }
  m.world.run_until_idle();
  CHECK(m.world.questions(id)[0].status == QuestionStatus::pending);
  CHECK(m.world.count_events(id, "reply_refused") == 4);
  CHECK(m.mails_back() == 0);
  CHECK(m.take(m.reply("Yes", "ana@example.org")) == "answered");
}

TEST_CASE("an unclear reply gets one mail back, and a clear one answers afterwards") {
  MailWorld m;
  const auto id = m.ask();
  const auto unclear = m.reply("No problem, go ahead");
  for (int i = 0; i < 3; ++i) CHECK(m.take(unclear) == "unclear");
  m.world.run_until_idle();
  CHECK(m.world.questions(id)[0].status == QuestionStatus::pending);
  REQUIRE(m.mails_back() == 1);
  const auto& back = m.letters.sent.back();
  CHECK(back.to == "ana@example.org");
  CHECK(back.body == "\"No problem, go ahead\" begins like the option \"No\", but goes on");
  CHECK(m.world.count_events(id, "reply_unclear") == 1);
  // In reply to the mail back.
  auto clear = m.reply("2");
  clear.recipients = {m.address_of(back.id)};
  CHECK(m.take(clear) == "answered");
  CHECK(m.world.questions(id)[0].choice->selected == std::vector<std::string>{"No"});
}

TEST_CASE("nobody gets more than five mails back about one question") {
  MailWorld m;
  const auto id = m.ask();
  for (int i = 0; i < 9; ++i) {
    // As a program would, each time in reply to the latest.
    auto mail = m.reply("Hello, I am a robot " + std::to_string(i));
    mail.recipients = {m.address_of(m.letters.sent.back().id)};
    if (m.letters.sent.back().to != "ana@example.org") {
      mail.recipients = {m.address_of(m.asked().id)};
    }
    CHECK(m.take(mail) == "unclear");
    m.world.run_until_idle();
  }
  CHECK(m.mails_back() == Replies::kMostMailsBack);
  CHECK(m.world.count_events(id, "reply_unclear") == 9);
  CHECK(m.take(m.reply("yes")) == "answered");
}

TEST_CASE("a reply that comes too late is told how the question ended") {
  MailWorld m;
  const auto id = m.ask();
  auto to_bo = m.reply("No", "bo@example.org");
  to_bo.recipients = {m.address_of(m.asked("bo@example.org").id)};
  CHECK(m.take(m.reply("Yes")) == "answered");
  CHECK(m.take(to_bo) == "late");
  CHECK(m.take(to_bo) == "late");
  m.world.run_until_idle();
  REQUIRE(m.mails_back() == 1);
  const auto& back = *std::find_if(m.letters.sent.begin(), m.letters.sent.end(),
                                   [](const auto& s) { return s.event == "reply_unclear"; });
  CHECK(back.to == "bo@example.org");
  CHECK(back.status == QuestionStatus::answered);
  CHECK(m.world.questions(id)[0].choice->selected == std::vector<std::string>{"Yes"});
  // What would have been unclear is late, too.
  CHECK(m.take(m.reply("Who knows")) == "late");
}

TEST_CASE("a reply to a question that expired or was called off is late") {
  MailWorld m;
  m.ask();
  m.world.clock.advance(std::chrono::hours{2});
  m.world.run_until_idle();
  CHECK(m.take(m.reply("Yes")) == "late");
  m.world.run_until_idle();
  CHECK(m.mails_back() == 1);
}

TEST_CASE("who may not answer this agent is told so, and the question waits on") {
  MailWorld m;
  AgentDefinition poet = *m.world.agents.find("poet");
  poet.answerers = {"cleo"};
  m.world.agents.replace({{"poet", poet}});
  const auto id = m.ask();
  CHECK(m.take(m.reply("Yes")) == "refused");
  m.world.run_until_idle();
  CHECK(m.mails_back() == 1);
  CHECK(m.world.questions(id)[0].status == QuestionStatus::pending);
}

TEST_CASE("a mail without a token of ours is unknown and gets no answer") {
  MailWorld m;
  const auto id = m.ask();
  auto mail = m.reply("Yes");
  mail.recipients = {"reply@example.org", "reply+" + std::string(42, 'a') + "@example.org",
                     "reply+x@example.org"};
  CHECK(m.take(mail) == "unknown");
  // Of a delivery that is not there, or is no mail.
  mail.recipients = {m.address_of(DeliveryId::make(m.world.now()))};
  CHECK(m.take(mail) == "unknown");
  for (const auto& delivery : m.world.deliveries(id)) {
    if (delivery.channel == "email") continue;
    mail.recipients = {m.address_of(delivery.id)};
    CHECK(m.take(mail) == "unknown");
  }
  m.world.run_until_idle();
  CHECK(m.mails_back() == 0);
}

TEST_CASE("a reply that a crash interrupts anywhere is answered or mailed back once") {
  for (const char* text : {"Yes", "Perhaps"}) {
    for (std::int64_t point = 1; point < 60; ++point) {
      MailWorld m;
      const auto id = m.ask();
      const auto mail = m.reply(text);
      bool failed = false;
      try {
        m.world.restart_failing_at(point);
        m.take(mail);
      } catch (const StoreError&) {
        failed = true;
      }
      m.world.restart();
      m.take(mail);
      m.world.run_until_idle();
      CHECK(m.world.count_events(id, "question_answered") +
                m.world.count_events(id, "reply_unclear") ==
            1);
      CHECK(m.mails_back() == (text[0] == 'P' ? 1 : 0));
      if (!failed) break;
    }
  }
}
