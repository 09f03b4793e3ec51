#pragma once

#include <string>
#include <string_view>

// What mails are made of, as HTML that mail programs show. What is called text is escaped here;
// what is called html is ready.
namespace holdpoint {

// Lines stay lines where white-space is not understood.
std::string mail_lines(std::string_view text);
// A part that keeps its text's own direction.
std::string mail_block(const char* classes, const std::string& style, const std::string& html);
std::string mail_soft(const std::string& text, const char* margin);
std::string mail_link(const std::string& url, const char* text);
// The first line is the title; what follows explains.
std::string mail_title(std::string text, bool small);

// `preview` is what lists of mails show after the subject.
std::string mail_page(std::string_view title, std::string_view preview,
                      const std::string& card_html, const std::string& foot_html);

}  // namespace holdpoint
