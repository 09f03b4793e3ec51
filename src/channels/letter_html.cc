#include "channels/letter_html.h"

#include <algorithm>

#include "channels/mail_html.h"
#include "domain/text.h"
#include "wire/escape_html.h"

namespace holdpoint {
namespace {

constexpr const char* kMono =
    "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;line-height:"
    "19px;";

std::string notice(const std::string& text, bool strong) {
  return mail_block(
      "note ink",
      "margin:0 0 20px;padding:12px 16px;border-left:4px solid #1f5fbf;border-radius:4px;"
      "background:#f2f6fc;color:#1c2024;" +
          std::string(strong ? "font-weight:600;" : ""),
      mail_lines(text));
}

std::string context_box(const Letter& letter) {
  std::string rows;
  for (const auto& entry : context_of(letter.question).entries) {
    rows += mail_soft(entry.name, rows.empty() ? "0" : "10px 0 0");
    rows += mail_block(
        "ink", std::string("color:#1c2024;white-space:pre-wrap;") + (entry.is_text ? "" : kMono),
        escape_html(entry.value));
  }
  if (!is_whole(letter)) {
    rows += mail_block("soft", "margin:10px 0 0;color:#60666d;font-size:14px;line-height:21px;",
                       "This is shortened. " + mail_link(link_to_form(letter), "Read all of it"));
  }
  if (rows.empty()) return "";
  return "<div class=\"box\" style=\"margin:0 0 20px;padding:12px 16px;border:1px solid #d9dde1;"
         "border-radius:8px;background:#fafbfc;\">\n" +
         rows + "</div>\n";
}

std::string button(const std::string& url, bool filled, const std::string& html) {
  return "<a dir=\"auto\" class=\"option" + std::string(filled ? " best" : "") + "\" href=\"" +
         escape_html(url) +
         "\" style=\"display:block;margin:0 0 10px;padding:13px 16px;border:1px solid " +
         (filled ? "#1f5fbf" : "#8a9199") +
         ";border-radius:8px;background:" + (filled ? "#1f5fbf" : "#ffffff") +
         ";color:" + (filled ? "#ffffff" : "#1c2024") +
         ";text-decoration:none;line-height:20px;\">" + html + "</a>\n";
}

std::string option_button(const Letter& letter, const Option& option, std::size_t number) {
  const bool best = option.recommended;
  const std::string soft_span =
      best ? "<span style=\"color:#ffffff;" : "<span class=\"soft\" style=\"color:#60666d;";
  std::string html;
  if (letter.replies_are_read) {
    html += soft_span + "\">" + std::to_string(number) + ".</span>&nbsp; ";
  }
  html += "<strong>" + escape_html(option_line(option)) + "</strong>";
  if (best) html += soft_span + "font-size:14px;\">&nbsp; · recommended</span>";
  if (!option.description.empty()) {
    html += soft_span + "display:block;font-size:14px;\">" +
            mail_lines(shorten(option.description, 1000)) + "</span>";
  }
  return button(link_to(letter, option), best, html);
}

std::string ways_to_answer(const Letter& letter) {
  const auto& spec = letter.question.spec;
  std::string out;
  if (!spec.options.empty()) out += mail_soft(choose_line(letter), "0 0 12px");
  std::size_t number = 0;
  for (const auto& option : spec.options) out += option_button(letter, option, ++number);
  if (takes_own_words(spec)) {
    const bool only = spec.options.empty();
    out += button(
        link_to_form(letter), only,
        only ? "<strong>Write your answer</strong>"
             : "<span class=\"link\" style=\"color:#1f5fbf;\">Write your own answer…</span>");
  }
  if (letter.replies_are_read) out += mail_soft(reply_line(letter), "14px 0 0");
  return out + mail_block("ink", "margin:14px 0 0;color:#1c2024;font-size:14px;line-height:21px;",
                          mail_lines(deadline_line(letter)));
}

std::string card(const Letter& letter) {
  const Question& q = letter.question;
  const bool settled = letter.kind == Letter::Kind::settled;
  std::string out;
  if (letter.kind == Letter::Kind::unclear) out += notice(unclear_line(letter), false);
  if (settled) out += notice(settled_line(q), true);
  out += mail_soft(heading(letter), "0 0 4px");
  out += mail_title(question_text(letter), settled);
  if (settled) {
    return out + mail_soft("Nothing is left to do.", "0 0 4px") + "<div>" +
           mail_link(letter.page, "Open the question") + "</div>\n";
  }
  return out + context_box(letter) + ways_to_answer(letter);
}

// What lists of mails show after the subject, which has the question already.
std::string preview(const Letter& letter) {
  std::string line;
  if (letter.kind == Letter::Kind::unclear) line = unclear_line(letter);
  if (letter.kind == Letter::Kind::settled) line = settled_line(letter.question);
  if (letter.kind == Letter::Kind::asks) {
    for (const auto& option : letter.question.spec.options) {
      line += (line.empty() ? "" : " · ") + option_line(option);
    }
    line += (line.empty() ? "" : " — ") + deadline_line(letter);
  }
  return line;
}

}  // namespace

std::string letter_html(const Letter& letter) {
  std::string foot = mail_lines(why_line(letter));
  if (!letter.unsubscribe_url.empty())
    foot += " " + mail_link(letter.unsubscribe_url, "Unsubscribe");
  return mail_page(shorten(letter.question.spec.question, 60), preview(letter), card(letter), foot);
}

}  // namespace holdpoint
