#include "channels/mail_html.h"

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

}  // namespace

std::string mail_lines(std::string_view text) {
  std::string out;
  for (const char c : escape_html(text)) {
    if (c == '\n') out += "<br>";
    if (c != '\r') out += c;
  }
  return out;
}

std::string mail_block(const char* classes, const std::string& style, const std::string& html) {
  return "<div class=\"" + std::string(classes) + "\" dir=\"auto\" style=\"" + style + "\">" +
         html + "</div>\n";
}

std::string mail_soft(const std::string& text, const char* margin) {
  return mail_block(
      "soft", std::string("margin:") + margin + ";color:#60666d;font-size:14px;line-height:21px;",
      mail_lines(text));
}

std::string mail_link(const std::string& url, const char* text) {
  return "<a class=\"link\" href=\"" + escape_html(url) + "\" style=\"color:#1f5fbf;\">" + text +
         "</a>";
}

std::string mail_title(std::string text, bool settled) {
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  const auto end = std::min(text.find('\n'), text.size());
  const std::string title = text.substr(0, end), rest = text.substr(std::min(end + 1, text.size()));
  const bool small = settled || count_chars(title) > 160;
  return "<h1 class=\"ink\" dir=\"auto\" style=\"margin:0 0 " +
         std::string(is_blank(rest) ? "20px" : "8px") +
         ";font-size:" + (small ? "17px;line-height:24px" : "21px;line-height:28px") +
         ";font-weight:600;color:#1c2024;\">" + mail_lines(title) + "</h1>\n" +
         (is_blank(rest) ? ""
                         : mail_block("ink", "margin:0 0 20px;color:#1c2024;", mail_lines(rest)));
}

std::string mail_page(std::string_view title, std::string_view preview, const std::string& card,
                      const std::string& foot) {
  return kHead + escape_html(title) + kStyle +
         "<body class=\"back\" style=\"margin:0;padding:0;background:#f4f5f7;\">\n"
         "<div style=\"display:none;max-height:0;overflow:hidden;\">" +
         escape_html(shorten(preview, 160)) +
         "</div>\n"
         "<div class=\"back ink\" style=\"padding:24px 12px;background:#f4f5f7;color:#1c2024;"
         "font-size:16px;line-height:24px;overflow-wrap:anywhere;word-break:break-word;" +
         kFont +
         "\">\n<div class=\"card\" style=\"max-width:560px;margin:0 auto;padding:28px;"
         "box-sizing:border-box;background:#ffffff;border:1px solid #d9dde1;border-radius:12px;\">"
         "\n" +
         card +
         "</div>\n<div class=\"foot soft\" style=\"max-width:560px;margin:0 auto;padding:16px 28px;"
         "box-sizing:border-box;color:#60666d;font-size:13px;line-height:19px;\">" +
         foot + "</div>\n</div>\n</body>\n</html>\n";
}

}  // namespace holdpoint
