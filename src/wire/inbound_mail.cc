#include "wire/inbound_mail.h"

#include <algorithm>

#include "domain/text.h"
#include "wire/gmime.h"
#include "wire/gmime_objects.h"
#include "wire/mail_text.h"
#include "wire/tame_mail.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr int kMostHeaders = 1000;
constexpr int kMostDepth = 32;
constexpr int kMostParts = 200;

GmimeOwned<GMimeMessage> parse(std::string_view raw) {
  use_gmime();
  const std::string tame = tame_mail(raw);
  const auto stream = gmime_own(g_mime_stream_mem_new_with_buffer(tame.data(), tame.size()));
  const auto parser = gmime_own(g_mime_parser_new_with_stream(stream.get()));
  return gmime_own(g_mime_parser_construct_message(parser.get(), nullptr));
}

MailHeaders headers_of(GMimeObject* object) {
  MailHeaders headers;
  GMimeHeaderList* list = g_mime_object_get_header_list(object);
  const int count = std::min(g_mime_header_list_get_count(list), kMostHeaders);
  for (int i = 0; i < count; ++i) {
    GMimeHeader* header = g_mime_header_list_get_header_at(list, i);
    const char* name = g_mime_header_get_name(header);
    const char* value = g_mime_header_get_value(header);
    if (name) headers.add(name, value ? value : "");
  }
  return headers;
}

std::string parameter(GMimePart* part, const char* name) {
  GMimeContentType* type = g_mime_object_get_content_type(GMIME_OBJECT(part));
  const char* value = type ? g_mime_content_type_get_parameter(type, name) : nullptr;
  return lower_case(value ? value : "");
}

std::string text_of(GMimePart* part) {
  std::string text = to_utf8(gmime_content(part), parameter(part, "charset"));
  if (parameter(part, "format") != "flowed") return text;
  return join_flowed(text, parameter(part, "delsp") == "yes");
}

// What a mail's parts hold for us: the first of each kind that is not empty.
struct Found {
  std::string text;
  std::string html;
  std::vector<std::string> returned_to;  // Where replies to an enclosed mail go.
  int parts = 0;
};

void add_enclosed(Found& found, GMimeObject* headers) {
  for (auto& address : headers_of(headers).addresses("Reply-To")) {
    found.returned_to.push_back(std::move(address));
  }
}

void walk(GMimeObject* object, int depth, Found& found) {
  if (!object || depth > kMostDepth || ++found.parts > kMostParts) return;
  if (GMIME_IS_MULTIPART(object)) {
    GMimeMultipart* parts = GMIME_MULTIPART(object);
    const int count = g_mime_multipart_get_count(parts);
    for (int i = 0; i < count && found.parts <= kMostParts; ++i) {
      walk(g_mime_multipart_get_part(parts, i), depth + 1, found);
    }
    return;
  }
  // Whatever stands in an enclosed mail, its sender did not write it now.
  if (GMIME_IS_MESSAGE_PART(object)) {
    GMimeMessage* enclosed = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));
    if (enclosed) add_enclosed(found, GMIME_OBJECT(enclosed));
    return;
  }
  if (!GMIME_IS_PART(object)) return;
  GMimePart* part = GMIME_PART(object);
  GMimeContentType* type = g_mime_object_get_content_type(object);
  if (!type) return;
  if (g_mime_content_type_is_type(type, "text", "rfc822-headers")) {
    const auto enclosed = parse(gmime_content(part));
    if (enclosed) add_enclosed(found, GMIME_OBJECT(enclosed.get()));
    return;
  }
  const char* disposition = g_mime_object_get_disposition(object);
  if (disposition && lower_case(disposition) == "attachment") return;
  if (g_mime_content_type_is_type(type, "text", "plain")) {
    if (is_blank(found.text)) found.text = text_of(part);
  } else if (g_mime_content_type_is_type(type, "text", "html")) {
    if (is_blank(found.html)) found.html = to_utf8(gmime_content(part), parameter(part, "charset"));
  }
}

std::string bare_id(std::string text) {
  const auto open = text.find('<'), close = text.find('>');
  if (open != std::string::npos && close != std::string::npos && close > open) {
    text = text.substr(open + 1, close - open - 1);
  }
  return shorten(text, 500);
}

InboundMail read(const MailHeaders& headers, const std::string& text, const std::string& html) {
  InboundMail mail;
  mail.message_id = bare_id(headers.text("Message-ID"));
  const auto from = headers.addresses("From");
  if (headers.count("From") == 1 && from.size() == 1) mail.from = from.front();
  for (const char* name : {"Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc"}) {
    for (auto& address : headers.addresses(name)) mail.recipients.push_back(std::move(address));
  }
  mail.subject = shorten(headers.text("Subject"), 1000);
  mail.text = is_blank(text) && !html.empty() ? text_of_html(html) : text;
  mail.text = cut_utf8(std::move(mail.text), InboundMail::kMostTextBytes);
  mail.automatic = find_automatic(headers);
  return mail;
}

}  // namespace

InboundMail read_mail(std::string_view raw) {
  const auto message = parse(raw.substr(0, kMostBytes));
  if (!message) return {};
  MailHeaders headers = headers_of(GMIME_OBJECT(message.get()));
  GMimeObject* body = g_mime_message_get_mime_part(message.get());
  // GMime has what is about the content with the content.
  if (body) headers.add("Content-Type", headers_of(body).text("Content-Type"));
  Found found;
  walk(body, 0, found);
  InboundMail mail = read(headers, found.text, found.html);
  if (mail.automatic && mail.automatic->kind == AutomaticMail::Kind::bounce) {
    for (auto& address : found.returned_to) mail.recipients.push_back(std::move(address));
  }
  return mail;
}

MailHeaders read_headers(std::string_view raw) {
  const auto message = parse(std::string(raw.substr(0, kMostBytes)) + "\n\n");
  return message ? headers_of(GMIME_OBJECT(message.get())) : MailHeaders();
}

InboundMail read_parts(const MailParts& parts) {
  InboundMail mail =
      read(parts.headers, to_utf8(parts.text, "utf-8"), to_utf8(parts.html, "utf-8"));
  std::vector<std::string> all = parts.recipients;
  all.insert(all.end(), mail.recipients.begin(), mail.recipients.end());
  mail.recipients = std::move(all);
  return mail;
}

}  // namespace holdpoint
