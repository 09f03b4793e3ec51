#include "http/question_page.h"

#include <doctest/doctest.h>

#include <set>

namespace holdpoint {
namespace {

constexpr Visitor kLink = Visitor::of_link, kInbox = Visitor::of_inbox;
const Time kDeadline = parse_iso("2026-11-16T09:05:59.999Z").value();

// Markup in the place of `name`, which must not get into a page as it is.
std::string evil(const std::string& name) { return "\"'><script>" + name + "</script>&"; }
std::string tamed(const std::string& name) {
  return "&quot;&#39;&gt;&lt;script&gt;" + name + "&lt;/script&gt;&amp;";
}

Question simple() {
  Question q;
  q.id = QuestionId("q");
  q.session_id = SessionId("s");
  q.agent_name = "poet";
  q.spec.question = "What style?";
  q.spec.options = {{"haiku", "", "", false}, {"sonnet", "", "", true}};
  q.deadline_at = kDeadline;
  return q;
}

std::string page_of(const Question& q, const std::vector<std::string>& chosen = {},
                    const std::string& own = "", bool may_cancel = false) {
  return question_page({q, {}, "/question/q", {}, may_cancel, kLink, chosen, own, ""}).body;
}

bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

void check_no_markup(const std::string& page) {
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "\"'>"));
}

TEST_CASE("nothing that an agent or a person wrote becomes markup") {
  Question q = simple();
  q.agent_name = evil("agent");
  q.spec.question = evil("question");
  q.spec.header = evil("header");
  q.spec.options = {{evil("label"), evil("description"), evil("emoji"), true},
                    {"b", "", "", false}};
  q.context = R"({"\"'><script>key</script>&":"\"'><script>value</script>&",)"
              R"("deep":{"a":["\"'><script>nested</script>&"]}})";
  const Batch batch{2, 3, 1, QuestionId(evil("next"))};
  const QuestionPage shown{q,
                           batch,
                           evil("action"),
                           {{evil("name"), evil("hidden")}},
                           true,
                           kInbox,
                           {evil("label")},
                           evil("own"),
                           evil("complaint")};
  const Response page = question_page(shown, 422);
  CHECK(page.status == 422);
  check_no_markup(page.body);
  for (const char* field : {"agent", "question", "header", "label", "description", "emoji", "key",
                            "value", "action", "name", "hidden", "own", "complaint"}) {
    CAPTURE(field);
    CHECK(has(page.body, tamed(field)));
  }
  CHECK(has(page.body, "&lt;script&gt;nested&lt;/script&gt;"));

  const Response read = reading_page(shown, evil("note"));
  check_no_markup(read.body);
  for (const char* field :
       {"agent", "question", "header", "label", "description", "emoji", "key", "value", "note"}) {
    CAPTURE(field);
    CHECK(has(read.body, tamed(field)));
  }
  const Response confirm = confirm_cancel_page(shown);
  check_no_markup(confirm.body);
  for (const char* field : {"agent", "question", "action", "name", "hidden", "label", "own"}) {
    CAPTURE(field);
    CHECK(has(confirm.body, tamed(field)));
  }
}

TEST_CASE("nothing becomes markup on the pages of a question's end either") {
  Question q = simple();
  q.agent_name = evil("agent");
  q.spec.question = evil("question");
  q.spec.header = evil("header");
  q.status = QuestionStatus::answered;
  q.choice = Choice{{evil("label")}, evil("own")};
  q.answered_by = evil("by");
  q.answered_via = evil("via");
  q.context = R"({"\"'><script>key</script>&":"\"'><script>value</script>&"})";
  q.settled_at = kDeadline;
  const Batch batch{1, 2, 1, QuestionId(evil("next"))};
  CHECK(has(thanks_page(q, batch, kInbox).body, tamed("next")));
  for (const Response& page : {settled_page(q, batch, kInbox), thanks_page(q, batch, kInbox)}) {
    check_no_markup(page.body);
    for (const char* field : {"agent", "question", "header", "label", "own"}) {
      CAPTURE(field);
      CHECK(has(page.body, tamed(field)));
    }
  }
  CHECK(has(settled_page(q, {}, kInbox).body, tamed("by")));
  CHECK(has(settled_page(q, {}, kInbox).body, tamed("key")));
  CHECK(has(settled_page(q, {}, kInbox).body, tamed("value")));
  q.status = QuestionStatus::cancelled;
  check_no_markup(settled_page(q, {}, kInbox).body);
  CHECK(has(settled_page(q, {}, kInbox).body, tamed("by")));
}

TEST_CASE("a page shows its question, its options and until when") {
  Question q = simple();
  q.spec.header = "Poem";
  q.spec.options[0].emoji = "🌸";
  q.spec.options[0].description = "Three lines.";
  q.context = R"({"topic":"love","lines":3})";
  const std::string page = page_of(q);
  for (const char* text :
       {"poet asks", "Poem", "What style?", "🌸 haiku", "Three lines.", "recommended", "topic",
        "love", "lines", "Answer by 2026-11-16 09:05 UTC"}) {
    CAPTURE(text);
    CHECK(has(page, text));
  }
  CHECK(has(page, "<form method=\"post\" action=\"/question/q\">"));
  CHECK_FALSE(has(page, "<script"));
}

TEST_CASE("nothing is filled in unless the page is told to") {
  const std::string page = page_of(simple());
  CHECK_FALSE(has(page, "checked"));
  CHECK(has(page, "rows=\"3\"></textarea>"));
}

TEST_CASE("what was chosen is filled in, by its whole label") {
  const std::string page = page_of(simple(), {"sonnet"});
  CHECK(has(page, "value=\"sonnet\" checked>"));
  CHECK_FALSE(has(page, "value=\"haiku\" checked>"));
  CHECK_FALSE(has(page_of(simple(), {"hai", "Sonnet", ""}), "checked"));
  CHECK(has(page_of(simple(), {}, "a limerick"), "rows=\"3\">a limerick</textarea>"));
}

TEST_CASE("one choice has radio buttons, several have check boxes") {
  Question q = simple();
  CHECK(has(page_of(q), "type=\"radio\""));
  CHECK_FALSE(has(page_of(q), "type=\"checkbox\""));
  q.spec.multi_select = true;
  const std::string page = page_of(q, {"haiku", "sonnet"});
  CHECK_FALSE(has(page, "type=\"radio\""));
  CHECK(has(page, "value=\"haiku\" checked>"));
  CHECK(has(page, "value=\"sonnet\" checked>"));
}

TEST_CASE("own words are offered where they are allowed, and always where there is no option") {
  Question q = simple();
  CHECK(has(page_of(q), "<textarea"));
  q.spec.allow_other = false;
  CHECK_FALSE(has(page_of(q), "<textarea"));
  q.spec.options = {};
  CHECK(has(page_of(q), "<textarea"));
}

TEST_CASE("cancel is offered only where it is allowed") {
  CHECK_FALSE(has(page_of(simple()), "cancel"));
  CHECK(has(page_of(simple(), {}, "", true), "value=\"confirm_cancel\""));
}

TEST_CASE("a context that is no object, or empty, shows nothing") {
  Question q = simple();
  for (const char* context : {"{}", "", "[1]", "null", "{broken"}) {
    q.context = context;
    CHECK_FALSE(has(page_of(q), "<dl>"));
  }
}

TEST_CASE("a settled question shows who decided, when and what") {
  Question q = simple();
  q.status = QuestionStatus::answered;
  q.choice = Choice{{"haiku"}, {}};
  q.answered_by = "ana";
  q.answered_via = "email";
  q.settled_at = kDeadline;
  const Response page = settled_page(q, {}, kLink);
  CHECK(page.status == 200);
  CHECK(has(page.body, "ana answered on 2026-11-16 09:05 UTC"));
  CHECK(has(page.body, "<blockquote>haiku</blockquote>"));
  q.status = QuestionStatus::cancelled;
  CHECK(has(settled_page(q, {}, kLink).body,
            "This request was cancelled by ana on 2026-11-16 09:05 UTC"));
  CHECK(has(thanks_page(q, {}, kLink).body, "You cancelled this request"));
  q.answered_by.reset();
  q.status = QuestionStatus::defaulted;
  CHECK(
      has(settled_page(q, {}, kLink).body,
          "Nobody had answered on 2026-11-16 09:05 UTC, so the default counts:</p>\n<blockquote>"));
  q.choice.reset();
  q.status = QuestionStatus::timed_out;
  CHECK(has(settled_page(q, {}, kLink).body,
            "Nobody had answered on 2026-11-16 09:05 UTC, when its time was up."));
}

TEST_CASE("only who came from the list is shown the way back to it") {
  Question q = simple();
  q.context = R"({"z":1,"a":2})";
  const std::string way = "<a href=\"/questions\">";
  CHECK_FALSE(has(page_of(q), way));
  CHECK(has(question_page({q, {}, "/question/q", {}, false, kInbox, {}, "", ""}).body, way));
  q.settled_at = kDeadline;
  q.status = QuestionStatus::answered;
  CHECK(has(settled_page(q, {}, kInbox).body, way));
  CHECK_FALSE(has(settled_page(q, {}, kLink).body, way));
  CHECK(has(thanks_page(q, {}, kInbox).body, way));
  CHECK_FALSE(has(thanks_page(q, {}, kLink).body, way));
}

TEST_CASE("the server's name leads to the inbox for those who have one") {
  const Question q = simple();
  const std::string home = "<a class=\"brand\" href=\"/\">";
  CHECK(has(settled_page(q, {}, kInbox).body, home));
  CHECK_FALSE(has(settled_page(q, {}, kLink).body, home));
  for (const Visitor visitor : {kLink, kInbox}) {
    CHECK(has(settled_page(q, {}, visitor).body, "<header class=\"bar\">"));
  }
}

// Those asked together, of which the given places are settled.
std::vector<Question> ask_of(std::size_t size, const std::set<std::size_t>& settled) {
  std::vector<Question> ask(size, simple());
  for (std::size_t i = 0; i < size; ++i) {
    ask[i].id = QuestionId("q" + std::to_string(i));
    ask[i].position = static_cast<std::int64_t>(i);
    if (settled.count(i)) ask[i].status = QuestionStatus::answered;
  }
  return ask;
}

TEST_CASE("a question of several knows its place, how many wait, and which comes next") {
  const auto batch = [](std::size_t at, std::size_t size, const std::set<std::size_t>& settled) {
    const auto ask = ask_of(size, settled);
    return batch_of(ask[at], ask);
  };
  CHECK(batch(0, 1, {}).number == 1);
  CHECK(batch(0, 1, {}).size == 1);
  CHECK(batch(0, 1, {0}).left == 0);
  CHECK_FALSE(batch(0, 1, {}).next);
  CHECK(batch(1, 3, {1}).number == 2);
  CHECK(batch(1, 3, {1}).left == 2);
  CHECK(batch(1, 3, {1}).next == QuestionId("q2"));
  CHECK(batch(1, 4, {1, 2}).next == QuestionId("q3"));
  // After the last the first that waits comes next.
  CHECK(batch(2, 3, {2}).next == QuestionId("q0"));
  CHECK(batch(2, 4, {0, 2, 3}).next == QuestionId("q1"));
  CHECK(batch(2, 3, {0, 1, 2}).left == 0);
  CHECK_FALSE(batch(2, 3, {0, 1, 2}).next);
}

TEST_CASE("a question of several says which it is, one alone does not") {
  const Question q = simple();
  CHECK_FALSE(has(page_of(q), " of "));
  const std::string page =
      question_page({q, {1, 3, 2, {}}, "/", {}, false, kLink, {}, "", ""}).body;
  CHECK(has(page, "question 1 of 3"));
}

TEST_CASE("thanks say that the agent goes on only when nothing else of the request waits") {
  Question q = simple();
  q.status = QuestionStatus::answered;
  q.choice = Choice{{"haiku"}, {}};
  const std::string last = thanks_page(q, {3, 3, 0, {}}, kInbox).body;
  CHECK(has(last, "the agent goes on with it"));
  CHECK_FALSE(has(last, "/question/"));
  const std::string one = thanks_page(q, {1, 3, 1, QuestionId("q2")}, kInbox).body;
  CHECK_FALSE(has(one, "the agent goes on with it"));
  CHECK(has(one, "once one more question is answered"));
  CHECK(has(one, "<a href=\"/question/q2\">"));
  CHECK(has(thanks_page(q, {1, 3, 2, QuestionId("q2")}, kInbox).body,
            "2 more questions are answered"));
  // A link is for one question: its page names no other.
  const std::string by_link = thanks_page(q, {1, 3, 2, QuestionId("q2")}, kLink).body;
  CHECK(has(by_link, "2 more questions are answered"));
  CHECK_FALSE(has(by_link, "q2"));
}

TEST_CASE("who may not answer sees all of the question and nothing to fill in") {
  Question q = simple();
  q.spec.options[0].emoji = "🌸";
  q.spec.options[0].description = "Three lines.";
  q.context = R"({"topic":"love"})";
  const std::string page =
      reading_page({q, {}, "/question/q", {{"nonce", "n"}}, true, kInbox, {}, "", ""},
                   "You may see this question, not answer it.")
          .body;
  for (const char* text : {"What style?", "🌸 haiku", "Three lines.", "recommended", "love",
                           "You may see this question", "Answer by 2026-11-16 09:05 UTC"}) {
    CAPTURE(text);
    CHECK(has(page, text));
  }
  for (const char* part : {"<form", "<input", "<button", "<textarea"}) CHECK_FALSE(has(page, part));
}

TEST_CASE("before a cancel the page asks, and keeps what was filled in") {
  const Question q = simple();
  const QuestionPage shown{q,     {}, "/question/q", {{"nonce", "n"}}, true, kLink, {"haiku"},
                           "and", ""};
  const std::string page = confirm_cancel_page(shown).body;
  for (const char* text : {"Cancel this request?", "value=\"cancel\" class=\"danger\"",
                           "value=\"keep\"", "name=\"nonce\" value=\"n\"",
                           "name=\"choice\" value=\"haiku\"", "name=\"own\" value=\"and\""}) {
    CAPTURE(text);
    CHECK(has(page, text));
  }
  CHECK_FALSE(has(page, "asked with it"));
  const QuestionPage several{q, {1, 3, 2, {}}, "/", {}, true, kLink, {}, "", ""};
  CHECK(has(confirm_cancel_page(several).body, "the 2 asked with it"));
}

TEST_CASE("a context keeps the agent's own order") {
  Question q = simple();
  q.context = R"({"zebra":1,"ape":{"y":1,"b":2}})";
  const std::string page = page_of(q);
  CHECK(page.find("zebra") < page.find("ape"));
  CHECK(page.find("&quot;y&quot;") < page.find("&quot;b&quot;"));
}

TEST_CASE("a form's answer is its choices and its own words") {
  using Texts = std::vector<std::string>;
  const auto read = [](const char* body) { return read_answer(Form::parse(body)); };
  CHECK(read("") == Texts{});
  CHECK(read("own=") == Texts{});
  CHECK(read("own=+%0D%0A+") == Texts{});
  CHECK(read("choice=haiku&own=") == Texts{"haiku"});
  CHECK(read("choice=b&choice=a&own=c") == Texts{"b", "a", "c"});
  CHECK(read("own=two%0D%0Alines%0D%0A+") == Texts{"two\nlines"});
  CHECK(read("own=++indented") == Texts{"  indented"});
  CHECK(read("answer=x") == Texts{});
}

}  // namespace
}  // namespace holdpoint
