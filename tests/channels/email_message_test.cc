#include "channels/email_message.h"

#include <doctest/doctest.h>

#include "domain/text.h"
#include "tests/wire/sample_question.h"

namespace holdpoint {
namespace {

using test::answered;
using test::sample_question;

struct Draft {
  Delivery delivery;
  std::vector<Question> questions{sample_question()};
  std::optional<std::string> message_ref;
  EmailFrame frame{{"Holdpoint", "holdpoint@example.org"},
                   "https://hp.example.org",
                   "reply+r1@example.org",
                   "https://hp.example.org/unsubscribe/u1"};

  Draft() {
    delivery.id = DeliveryId("d-1");
    delivery.session_id = SessionId("sess-456");
    delivery.question_id = QuestionId("q-123");
    delivery.agent_name = "write-poem";
    delivery.channel = "email";
    delivery.event = "question_pending";
    delivery.destination = "ana@example.org";
    delivery.tokens = {"t0ken"};
  }
  Question& question() { return questions.front(); }
  Mail mail() const {
    return email_message({delivery, questions, true, message_ref}, frame,
                         *parse_iso("2024-01-01T12:00:00.000Z"));
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string header(const Mail& mail, const std::string& name) {
  for (const auto& [key, value] : mail.headers) {
    if (key == name) return value;
  }
  return "";
}

const std::string kLink = "https://hp.example.org/agent/answer/sess-456?token=t0ken";

TEST_CASE("the text of a question stands alone") {
  CHECK(Draft().mail().text ==
        R"(write-poem asks:

What style would you prefer?

topic: love

Choose one. A page opens with your choice ticked; nothing is decided before you send it there.

1. free verse
   https://hp.example.org/agent/answer/sess-456?token=t0ken&answer=free%20verse

2. rhyming
   lines that end alike
   https://hp.example.org/agent/answer/sess-456?token=t0ken&answer=rhyming

3. 🖋 sonnet
   https://hp.example.org/agent/answer/sess-456?token=t0ken&answer=sonnet

4. haiku (recommended)
   17 syllables
   https://hp.example.org/agent/answer/sess-456?token=t0ken&answer=haiku

Write your own answer:
   https://hp.example.org/agent/answer/sess-456?token=t0ken

Or reply to this mail with the number of your choice in the first line, or with an answer of your own.

Answer by Mon 1 Jan 2024, 13:00 UTC. After that the agent's request fails.

You get this mail because ana@example.org is asked when write-poem has a question. Its links are yours alone: whoever has them can answer in your name.
To get no more of them:
   https://hp.example.org/unsubscribe/u1
)");
}

TEST_CASE("the HTML of a question says the same, with each option as a link") {
  const std::string html = Draft().mail().html;
  CHECK(has(html, "What style would you prefer?"));
  CHECK(has(html,
            "href=\"https://hp.example.org/agent/answer/sess-456?token=t0ken&amp;answer="
            "free%20verse\""));
  CHECK(has(html, "17 syllables"));
  CHECK(has(html, "recommended"));
  CHECK(has(html, "Write your own answer"));
  CHECK(has(html, "Answer by Mon 1 Jan 2024, 13:00 UTC"));
  CHECK(has(html, "reply to this mail"));
  CHECK(has(html, "ana@example.org"));
  CHECK(has(html, "https://hp.example.org/unsubscribe/u1"));
  for (const char* foreign : {"<img", "<script", "<link", "<form", "url(", "@import", "<table"}) {
    CHECK_FALSE(has(html, foreign));
  }
}

TEST_CASE("the headers keep threads, filters and other robots in order") {
  const Mail mail = Draft().mail();
  CHECK(mail.subject == "[write-poem] What style would you prefer?");
  CHECK(mail.to == "ana@example.org");
  CHECK(mail.reply_to == "reply+r1@example.org");
  CHECK(mail.message_id == "<d-1@example.org>");
  CHECK(mail.in_reply_to == "");
  CHECK(mail.references == std::vector<std::string>{"<sess-456@example.org>"});
  CHECK(header(mail, "Auto-Submitted") == "auto-generated");
  CHECK(header(mail, "X-Auto-Response-Suppress") == "All");
  CHECK(header(mail, "X-Holdpoint-Session") == "sess-456");
  CHECK(header(mail, "List-Id") == "<write-poem.holdpoint.example.org>");
  CHECK(header(mail, "List-Unsubscribe") == "<https://hp.example.org/unsubscribe/u1>");
  CHECK(header(mail, "List-Unsubscribe-Post") == "List-Unsubscribe=One-Click");
}

TEST_CASE("where replies are not read or nobody unsubscribes, no word is said of it") {
  Draft draft;
  draft.frame.reply_to = draft.frame.unsubscribe_url = "";
  const Mail mail = draft.mail();
  CHECK(mail.reply_to == "");
  CHECK(header(mail, "List-Unsubscribe") == "");
  CHECK(header(mail, "List-Unsubscribe-Post") == "");
  for (const std::string& part : {mail.text, mail.html}) {
    CHECK_FALSE(has(part, "reply"));
    CHECK_FALSE(has(part, "no more of them"));
  }
}

TEST_CASE("a settled question is closed in the same thread, with no link that could answer") {
  Draft draft;
  draft.question() = answered(draft.question(), {{"haiku"}, std::nullopt});
  draft.delivery.event = "question_settled";
  draft.delivery.id = DeliveryId("d-2");
  draft.message_ref = "<d-1@example.org>";
  const Mail mail = draft.mail();
  CHECK(mail.subject == "Re: [write-poem] What style would you prefer?");
  CHECK(mail.message_id == "<d-2@example.org>");
  CHECK(mail.in_reply_to == "<d-1@example.org>");
  CHECK(mail.references == std::vector<std::string>{"<sess-456@example.org>", "<d-1@example.org>"});
  CHECK(mail.text.starts_with("Answered by ana@example.org: haiku\n\n"));
  CHECK(has(mail.html, "Answered by ana@example.org: haiku"));
  for (const std::string& part : {mail.text, mail.html}) {
    CHECK_FALSE(has(part, "t0ken"));
    CHECK_FALSE(has(part, "rhyming"));
    CHECK(has(part, "https://hp.example.org/question/q-123"));
  }
  CHECK(mail.reply_to == "");
}

TEST_CASE("a question that was settled before its first mail left is told as settled") {
  Draft draft;
  draft.question() = answered(draft.question(), {{"haiku"}, std::nullopt});
  const Mail mail = draft.mail();
  CHECK(mail.subject == "[write-poem] What style would you prefer?");
  CHECK(mail.text.starts_with("Answered by ana@example.org: haiku\n\n"));
  CHECK_FALSE(has(mail.html, "t0ken"));
}

TEST_CASE("a reply that was no answer is answered with the choices, and the question waits") {
  Draft draft;
  draft.delivery.event = "reply_unclear";
  draft.delivery.body = "\"maybe <both>\" could be 1 or 2";
  draft.message_ref = "<d-1@example.org>";
  const Mail mail = draft.mail();
  CHECK(mail.subject.starts_with("Re: "));
  CHECK(header(mail, "Auto-Submitted") == "auto-replied");
  CHECK(mail.reply_to == "reply+r1@example.org");
  CHECK(mail.text.starts_with(
      "Thank you for your reply. We could not take it as an answer: \"maybe <both>\" could be 1 or "
      "2.\nThe question still waits.\n\nwrite-poem asks:"));
  CHECK(has(mail.text, "4. haiku (recommended)"));
  CHECK(has(mail.html, "maybe &lt;both&gt;"));
  CHECK(has(mail.html, "answer=haiku"));
}

TEST_CASE("a question without options asks for words alone") {
  Draft draft;
  draft.question().spec.options.clear();
  const Mail mail = draft.mail();
  CHECK(has(mail.text, "Write your answer:\n   " + kLink + "\n"));
  CHECK(has(mail.text, "Or reply to this mail with your answer."));
  CHECK_FALSE(has(mail.text, "Choose"));
  CHECK(has(mail.html, "Write your answer"));
}

TEST_CASE("own words are offered only where they count") {
  Draft draft;
  draft.question().spec.allow_other = false;
  const Mail mail = draft.mail();
  for (const std::string& part : {mail.text, mail.html}) CHECK_FALSE(has(part, "own answer"));
  CHECK_FALSE(has(mail.text, "answer of your own"));
}

TEST_CASE("several choices are asked for as several") {
  Draft draft;
  draft.question().spec.multi_select = true;
  CHECK(has(draft.mail().text, "Choose one or more."));
  CHECK(has(draft.mail().text, "numbers of your choices"));
}

TEST_CASE("what happens after the deadline is said as it is set") {
  Draft draft;
  draft.question().on_timeout = OnTimeout::carry_on;
  CHECK(has(draft.mail().text, "After that the agent goes on without an answer."));
  draft.question().on_timeout = OnTimeout::use_default;
  draft.question().spec.default_choice = Choice{{"sonnet"}, std::nullopt};
  CHECK(has(draft.mail().text, "After that the default counts: sonnet."));
}

TEST_CASE("questions of a batch are numbered as far as is known") {
  Draft draft;
  draft.question().position = 1;
  CHECK(draft.mail().subject == "[write-poem] (2) What style would you prefer?");
  Question other = sample_question();
  other.id = QuestionId("q-122");
  other.spec.question = "Who reads it?";
  draft.questions.insert(draft.questions.begin(), other);
  draft.delivery.tokens = {"first", "second"};
  const Mail mail = draft.mail();
  CHECK(mail.subject == "[write-poem] (2/2) What style would you prefer?");
  CHECK(has(mail.text, "token=second&"));
  CHECK_FALSE(has(mail.text, "first&"));
}

TEST_CASE("a recipient without a token gets the page for those who log in") {
  Draft draft;
  draft.delivery.tokens.clear();
  const Mail mail = draft.mail();
  CHECK(has(mail.text, "https://hp.example.org/question/q-123\n"));
  CHECK_FALSE(has(mail.text, "token"));
  CHECK_FALSE(has(mail.text, "yours alone"));
}

TEST_CASE("markup in any text is shown as text") {
  const std::string evil = "<script>alert('1')</script>\"&<a href=x>";
  Draft draft;
  Question& q = draft.question();
  q.agent_name = q.spec.question = draft.delivery.body = evil;
  q.spec.header = evil;
  q.spec.options = {{evil, evil, evil, true}, {"b", "", "", false}};
  q.on_timeout = OnTimeout::use_default;
  q.spec.default_choice = Choice{{evil}, evil};
  q.context = R"({"<b>k</b>": "<i>v</i>", "list": ["<u>"]})";
  const auto harmless = [](const std::string& html) {
    return !has(html, "<script") && !has(html, "<a href=x") && !has(html, "<b>") &&
           !has(html, "<i>") && !has(html, "<u>") && !has(html, "alert('");
  };
  CHECK(harmless(draft.mail().html));
  CHECK(has(draft.mail().html, "answer=%3Cscript%3Ealert%28%271%27%29"));
  draft.delivery.event = "reply_unclear";
  CHECK(harmless(draft.mail().html));
  q = answered(q, {{evil}, evil});
  q.answered_by = evil;
  CHECK(harmless(draft.mail().html));
}

TEST_CASE("texts over any bound are shortened, and the page has them whole") {
  Draft draft;
  Question& q = draft.question();
  for (int i = 0; i < 3000; ++i) q.spec.question += " 世界😀\n";
  std::string context = "{";
  for (int i = 0; i < 500; ++i) {
    context += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":\"" + std::string(3000, 'v') + "\"";
  }
  q.context = context + "}";
  const Mail mail = draft.mail();
  CHECK(count_chars(mail.subject) <= 140);
  CHECK(mail.subject.find('\n') == std::string::npos);
  CHECK(mail.subject.ends_with("…"));
  CHECK(mail.text.size() < 60'000);
  CHECK(mail.html.size() < 100'000);
  CHECK(has(mail.text, "This is shortened. All of it:\n   " + kLink + "\n"));
  CHECK(has(mail.html, "This is shortened."));
  CHECK_FALSE(has(Draft().mail().text, "shortened"));
}

TEST_CASE("the first line with words is the title, whatever stands before it") {
  Draft draft;
  draft.question().spec.question = "\r\n \n\nDeploy?\nIt is late.";
  const std::string html = draft.mail().html;
  CHECK(has(html, ">Deploy?</h1>"));
  CHECK(has(html, ">It is late.</div>"));
  CHECK(draft.mail().subject == "[write-poem] Deploy? It is late.");
}

TEST_CASE("a value of many lines shows the first of them") {
  Draft draft;
  std::string value;
  for (int i = 0; i < 50; ++i) value += "line " + std::to_string(i) + "\\n";
  draft.question().context = "{\"log\": \"" + value + "\"}";
  const std::string text = draft.mail().text;
  CHECK(has(text, "   line 15\n   …\n"));
  CHECK_FALSE(has(text, "line 16"));
  CHECK(has(text, "This is shortened."));
}

TEST_CASE("context is shown in its order, with numbers as they were written") {
  Draft draft;
  draft.question().context =
      R"({"z": 12345678901234567890123, "a": {"b": [1, 2]}, "text\n": "one\ntwo", "n": null})";
  CHECK(has(draft.mail().text, R"(z: 12345678901234567890123
a: {"b":[1,2]}
text
:
   one
   two
n: null
)"));
  draft.question().context = "{}";
  CHECK_FALSE(has(draft.mail().html, "class=\"box\""));
}

}  // namespace
}  // namespace holdpoint
