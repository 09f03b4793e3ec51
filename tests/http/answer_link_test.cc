#include <doctest/doctest.h>

#include "tests/http/site.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A closed site with one question that waits, and a link to it for Ana.
struct Linked : Site {
  explicit Linked(Gate::Options options = {}) : Site(std::move(options)) {
    key({"admin"});
    session = world.trigger();
    world.run_until_idle();
    token = link("ana@example.org");
  }
  std::string link(const std::string& recipient) {
    return world.process()
        .links.make(world.questions(session).at(0).id, recipient, kAdmin, world.now())
        .value();
  }
  std::string path() const { return "/agent/answer/" + session.text(); }
  Response open(const std::string& with = "") {
    return send(get(path() + "?token=" + token + with));
  }
  Call form(std::vector<std::pair<std::string, std::string>> fields) {
    fields.emplace_back("token", token);
    fields.emplace_back("nonce", hidden_field(open(), "nonce"));
    return post(path()).form(fields);
  }
  Question question() { return world.questions(session).at(0); }
  bool pending() { return question().status == QuestionStatus::pending; }

  SessionId session;
  std::string token;
};

bool has(const Response& page, const std::string& text) {
  return page.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a link opens its question's page without any other credential, and decides nothing") {
  Linked site;
  const auto events = site.count("agent_events"), rows = site.count("audit_pending");
  for (const char* method : {"GET", "HEAD"}) {
    Call call = get(site.path() + "?token=" + site.token + "&answer=haiku");
    call.method = method;
    const Response page = site.send(call);
    CHECK(page.status == 200);
    CHECK(has(page, "What style?"));
  }
  CHECK(site.pending());
  CHECK(site.count("agent_events") == events);
  CHECK(site.count("audit_pending") == rows);
}

TEST_CASE("an answer in a link only fills the form in: an option, or own words") {
  Linked site;
  CHECK(has(site.open("&answer=haiku"), "value=\"haiku\" checked>"));
  CHECK_FALSE(has(site.open("&answer=haiku"), "value=\"sonnet\" checked>"));
  CHECK(has(site.open("&answer=a+limerick"), ">a limerick</textarea>"));
  CHECK(has(site.open("&answer=" + escape_url("</textarea><script>")),
            ">&lt;/textarea&gt;&lt;script&gt;</textarea>"));
  CHECK_FALSE(has(site.open(), "checked"));
  CHECK(site.pending());
}

TEST_CASE("the form of a link answers in its recipient's name") {
  Linked site;
  const Response page = site.send(site.form({{"choice", "haiku"}, {"do", "answer"}}));
  CHECK(page.status == 200);
  CHECK(has(page, "Your answer is kept"));
  const Question q = site.question();
  CHECK(q.status == QuestionStatus::answered);
  CHECK(q.answered_by == "ana@example.org");
  CHECK(q.answered_via == "link");
}

TEST_CASE("sent again it says thanks again; another answer is told which one counted") {
  Linked site;
  const Call haiku = site.form({{"choice", "haiku"}}), sonnet = site.form({{"choice", "sonnet"}});
  CHECK(site.send(haiku).status == 200);
  CHECK(site.send(haiku).status == 200);
  const Response late = site.send(sonnet);
  CHECK(late.status == 409);
  CHECK(has(late, "ana@example.org answered on"));
  CHECK(has(late, "<blockquote>haiku</blockquote>"));
  CHECK(site.count("audit_pending WHERE action = 'question_answered'") == 1);
}

TEST_CASE("an answered link shows who decided, when and what") {
  Linked site;
  site.world.answer(site.session, "sonnet", "ben");
  const Response page = site.open();
  CHECK(page.status == 200);
  CHECK(has(page, "ben answered on 2026-11-16 09:00 UTC"));
  CHECK(has(page, "<blockquote>sonnet</blockquote>"));
  CHECK_FALSE(has(page, "<form"));
}

TEST_CASE("unknown, mistyped, foreign and expired links look alike") {
  Linked site;
  const auto other = site.world.trigger();
  const std::string unknown = site.send(get(site.path() + "?token=" + new_token())).body;
  const auto looks_alike = [&](const Response& page) {
    return page.status == 404 && page.body == unknown;
  };
  CHECK(looks_alike(site.send(get(site.path() + "?token=x"))));
  CHECK(looks_alike(site.send(get("/agent/answer/" + other.text() + "?token=" + site.token))));
  CHECK(looks_alike(site.send(get("/agent/answer/none?token=" + site.token))));
  CHECK(looks_alike(site.send(post(site.path()).form({{"token", "x"}, {"choice", "haiku"}}))));
  const Call form = site.form({{"choice", "haiku"}});
  site.world.clock.advance(3601s);
  site.world.run_until_idle();
  CHECK(looks_alike(site.open()));
  CHECK(looks_alike(site.send(form)));
  CHECK(site.question().status == QuestionStatus::timed_out);
}

TEST_CASE("a form without the nonce of its own page is shown again, and changes nothing") {
  Linked site;
  const std::string other_nonce =
      hidden_field(site.send(get(site.path() + "?token=" + site.link("ben"))), "nonce");
  for (const std::string& nonce :
       {std::string(), std::string("x"), other_nonce, site.gate.nonce_for("open")}) {
    const Response page = site.send(
        post(site.path())
            .form({{"token", site.token}, {"nonce", nonce}, {"choice", "haiku"}, {"own", ""}}));
    CHECK(page.status == 422);
    CHECK(has(page, "value=\"haiku\" checked>"));
    CHECK(site.pending());
  }
  const Call old = site.form({{"choice", "haiku"}});
  site.world.clock.advance(59min);
  CHECK(site.send(old).status == 200);
}

TEST_CASE("a form from a page of another site is refused") {
  Linked site;
  const Call form = site.form({{"choice", "haiku"}});
  for (const char* origin : {"http://evil.example", "https://localhost:8080"}) {
    CHECK(site.send(Call(form).with("Origin", origin)).status == 403);
  }
  CHECK(site.pending());
  CHECK(site.send(Call(form).with("Origin", "http://localhost:8080")).status == 200);
}

TEST_CASE("a form that answers nothing, or too much, is shown again with what was typed") {
  Linked site;
  for (const auto& fields : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {},
           {{"own", " \r\n"}},
           {{"choice", "haiku"}, {"own", "a limerick"}},
           {{"choice", "haiku"}, {"choice", "sonnet"}}}) {
    const Response page = site.send(site.form(fields));
    CHECK(page.status == 422);
    CHECK(has(page, "role=\"alert\""));
    CHECK(site.pending());
  }
  CHECK(has(site.send(site.form({{"choice", "haiku"}, {"own", "a limerick"}})),
            ">a limerick</textarea>"));
  CHECK(site.send(site.form({{"own", "a limerick"}})).status == 200);
}

TEST_CASE("a link may call its question off where the agent allows it") {
  Linked site;
  CHECK(has(site.open(), "value=\"confirm_cancel\""));
  site.change_poet([](AgentDefinition& poet) { poet.allow_cancel = false; });
  CHECK_FALSE(has(site.open(), "cancel"));
  CHECK(site.send(site.form({{"do", "cancel"}})).status == 403);
  CHECK(site.send(site.form({{"do", "confirm_cancel"}})).status == 403);
  CHECK(site.pending());
  site.change_poet([](AgentDefinition& poet) { poet.allow_cancel = true; });
  CHECK(site.send(site.form({{"do", "cancel"}})).status == 200);
  CHECK(site.question().status == QuestionStatus::cancelled);
  for (const char* button : {"confirm_cancel", "keep"}) {
    CHECK(site.send(site.form({{"do", button}, {"choice", "haiku"}})).status == 409);
  }
}

TEST_CASE("asking to cancel changes nothing, and who keeps the request finds it as it was") {
  Linked site;
  const auto rows = site.count("audit_pending");
  const Response asked = site.send(site.form({{"do", "confirm_cancel"}, {"own", "a limerick"}}));
  CHECK(asked.status == 200);
  CHECK(has(asked, "Cancel this request?"));
  CHECK(hidden_field(asked, "token") == site.token);
  const Response kept = site.send(site.form({{"do", "keep"}, {"own", "a limerick"}}));
  CHECK(kept.status == 200);
  CHECK(has(kept, ">a limerick</textarea>"));
  CHECK(site.pending());
  CHECK(site.count("audit_pending") == rows);
  Call stale = post(site.path()).form({{"do", "confirm_cancel"}, {"token", site.token}});
  CHECK(site.send(stale).status == 422);
}

TEST_CASE("too many wrong links of one address are refused; a right one still opens") {
  Gate::Options options;
  options.wrong_credentials = 2;
  Linked site(options);
  for (const int status : {404, 404, 429, 429}) {
    CHECK(site.send(get(site.path() + "?token=" + new_token())).status == status);
  }
  CHECK(site.send(post(site.path()).form({{"token", new_token()}})).status == 429);
  CHECK(site.open().status == 200);
}

TEST_CASE("without a token the way leads to the login, and then to the question") {
  Linked site;
  const Response stranger = site.send(get(site.path()));
  CHECK(stranger.status == 303);
  CHECK(header_of(stranger, "Location") == "/login?next=" + escape_url(site.path()));
  const Response reader =
      site.send(get(site.path()).with("Authorization", site.key({"questions:read"})));
  CHECK(header_of(reader, "Location") == "/question/" + site.question().id.text());
  CHECK(site.send(get(site.path()).with("Authorization", site.key({"questions:ask"}))).status ==
        403);
}

TEST_CASE("what mail programs and trackers add to a link is let be") {
  Linked site;
  CHECK(site.open("&utm_source=mail&x=%ff").status == 200);
  CHECK_FALSE(has(site.open("&answer=%ff"), "\xff"));
}

TEST_CASE("an answer that came as a form without a token is told to be JSON") {
  Linked site;
  const Response response = site.send(post(site.path()).form({{"answer", "haiku"}}));
  CHECK(response.status == 415);
  CHECK(site.pending());
}

TEST_CASE("a link's form is no way around for JSON without a key") {
  Linked site;
  const Response response = site.send(post(site.path()).json(R"({"answer":"haiku"})"));
  CHECK(response.status == 401);
  CHECK(site.pending());
}
