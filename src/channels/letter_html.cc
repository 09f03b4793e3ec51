#include "channels/letter_html.h"

#include <algorithm>

#include "domain/text.h"
#include "wire/escape_html.h"

namespace holdpoint {
namespace {

// Inline, since some mail programs drop <style>; that only adds what cannot be inline: dark colours
// and narrow screens.
constexpr const char* kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta name=\"supported-color-schemes\" content=\"light dark\">\n<title>";
constexpr const char* kStyle =
    "</title>\n<style>\n"
    ":root { color-scheme: light dark; }\n"
    "a:hover { border-color: #1f5fbf !important; }\n"
    "@media (max-width: 480px) {\n"
    "  .back { padding: 0 !important; }\n"
    "  .card { border: 0 !important; border-radius: 0 !important; padding: 24px 20px !important; "
    "}\n"
    "  .foot { padding: 16px 20px 24px !important; }\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .back { background: #14171a !important; }\n"
    "  .card { background: #1d2125 !important; border-color: #363b41 !important; }\n"
    "  .ink { color: #e8eaed !important; }\n"
    "  .soft { color: #9aa1a9 !important; }\n"
    "  .box { border-color: #363b41 !important; background: #191c20 !important; }\n"
    "  .option { border-color: #767d86 !important; background: #1d2125 !important; color: #e8eaed "
    "!important; }\n"
    "  .best { border-color: #7db0ff !important; background: #7db0ff !important; }\n"
    "  .best, .best * { color: #10151c !important; }\n"
    "  .link { color: #7db0ff !important; }\n"
    "  .note { border-color: #7db0ff !important; background: #191c20 !important; }\n"
    "}\n</style>\n</head>\n";
constexpr const char* kFont =
    "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";
constexpr const char* kMono =
    "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;line-height:"
    "19px;";

// Lines stay lines where white-space is not understood, and the text keeps its own direction.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : escape_html(text)) {
    if (c == '\n') out += "<br>";
    if (c != '\r') out += c;
  }
  return out;
}

std::string block(const char* classes, const std::string& style, const std::string& html) {
  return "<div class=\"" + std::string(classes) + "\" dir=\"auto\" style=\"" + style + "\">" +
         html + "</div>\n";
}

std::string soft(const std::string& text, const char* margin) {
  return block("soft",
               std::string("margin:") + margin + ";color:#60666d;font-size:14px;line-height:21px;",
               shown(text));
}

std::string notice(const std::string& text, bool strong) {
  return block("note ink",
               "margin:0 0 20px;padding:12px 16px;border-left:4px solid #1f5fbf;border-radius:4px;"
               "background:#f2f6fc;color:#1c2024;" +
                   std::string(strong ? "font-weight:600;" : ""),
               shown(text));
}

std::string link(const std::string& url, const char* text) {
  return "<a class=\"link\" href=\"" + escape_html(url) + "\" style=\"color:#1f5fbf;\">" + text +
         "</a>";
}

std::string context_box(const Letter& letter) {
  std::string rows;
  for (const auto& entry : context_of(letter.question).entries) {
    rows += soft(entry.name, rows.empty() ? "0" : "10px 0 0");
    rows += block("ink",
                  std::string("color:#1c2024;white-space:pre-wrap;") + (entry.is_text ? "" : kMono),
                  escape_html(entry.value));
  }
  if (!is_whole(letter)) {
    rows += block("soft", "margin:10px 0 0;color:#60666d;font-size:14px;line-height:21px;",
                  "This is shortened. " + link(link_to_form(letter), "Read all of it"));
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
            shown(shorten(option.description, 1000)) + "</span>";
  }
  return button(link_to(letter, option), best, html);
}

std::string ways_to_answer(const Letter& letter) {
  const auto& spec = letter.question.spec;
  std::string out;
  if (!spec.options.empty()) out += soft(choose_line(letter), "0 0 12px");
  std::size_t number = 0;
  for (const auto& option : spec.options) out += option_button(letter, option, ++number);
  if (takes_own_words(spec)) {
    const bool only = spec.options.empty();
    out += button(
        link_to_form(letter), only,
        only ? "<strong>Write your answer</strong>"
             : "<span class=\"link\" style=\"color:#1f5fbf;\">Write your own answer…</span>");
  }
  if (letter.replies_are_read) out += soft(reply_line(letter), "14px 0 0");
  return out + block("ink", "margin:14px 0 0;color:#1c2024;font-size:14px;line-height:21px;",
                     shown(deadline_line(letter)));
}

// Its first line is the title; what follows explains.
std::string question_block(std::string text, bool settled) {
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  const auto end = std::min(text.find('\n'), text.size());
  const std::string title = text.substr(0, end), rest = text.substr(std::min(end + 1, text.size()));
  const bool small = settled || count_chars(title) > 160;
  return "<h1 class=\"ink\" dir=\"auto\" style=\"margin:0 0 " +
         std::string(is_blank(rest) ? "20px" : "8px") +
         ";font-size:" + (small ? "17px;line-height:24px" : "21px;line-height:28px") +
         ";font-weight:600;color:#1c2024;\">" + shown(title) + "</h1>\n" +
         (is_blank(rest) ? "" : block("ink", "margin:0 0 20px;color:#1c2024;", shown(rest)));
}

std::string card(const Letter& letter) {
  const Question& q = letter.question;
  const bool settled = letter.kind == Letter::Kind::settled;
  std::string out;
  if (letter.kind == Letter::Kind::unclear) out += notice(unclear_line(letter), false);
  if (settled) out += notice(settled_line(q), true);
  out += soft(heading(letter), "0 0 4px");
  out += question_block(question_text(letter), settled);
  if (settled) {
    return out + soft("Nothing is left to do.", "0 0 4px") + "<div>" +
           link(letter.page, "Open the question") + "</div>\n";
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
  return "<div style=\"display:none;max-height:0;overflow:hidden;\">" +
         escape_html(shorten(line, 160)) + "</div>\n";
}

}  // namespace

std::string letter_html(const Letter& letter) {
  std::string out = kHead + escape_html(shorten(letter.question.spec.question, 60)) + kStyle;
  out +=
      "<body class=\"back\" style=\"margin:0;padding:0;background:#f4f5f7;\">\n" + preview(letter) +
      "<div class=\"back ink\" style=\"padding:24px 12px;background:#f4f5f7;color:#1c2024;"
      "font-size:16px;line-height:24px;overflow-wrap:anywhere;word-break:break-word;" +
      kFont +
      "\">\n<div class=\"card\" style=\"max-width:560px;margin:0 auto;padding:28px;"
      "box-sizing:border-box;background:#ffffff;border:1px solid #d9dde1;border-radius:12px;\">\n" +
      card(letter) +
      "</div>\n<div class=\"foot soft\" style=\"max-width:560px;margin:0 auto;padding:16px 28px;"
      "box-sizing:border-box;color:#60666d;font-size:13px;line-height:19px;\">" +
      shown(why_line(letter));
  if (!letter.unsubscribe_url.empty()) {
    out += " " + link(letter.unsubscribe_url, "Unsubscribe");
  }
  return out + "</div>\n</div>\n</body>\n</html>\n";
}

}  // namespace holdpoint
