#include <variant>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/api.h"
#include "http/html.h"
#include "http/question_page.h"

namespace holdpoint {
namespace {

// Unknown, expired and ill-formed links look alike.
Response dead_link(Api& api, const Request& request) {
  if (auto refusal = api.gate.note_wrong(request)) {
    Response page = message_page(429, "Too many wrong links",
                                 "Too many links that are not valid were followed from your "
                                 "network. Wait a minute and try again.");
    page.headers = std::move(refusal->headers);
    return page;
  }
  return message_page(404, "This link is not valid",
                      "It may have expired, or the request it belonged to is gone. Nothing was "
                      "changed.");
}

bool shows_its_end(const Question& q) {
  return q.status == QuestionStatus::answered || q.status == QuestionStatus::cancelled;
}

// Where a question's form comes from and goes to; the same for links and for people.
struct Visit {
  Question question;
  std::string via;
  Actor actor;
  std::string action;
  std::vector<std::pair<std::string, std::string>> hidden;
  Visitor visitor = Visitor::of_link;
};

bool may_cancel(Api& api, const Visit& visit) {
  const auto agent = api.agents.find(visit.question.agent_name);
  return !agent || agent->allow_cancel;
}

bool is_listed(Api& api, const Visit& visit) {
  const auto agent = api.agents.find(visit.question.agent_name);
  return !agent || may_decide(agent->answerers, visit.actor);
}

Batch batch_of(Api& api, const Question& question) {
  return batch_of(question, api.views.ask_of(question));
}

QuestionPage page_of(Api& api, const Visit& visit, const std::vector<std::string>& chosen = {},
                     const std::string& own_text = "", const std::string& complaint = "") {
  return {visit.question,
          batch_of(api, visit.question),
          visit.action,
          visit.hidden,
          may_cancel(api, visit),
          visit.visitor,
          chosen,
          own_text,
          complaint};
}

Response show(Api& api, const Visit& visit, const std::vector<std::string>& chosen,
              const std::string& own_text, const std::string& complaint) {
  return question_page(page_of(api, visit, chosen, own_text, complaint),
                       complaint.empty() ? 200 : 422);
}

// The question as it is now, after a form was taken.
Question now_of(Api& api, const Visit& visit) {
  return api.views.question(visit.question.id, Duration{0}).value_or(visit.question);
}

Response thanks(Api& api, const Visit& visit) {
  const Question ended = now_of(api, visit);
  return thanks_page(ended, batch_of(api, ended), visit.visitor);
}

Response settled(Api& api, const Question& ended, Visitor visitor, int status = 200) {
  Response page = settled_page(ended, batch_of(api, ended), visitor);
  page.status = status;
  return page;
}

Response not_listed() {
  return message_page(403, "Not yours to answer",
                      "This agent's questions are for others. Nothing was changed.");
}

Response cancel(Api& api, const Visit& visit) {
  const auto result =
      api.control.call_off(visit.question, visit.actor, visit.actor.name, api.clock.now());
  switch (result.outcome) {
    case Control::Outcome::done:
      return thanks(api, visit);
    case Control::Outcome::not_allowed:
      return not_listed();
    case Control::Outcome::refused:
    case Control::Outcome::unknown:
      break;
  }
  return settled(api, now_of(api, visit), visit.visitor, 409);
}

Response ask_to_cancel(Api& api, const Visit& visit, const Form& form) {
  if (is_settled(visit.question.status)) return settled(api, visit.question, visit.visitor, 409);
  if (!may_cancel(api, visit)) return not_listed();
  return confirm_cancel_page(page_of(api, visit, form.texts("choice"), form.text("own")));
}

Response keep(Api& api, const Visit& visit, const Form& form) {
  if (is_settled(visit.question.status)) return settled(api, visit.question, visit.visitor, 409);
  return show(api, visit, form.texts("choice"), form.text("own"), "");
}

Response take(Api& api, const Visit& visit, const Form& form) {
  const std::string button = form.text("do");
  if (button == "cancel") return cancel(api, visit);
  if (button == "confirm_cancel") return ask_to_cancel(api, visit, form);
  if (button == "keep") return keep(api, visit, form);
  const auto complain = [&](const std::string& complaint) {
    return show(api, visit, form.texts("choice"), form.text("own"), complaint);
  };
  const auto values = read_answer(form);
  if (values.empty()) return complain("Choose an option or write an answer.");
  if (values.size() > 1 && !visit.question.spec.multi_select) {
    return complain("Choose one option or write your own answer, not both.");
  }
  Answer answer;
  answer.values[visit.question.id.text()] = values;
  answer.by = visit.actor.name;
  answer.via = visit.via;
  try {
    const auto outcome =
        api.answers.answer(visit.question.session_id, answer, visit.actor, api.clock.now());
    if (std::holds_alternative<NotAnAnswerer>(outcome)) return not_listed();
    if (std::holds_alternative<AnswerAccepted>(outcome) ||
        std::holds_alternative<AlreadyAnswered>(outcome)) {
      return thanks(api, visit);
    }
    return settled(api, now_of(api, visit), visit.visitor, 409);
  } catch (const BadRequest& e) {
    return complain(std::string("Your answer was not taken: ") + e.what() + ".");
  }
}

std::string link_subject(const std::string& token) { return "link:" + token; }

Visit link_visit(Api& api, const Request& request, const Links::Opened& opened,
                 const std::string& token) {
  Visit visit{opened.question, opened.channel, opened.actor, request.path, {}};
  visit.actor.address = request.address;
  visit.hidden = {{"token", token}, {"nonce", api.gate.nonce_for(link_subject(token))}};
  return visit;
}

// Somebody follows the plain `answer_url` of a callback: the page for who is logged in.
Response without_token(Api& api, const Request& request) {
  if (request.caller.kind == Caller::Kind::nobody) {
    return redirect_to("/login?next=" + escape_url(request.path));
  }
  if (!request.caller.may("questions:read")) return not_listed();
  const auto session = api.views.session(path_id<SessionId>(request), Views::Until::settled, {});
  if (!session || session->pending.empty()) {
    return message_page(404, "Nothing to answer", "No question of this session waits.");
  }
  return redirect_to("/question/" + session->pending.front().id.text());
}

Response open_link(Api& api, const Request& request) {
  // Mail programs and trackers add parameters of their own: what is not ours is let be.
  const auto parameter = [&](const char* name) {
    const auto it = request.query.find(name);
    return it == request.query.end() || !is_clean_utf8(it->second) ? "" : it->second;
  };
  const std::string token = parameter("token");
  if (token.empty()) return without_token(api, request);
  const auto opened = api.links.open(path_id<SessionId>(request), token);
  if (!opened) return dead_link(api, request);
  if (shows_its_end(opened->question)) return settled(api, opened->question, Visitor::of_link);
  if (is_settled(opened->question.status)) return dead_link(api, request);
  // `answer` only fills the form in: a mail's button saves a click, a scanner's visit decides
  // nothing.
  const std::string wish = parameter("answer");
  const auto& options = opened->question.spec.options;
  const bool is_option = std::any_of(options.begin(), options.end(),
                                     [&](const Option& option) { return option.label == wish; });
  return show(api, link_visit(api, request, *opened, token),
              is_option ? std::vector{wish} : std::vector<std::string>{}, is_option ? "" : wish,
              "");
}

Response list_pending(Api& api, const Request& request) {
  const Query query(request, {});
  question_store::Filter filter;
  filter.status = QuestionStatus::pending;
  filter.limit = 101;
  const Pages::Place place(api.access.pages);
  const auto questions = api.views.questions(filter);
  const bool named = request.caller.kind == Caller::Kind::user;
  std::string body = "<h1>Waiting for an answer</h1>\n";
  if (questions.empty()) body += "<p>Nothing waits. New questions show up here.</p>\n";
  body += "<ul class=\"questions\">\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(questions.size(), 100); ++i) {
    const Question& q = questions[i];
    body += "<li><a href=\"/question/" + escape_html(q.id.text()) + "\">" +
            escape_html(shorten(q.spec.question, 200)) + "</a><small>" + escape_html(q.agent_name) +
            " · by " + show_time(q.deadline_at) + "</small></li>\n";
  }
  body += "</ul>\n";
  if (questions.size() > 100) body += "<p class=\"note\">These are the newest 100.</p>\n";
  if (named) {
    body += "<form method=\"post\" action=\"/logout\"><p class=\"note\">You are " +
            escape_html(request.caller.name) + ". <input type=\"hidden\" name=\"nonce\" value=\"" +
            escape_html(api.gate.nonce_for(request.nonce_subject)) +
            "\"><button class=\"quiet\">Log out</button></p></form>\n";
  } else if (request.caller.kind == Caller::Kind::open) {
    body +=
        "<p class=\"note\">Nobody has made a key or user yet, so whoever uses this machine may "
        "answer.</p>\n";
  }
  return html_page(200, "Questions", body, Visitor::of_inbox);
}

std::optional<Visit> people_visit(Api& api, const Request& request) {
  auto question = api.views.question(path_id<QuestionId>(request), Duration{0});
  if (!question) return std::nullopt;
  return Visit{std::move(*question),
               "web",
               request.actor(),
               request.path,
               {{"nonce", api.gate.nonce_for(request.nonce_subject)}},
               request.caller.may("questions:read") ? Visitor::of_inbox : Visitor::of_link};
}

Response unknown_question() {
  return message_page(404, "There is no such question", "It may have been removed long ago.");
}

Response open_question(Api& api, const Request& request) {
  const Query query(request, {});
  const auto visit = people_visit(api, request);
  if (!visit) return unknown_question();
  if (is_settled(visit->question.status)) return settled(api, visit->question, visit->visitor);
  if (!request.caller.may("questions:answer")) {
    return reading_page(page_of(api, *visit), "You may see this question, not answer it.");
  }
  if (!is_listed(api, *visit)) {
    return reading_page(page_of(api, *visit), "This agent's questions are for others to answer.");
  }
  return show(api, *visit, {}, "", "");
}

Response answer_question(Api& api, const Request& request) {
  const Query query(request, {});
  const auto visit = people_visit(api, request);
  if (!visit) return unknown_question();
  return take(api, *visit, Form::parse(request.body));
}

}  // namespace

Response answer_by_link(Api& api, const Request& request) {
  const Query query(request, {});
  const Form form = Form::parse(request.body);
  const std::string token = form.text("token");
  const auto opened = api.links.open(path_id<SessionId>(request), token);
  if (!opened) return dead_link(api, request);
  const std::string origin = request.header("Origin");
  // The token is no browser's to add by itself; a page of another site that has it stole it.
  if (!origin.empty() && origin != "null" && !api.gate.from_our_page(request)) {
    return message_page(403, "That did not work", "The form came from another site.");
  }
  const Visit visit = link_visit(api, request, *opened, token);
  if (shows_its_end(opened->question)) {
    // A reload of the page that said thanks: the same answer again is no conflict.
    return take(api, visit, form);
  }
  if (is_settled(opened->question.status)) return dead_link(api, request);
  if (!api.gate.check_nonce(form.text("nonce"), link_subject(token))) {
    return show(api, visit, form.texts("choice"), form.text("own"),
                "This page was open for too long. Please send it once more.");
  }
  return take(api, visit, form);
}

Routes page_routes(Api& api) {
  const auto call = [&api](Response (*handle)(Api&, const Request&)) {
    return [&api, handle](const Request& request) { return handle(api, request); };
  };
  return {
      {"GET", "/agent/answer/:id", own_check(), call(open_link), true},
      {"GET", "/questions", scope("questions:read"), call(list_pending), true},
      {"GET", "/question/:id", scope("questions:read"), call(open_question), true},
      {"POST", "/question/:id", scope("questions:answer"), call(answer_question), true, true},
  };
}

}  // namespace holdpoint
