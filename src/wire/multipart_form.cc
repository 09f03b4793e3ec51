#include "wire/multipart_form.h"

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/gmime.h"
#include "wire/gmime_objects.h"
#include "wire/tame_mail.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostFields = 100;

// The name in `Content-Disposition: form-data; name="…"`; empty: it is no field.
std::string field_name(GMimeObject* part) {
  GMimeContentDisposition* disposition = g_mime_object_get_content_disposition(part);
  if (!disposition) return "";
  const char* kind = g_mime_content_disposition_get_disposition(disposition);
  const char* name = g_mime_content_disposition_get_parameter(disposition, "name");
  if (!kind || !name || lower_case(kind) != "form-data" || !is_clean_utf8(name)) return "";
  return name;
}

}  // namespace

std::multimap<std::string, std::string> parse_multipart_form(const std::string& content_type,
                                                             std::string_view body) {
  use_gmime();
  // A form is a MIME part whose header came in the request's.
  std::string part = "Content-Type: " + content_type.substr(0, content_type.find_first_of("\r\n"));
  part.append("\r\n\r\n").append(tame_mail(body));
  const auto stream = gmime_own(g_mime_stream_mem_new_with_buffer(part.data(), part.size()));
  const auto parser = gmime_own(g_mime_parser_new_with_stream(stream.get()));
  const auto form = gmime_own(g_mime_parser_construct_part(parser.get(), nullptr));
  if (!form || !GMIME_IS_MULTIPART(form.get())) {
    throw Unreadable("body", "is no multipart/form-data with the boundary that its header gives");
  }
  std::multimap<std::string, std::string> fields;
  GMimeMultipart* parts = GMIME_MULTIPART(form.get());
  const int count = g_mime_multipart_get_count(parts);
  for (int i = 0; i < count; ++i) {
    GMimeObject* one = g_mime_multipart_get_part(parts, i);
    const std::string name = one ? field_name(one) : "";
    if (name.empty()) continue;
    if (fields.size() == kMostFields) throw Unreadable("body", "has more than 100 fields");
    if (GMIME_IS_PART(one)) {
      fields.emplace(name, gmime_content(GMIME_PART(one)));
    } else if (GMIME_IS_MESSAGE_PART(one)) {
      // A whole mail that says that it is one.
      const std::unique_ptr<char, void (*)(void*)> text(
          g_mime_object_to_string(
              GMIME_OBJECT(g_mime_message_part_get_message(GMIME_MESSAGE_PART(one))), nullptr),
          g_free);
      fields.emplace(name, text ? text.get() : "");
    }
  }
  if (fields.empty()) throw Unreadable("body", "has no fields");
  return fields;
}

}  // namespace holdpoint
