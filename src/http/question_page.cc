#include "http/question_page.h"

#include <algorithm>

#include "domain/text.h"
#include "http/html.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

std::string hidden_fields(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    out += "<input type=\"hidden\" name=\"" + escape_html(name) + "\" value=\"" +
           escape_html(value) + "\">\n";
  }
  return out;
}

std::string heading(const Question& q) {
  std::string out = "<p class=\"from\">" + escape_html(q.agent_name) + " asks";
  if (q.spec.header) out += " · <strong>" + escape_html(*q.spec.header) + "</strong>";
  return out + "</p>\n<h1>" + escape_html(q.spec.question) + "</h1>\n";
}

// Texts as they are, anything else as JSON.
std::string context_table(const std::string& context) {
  // In the agent's own order.
  const auto object = nlohmann::ordered_json::parse(context, nullptr, false);
  if (!object.is_object() || object.empty()) return "";
  std::string out = "<dl>\n";
  for (const auto& [name, value] : object.items()) {
    out += "<dt>" + escape_html(name) + "</dt>";
    out += value.is_string() ? "<dd>" + escape_html(value.get<std::string>()) + "</dd>\n"
                             : "<dd><code>" + escape_html(value.dump(2)) + "</code></dd>\n";
  }
  return out + "</dl>\n";
}

std::string option_input(const QuestionPage& page, const Option& option) {
  const bool checked =
      std::find(page.chosen.begin(), page.chosen.end(), option.label) != page.chosen.end();
  std::string out = "<label class=\"option\"><input type=\"";
  out += page.question.spec.multi_select ? "checkbox" : "radio";
  out += "\" name=\"choice\" value=\"" + escape_html(option.label) + "\"";
  out += checked ? " checked> " : "> ";
  out += "<span>" + (option.emoji.empty() ? "" : escape_html(option.emoji) + " ") +
         escape_html(option.label);
  if (option.recommended) out += " <em>recommended</em>";
  if (!option.description.empty()) out += "<small>" + escape_html(option.description) + "</small>";
  return out + "</span></label>\n";
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

std::string way_back(bool from_list) {
  return from_list ? "<p class=\"note\"><a href=\"/\">All questions</a></p>\n" : "";
}

}  // namespace

std::string show_time(Time time) {
  const std::string iso = to_iso(time);
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

Response question_page(const QuestionPage& page, int status) {
  const Question& q = page.question;
  std::string body = heading(q) + context_table(q.context);
  if (!page.complaint.empty()) {
    body += "<p class=\"complaint\" role=\"alert\">" + escape_html(page.complaint) + "</p>\n";
  }
  body += "<form method=\"post\" action=\"" + escape_html(page.action) + "\">\n" +
          hidden_fields(page.hidden) + "<fieldset>\n";
  if (!q.spec.options.empty()) {
    body += q.spec.multi_select ? "<legend>Choose one or more</legend>\n"
                                : "<legend>Choose one</legend>\n";
  }
  for (const auto& option : q.spec.options) body += option_input(page, option);
  body += own_text_input(page) + "</fieldset>\n<p class=\"buttons\">";
  body += "<button name=\"do\" value=\"answer\">Answer</button>";
  if (page.may_cancel) {
    body += " <button name=\"do\" value=\"cancel\" class=\"quiet\">Cancel this request</button>";
  }
  body += "</p>\n</form>\n<p class=\"note\">Answer by " + show_time(q.deadline_at) + ".</p>\n" +
          way_back(page.from_list);
  return html_page(status, shorten(q.spec.question, 60), body);
}

Response settled_page(const Question& q, bool from_list) {
  std::string body = heading(q) + context_table(q.context);
  const std::string when = q.settled_at ? show_time(*q.settled_at) : "";
  const std::string by = q.answered_by ? escape_html(*q.answered_by) : "";
  if (q.status == QuestionStatus::answered) {
    body += "<p>" + (by.empty() ? "Somebody" : by) + " answered on " + when + ":</p>\n";
    if (q.choice) body += "<blockquote>" + escape_html(choice_line(*q.choice)) + "</blockquote>\n";
  } else {
    body += "<p>This request was " + std::string(to_text(q.status)) +
            (by.empty() ? "" : " by " + by) + " on " + when + ".</p>\n";
  }
  return html_page(200, "Already decided", body + way_back(from_list));
}

Response thanks_page(const Question& q, bool from_list) {
  std::string body = heading(q);
  body += q.status == QuestionStatus::cancelled
              ? "<p>You cancelled this request. The agent is told.</p>\n"
              : "<p>Your answer is kept, and the agent goes on with it:</p>\n";
  if (q.choice) body += "<blockquote>" + escape_html(choice_line(*q.choice)) + "</blockquote>\n";
  return html_page(200, "Thank you", body + way_back(from_list));
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
