#include "http/question_page.h"

#include <algorithm>

#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string hidden_fields(const Fields& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    out += "<input type=\"hidden\" name=\"" + escape_html(name) + "\" value=\"" +
           escape_html(value) + "\">\n";
  }
  return out;
}

std::string heading(const Question& q, const Batch& batch) {
  std::string out = "<p class=\"from\">" + escape_html(q.agent_name) + " asks";
  if (q.spec.header) out += " · <strong>" + escape_html(*q.spec.header) + "</strong>";
  if (batch.size > 1) {
    out += " · question " + std::to_string(batch.number) + " of " + std::to_string(batch.size);
  }
  return out + "</p>\n<h1>" + escape_html(q.spec.question) + "</h1>\n";
}

// Texts as they are, anything else as JSON.
std::string context_table(const std::string& context) {
  // In the agent's own order.
  const auto object = try_ordered_json(context);
  if (!object.is_object() || object.empty()) return "";
  std::string out = "<dl>\n";
  for (const auto& [name, value] : object.items()) {
    out += "<dt>" + escape_html(name) + "</dt>";
    out += value.is_string() ? "<dd>" + escape_html(value.get<std::string>()) + "</dd>\n"
                             : "<dd><code>" + escape_html(value.dump(2)) + "</code></dd>\n";
  }
  return out + "</dl>\n";
}

std::string option_text(const Option& option) {
  std::string out = "<span>" + (option.emoji.empty() ? "" : escape_html(option.emoji) + " ") +
                    escape_html(option.label);
  if (option.recommended) out += " <em>recommended</em>";
  if (!option.description.empty()) out += "<small>" + escape_html(option.description) + "</small>";
  return out + "</span>";
}

std::string option_input(const QuestionPage& page, const Option& option) {
  const bool checked =
      std::find(page.chosen.begin(), page.chosen.end(), option.label) != page.chosen.end();
  std::string out = "<label class=\"option\"><input type=\"";
  out += page.question.spec.multi_select ? "checkbox" : "radio";
  out += "\" name=\"choice\" value=\"" + escape_html(option.label) + "\"";
  out += checked ? " checked> " : "> ";
  return out + option_text(option) + "</label>\n";
}

std::string own_text_input(const QuestionPage& page) {
  const auto& spec = page.question.spec;
  if (!spec.allow_other && !spec.options.empty()) return "";
  return "<label class=\"own\">" +
         std::string(spec.options.empty() ? "Your answer"
                     : spec.multi_select  ? "Or add your own words"
                                          : "Or in your own words") +
         "<textarea name=\"own\" rows=\"3\">" + escape_html(page.own_text) +
         "</textarea></label>\n";
}

std::string deadline(const Question& q) {
  return "<p class=\"note\">Answer by " + show_time(q.deadline_at) + ".</p>\n";
}

std::string way_back(Visitor visitor) {
  return visitor == Visitor::of_inbox
             ? "<p class=\"note\"><a href=\"/questions\">All questions</a></p>\n"
             : "";
}

std::string form_start(const std::string& action, const Fields& hidden) {
  return "<form method=\"post\" action=\"" + escape_html(action) + "\">\n" + hidden_fields(hidden);
}

std::string how_it_ended(const Question& q) {
  const std::string when = q.settled_at ? " on " + show_time(*q.settled_at) : "";
  const std::string by = q.answered_by ? escape_html(*q.answered_by) : "";
  switch (q.status) {
    case QuestionStatus::answered:
      return (by.empty() ? "Somebody" : by) + " answered" + when + ":";
    case QuestionStatus::defaulted:
      return "Nobody had answered" + when + ", so the default counts:";
    case QuestionStatus::timed_out:
      return "Nobody had answered" + when + ", when its time was up.";
    case QuestionStatus::cancelled:
    case QuestionStatus::pending:
      break;
  }
  return "This request was cancelled" + (by.empty() ? "" : " by " + by) + when + ".";
}

// What becomes of an answer while others that were asked with it wait.
std::string what_is_left(const Batch& batch, Visitor visitor) {
  if (batch.left == 0) return "";
  std::string out = "<p>The agent goes on once ";
  out += batch.left == 1 ? "one more question is answered.</p>\n"
                         : std::to_string(batch.left) + " more questions are answered.</p>\n";
  if (visitor == Visitor::of_inbox && batch.next) {
    out += "<p><a href=\"/question/" + escape_html(batch.next->text()) +
           "\">Go on to the next question</a></p>\n";
  }
  return out;
}

}  // namespace

Batch batch_of(const Question& question, const std::vector<Question>& ask) {
  Batch batch;
  batch.size = ask.size();
  bool wrapped = true;  // `next` comes before this one: there is none after it so far.
  for (const auto& other : ask) {
    if (other.position < question.position) ++batch.number;
    if (other.id == question.id || is_settled(other.status)) continue;
    ++batch.left;
    const bool after = other.position > question.position;
    if (!batch.next || (wrapped && after)) {
      batch.next = other.id;
      wrapped = !after;
    }
  }
  return batch;
}

std::string show_time(Time time) {
  const std::string iso = to_iso(time);
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

Response question_page(const QuestionPage& page, int status) {
  const Question& q = page.question;
  std::string body = heading(q, page.batch) + context_table(q.context);
  if (!page.complaint.empty()) {
    body += "<p class=\"complaint\" role=\"alert\">" + escape_html(page.complaint) + "</p>\n";
  }
  body += form_start(page.action, page.hidden) + "<fieldset>\n";
  if (!q.spec.options.empty()) {
    body += q.spec.multi_select ? "<legend>Choose one or more</legend>\n"
                                : "<legend>Choose one</legend>\n";
  }
  for (const auto& option : q.spec.options) body += option_input(page, option);
  body += own_text_input(page) + "</fieldset>\n<p class=\"buttons\">";
  body += "<button name=\"do\" value=\"answer\">Answer</button>";
  if (page.may_cancel) {
    body +=
        " <button name=\"do\" value=\"confirm_cancel\" class=\"quiet\">Cancel this "
        "request</button>";
  }
  body += "</p>\n</form>\n" + deadline(q) + way_back(page.visitor);
  return html_page(status, shorten(q.spec.question, 60), body, page.visitor);
}

Response reading_page(const QuestionPage& page, std::string_view note) {
  const Question& q = page.question;
  std::string body = heading(q, page.batch) + context_table(q.context);
  if (!q.spec.options.empty()) {
    body += "<ul class=\"options\">\n";
    for (const auto& option : q.spec.options) {
      body += "<li class=\"option\">" + option_text(option) + "</li>\n";
    }
    body += "</ul>\n";
  }
  body += "<p>" + escape_html(note) + "</p>\n" + deadline(q) + way_back(page.visitor);
  return html_page(200, shorten(q.spec.question, 60), body, page.visitor);
}

Response confirm_cancel_page(const QuestionPage& page) {
  const Question& q = page.question;
  auto hidden = page.hidden;
  for (const auto& choice : page.chosen) hidden.emplace_back("choice", choice);
  if (!page.own_text.empty()) hidden.emplace_back("own", page.own_text);
  std::string body = "<h1>Cancel this request?</h1>\n<p>" + escape_html(q.agent_name) +
                     " is told that nobody will answer";
  body += page.batch.left > 0
              ? ", this question or the " + std::to_string(page.batch.left) + " asked with it"
              : "";
  body +=
      ". This cannot be undone.</p>\n<blockquote>" + escape_html(q.spec.question) +
      "</blockquote>\n" + form_start(page.action, hidden) +
      "<p class=\"buttons\"><button name=\"do\" value=\"cancel\" class=\"danger\">Yes, cancel it"
      "</button> <button name=\"do\" value=\"keep\" class=\"quiet\">Keep "
      "it</button></p>\n</form>\n";
  return html_page(200, "Cancel this request?", body, page.visitor);
}

Response settled_page(const Question& q, const Batch& batch, Visitor visitor) {
  std::string body = heading(q, batch) + context_table(q.context);
  body += "<p>" + how_it_ended(q) + "</p>\n";
  if (q.choice) body += "<blockquote>" + escape_html(choice_line(*q.choice)) + "</blockquote>\n";
  return html_page(200, "Already decided", body + way_back(visitor), visitor);
}

Response thanks_page(const Question& q, const Batch& batch, Visitor visitor) {
  const bool cancelled = q.status == QuestionStatus::cancelled;
  std::string body = heading(q, batch);
  body += cancelled         ? "<p>You cancelled this request. The agent is told.</p>\n"
          : batch.left == 0 ? "<p>Your answer is kept, and the agent goes on with it:</p>\n"
                            : "<p>Your answer is kept:</p>\n";
  if (q.choice) body += "<blockquote>" + escape_html(choice_line(*q.choice)) + "</blockquote>\n";
  if (!cancelled) body += what_is_left(batch, visitor);
  return html_page(200, "Thank you", body + way_back(visitor), visitor);
}

std::vector<std::string> read_answer(const Form& form) {
  std::vector<std::string> values = form.texts("choice");
  // Browsers end lines with CR and LF, and people end texts with a line.
  std::string own = form.text("own");
  std::erase(own, '\r');
  while (!own.empty() && (own.back() == '\n' || own.back() == ' ')) own.pop_back();
  if (!is_blank(own)) values.push_back(std::move(own));
  return values;
}

}  // namespace holdpoint
