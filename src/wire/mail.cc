#include "wire/mail.h"

#include <gmime/gmime.h>

#include <algorithm>
#include <memory>

#include "domain/target.h"
#include "domain/text.h"
#include "wire/gmime.h"

namespace holdpoint {
namespace {

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
template <class T>
using Owned = std::unique_ptr<T, Unref>;

// GMime passes broken UTF-8 on as some other charset.
std::string readable(std::string text) {
  if (is_clean_utf8(text)) return text;
  for (char& c : text) {
    if (c == '\0' || static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return text;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// With LF between lines, and nothing in them that a terminal would obey.
std::string body_text(std::string_view text) {
  std::string body;
  const std::string clean = readable(std::string(text));
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (c == '\r') {
      if (i + 1 == clean.size() || clean[i + 1] != '\n') body += '\n';
    } else if (c == '\n' || c == '\t' || !is_control(c)) {
      body += c;
    }
  }
  if (!body.ends_with('\n')) body += '\n';
  return body;
}

std::string printable_ascii(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (static_cast<unsigned char>(c) < 0x80) out += c;
  }
  return out;
}

// As it is, where GMime would take it for text, and fold or encode it. Lines may have 998 bytes.
void put_raw(GMimeMessage* message, const std::string& name, const std::string& value) {
  GMimeHeaderList* headers = g_mime_object_get_header_list(GMIME_OBJECT(message));
  g_mime_header_list_append(headers, name.c_str(), "", nullptr);
  GMimeHeader* header =
      g_mime_header_list_get_header_at(headers, g_mime_header_list_get_count(headers) - 1);
  g_mime_header_set_raw_value(
      header,
      (" " + value.substr(0, 990 - std::min<std::size_t>(name.size(), 100)) + "\n").c_str());
}

// In UTF-8 and no other charset, and encoded in any case: lines of any length, dots and `From `
// then pass every server untouched.
Owned<GMimePart> text_part(const char* subtype, std::string_view text) {
  Owned<GMimePart> part(GMIME_PART(g_mime_text_part_new_with_subtype(subtype)));
  const std::string body = body_text(text);
  const Owned<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(body.data(), body.size()));
  const Owned<GMimeDataWrapper> content(
      g_mime_data_wrapper_new_with_stream(stream.get(), GMIME_CONTENT_ENCODING_DEFAULT));
  g_mime_part_set_content(part.get(), content.get());
  g_mime_object_set_content_type_parameter(GMIME_OBJECT(part.get()), "charset", "utf-8");
  const auto best =
      g_mime_part_get_best_content_encoding(part.get(), GMIME_ENCODING_CONSTRAINT_7BIT);
  g_mime_part_set_content_encoding(part.get(), best == GMIME_CONTENT_ENCODING_BASE64
                                                   ? best
                                                   : GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
  return part;
}

void put_body(GMimeMessage* message, const Mail& mail) {
  const auto text = text_part("plain", mail.text);
  if (mail.html.empty()) {
    g_mime_message_set_mime_part(message, GMIME_OBJECT(text.get()));
  } else {
    const Owned<GMimeMultipart> both(g_mime_multipart_new_with_subtype("alternative"));
    const auto html = text_part("html", mail.html);
    g_mime_multipart_add(both.get(), GMIME_OBJECT(text.get()));
    g_mime_multipart_add(both.get(), GMIME_OBJECT(html.get()));
    g_mime_message_set_mime_part(message, GMIME_OBJECT(both.get()));
  }
}

void put_mailbox(InternetAddressList* list, const std::string& name, const std::string& address) {
  const Owned<InternetAddress> mailbox(internet_address_mailbox_new(
      name.empty() ? nullptr : name.c_str(), printable_ascii(address).c_str()));
  internet_address_set_charset(mailbox.get(), "utf-8");
  internet_address_list_add(list, mailbox.get());
}

// GMime would pass on as encoded what only looks so.
std::string subject_line(std::string_view text) {
  std::string line = one_line(text);
  for (auto at = line.find("=?"); at != std::string::npos; at = line.find("=?", at)) {
    line.insert(at + 1, " ");
  }
  return line;
}

void put_headers(GMimeMessage* message, const Mail& mail) {
  put_mailbox(g_mime_message_get_from(message), one_line(mail.from.name), mail.from.address);
  put_mailbox(g_mime_message_get_to(message), "", mail.to);
  if (!mail.reply_to.empty()) {
    put_mailbox(g_mime_message_get_reply_to(message), "", mail.reply_to);
  }
  g_mime_message_set_subject(message, subject_line(mail.subject).c_str(), "utf-8");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(mail.date).time_since_epoch();
  GDateTime* date = g_date_time_new_from_unix_utc(seconds.count());
  g_mime_message_set_date(message, date);
  g_date_time_unref(date);
  if (!mail.message_id.empty()) put_raw(message, "Message-ID", printable_ascii(mail.message_id));
  if (!mail.in_reply_to.empty()) {
    put_raw(message, "In-Reply-To", printable_ascii(mail.in_reply_to));
  }
  std::string references;
  for (const auto& id : mail.references) {
    references += (references.empty() ? "" : " ") + printable_ascii(id);
  }
  if (!references.empty()) put_raw(message, "References", references);
  for (const auto& [key, value] : mail.headers) {
    std::string token = key;
    std::erase_if(token, [](char c) { return c != '-' && !g_ascii_isalnum(c); });
    if (!token.empty()) put_raw(message, token, printable_ascii(value));
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : readable(std::string(text))) {
    const bool space = c == ' ' || is_control(c);
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : c;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

std::optional<Mailbox> read_mailbox(std::string_view text) {
  use_gmime();
  if (!is_clean_utf8(text) || std::any_of(text.begin(), text.end(), is_control)) {
    return std::nullopt;
  }
  if (is_mail_address(text)) return Mailbox{"", std::string(text)};
  const Owned<InternetAddressList> list(
      internet_address_list_parse(nullptr, std::string(text).c_str()));
  if (!list || internet_address_list_length(list.get()) != 1) return std::nullopt;
  InternetAddress* only = internet_address_list_get_address(list.get(), 0);
  if (!INTERNET_ADDRESS_IS_MAILBOX(only)) return std::nullopt;
  const char* address = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(only));
  const char* name = internet_address_get_name(only);
  if (!address || !is_mail_address(address)) return std::nullopt;
  return Mailbox{name ? name : "", address};
}

std::string write_mail(const Mail& mail) {
  use_gmime();
  const Owned<GMimeMessage> message(g_mime_message_new(FALSE));
  put_headers(message.get(), mail);
  put_body(message.get(), mail);
  const std::unique_ptr<GMimeFormatOptions, void (*)(GMimeFormatOptions*)> format(
      g_mime_format_options_new(), g_mime_format_options_free);
  g_mime_format_options_set_newline_format(format.get(), GMIME_NEWLINE_FORMAT_DOS);
  const std::unique_ptr<char, void (*)(void*)> text(
      g_mime_object_to_string(GMIME_OBJECT(message.get()), format.get()), g_free);
  return text.get();
}

}  // namespace holdpoint
