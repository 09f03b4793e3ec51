#include "wire/inbound_hook.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/form.h"
#include "wire/mail_text.h"
#include "wire/multipart_form.h"

namespace holdpoint {
namespace {

std::string media_type(const std::string& content_type) {
  std::string type = lower_case(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

// The text under the first of these names that has any.
std::string text_under(const Json& object, std::initializer_list<const char*> names) {
  if (!object.is_object()) return "";
  for (const char* name : names) {
    const auto it = object.find(name);
    if (it != object.end() && it->is_string() && !it->get_ref<const std::string&>().empty()) {
      return it->get<std::string>();
    }
  }
  return "";
}

Json json_or_null(const std::string& text) {
  try {
    return parse_json(text, "body");
  } catch (const BadRequest&) {
    return nullptr;
  }
}

void add_addresses(std::vector<std::string>& to, const std::string& text) {
  for (auto& address : read_addresses(text)) to.push_back(std::move(address));
}

// An address list, a list of them, or a list of objects with one each.
void add_addresses(std::vector<std::string>& to, const Json& value) {
  if (value.is_string()) add_addresses(to, value.get<std::string>());
  if (!value.is_array()) return;
  for (const auto& one : value) {
    add_addresses(to, one.is_object() ? Json(text_under(one, {"Email", "email", "address"})) : one);
  }
}

// `[{"Name":…,"Value":…}]`, `[["name","value"]]` or `{"name":"value"}`.
void add_headers(MailHeaders& headers, const Json& value) {
  if (value.is_object()) {
    for (const auto& [name, text] : value.items()) {
      if (text.is_string()) headers.add(name, text.get<std::string>());
    }
  }
  if (!value.is_array()) return;
  for (const auto& one : value) {
    if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string()) {
      headers.add(one[0].get<std::string>(), one[1].get<std::string>());
    } else if (one.is_object()) {
      const std::string name = text_under(one, {"Name", "name"});
      if (!name.empty()) headers.add(name, text_under(one, {"Value", "value"}));
    }
  }
}

// A mail's own field counts before what the provider says of it.
void add_missing(MailHeaders& headers, const char* name, const std::string& value) {
  if (!headers.has(name) && !value.empty()) headers.add(name, value);
}

InboundMail whole(const std::string& raw, const std::vector<std::string>& envelope) {
  InboundMail mail = read_mail(raw);
  mail.recipients.insert(mail.recipients.begin(), envelope.begin(), envelope.end());
  return mail;
}

InboundMail checked(const MailParts& parts) {
  InboundMail mail = read_parts(parts);
  if (!parts.headers.has("From")) {
    throw BadRequest("from", "is required, or the whole mail as \"raw\"");
  }
  if (mail.recipients.empty()) {
    throw BadRequest("to", "is required: the address that the mail came to");
  }
  if (parts.text.empty() && parts.html.empty() && !mail.automatic) {
    throw BadRequest("text", "is required: the mail's plain text");
  }
  return mail;
}

}  // namespace

InboundHook InboundHook::parse(const std::string& content_type, std::string_view body) {
  InboundHook hook;
  const std::string type = media_type(content_type);
  if (type == "message/rfc822") {
    hook.kind_ = Kind::mail;
    hook.raw_ = body;
  } else if (type == "multipart/form-data") {
    hook.kind_ = Kind::form;
    hook.form_ = parse_multipart_form(content_type, body);
  } else if (type == "application/x-www-form-urlencoded") {
    hook.kind_ = Kind::form;
    hook.form_ = Form::parse(body).fields();
  } else if (type.empty() || type == "application/json" || type.ends_with("+json")) {
    hook.json_ = parse_json(body, "body");
    if (!hook.json_.is_object()) throw Unreadable("body", "must be a JSON object");
  } else {
    throw Unreadable(
        "body",
        "must be JSON, a form or a mail, and the Content-Type say so: application/json, "
        "application/x-www-form-urlencoded, multipart/form-data or message/rfc822");
  }
  return hook;
}

std::string InboundHook::field(const std::string& name) const {
  const auto it = form_.lower_bound(name);
  return it == form_.end() || it->first != name ? "" : it->second;
}

InboundMail InboundHook::mail() const {
  switch (kind_) {
    case Kind::mail:
      if (raw_.empty()) throw BadRequest("body", "must be a mail");
      return read_mail(raw_);
    case Kind::form:
      return from_form();
    case Kind::json:
      break;
  }
  return from_json();
}

InboundMail InboundHook::from_json() const {
  std::vector<std::string> envelope;
  for (const char* name : {"OriginalRecipient", "recipient", "recipients"}) {
    if (json_.contains(name)) add_addresses(envelope, json_[name]);
  }
  const std::string raw = text_under(json_, {"raw", "RawEmail", "body-mime", "email"});
  if (!raw.empty()) return whole(raw, envelope);

  MailParts parts;
  parts.recipients = std::move(envelope);
  for (const char* name : {"to", "To", "ToFull", "cc", "Cc", "CcFull"}) {
    if (json_.contains(name)) add_addresses(parts.recipients, json_[name]);
  }
  for (const char* name : {"Headers", "headers", "message-headers"}) {
    if (json_.contains(name)) add_headers(parts.headers, json_[name]);
  }
  std::string from = text_under(json_, {"From", "from", "sender"});
  if (from.empty() && json_.contains("FromFull")) {
    from = text_under(json_["FromFull"], {"Email"});
  }
  add_missing(parts.headers, "From", from);
  add_missing(parts.headers, "Subject", text_under(json_, {"Subject", "subject"}));
  add_missing(parts.headers, "Message-ID",
              text_under(json_, {"message_id", "message-id", "MessageID"}));
  parts.text = text_under(json_, {"TextBody", "text", "body-plain"});
  parts.html = text_under(json_, {"HtmlBody", "html", "body-html"});
  return checked(parts);
}

InboundMail InboundHook::from_form() const {
  const auto first = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      if (std::string value = field(name); !value.empty()) return value;
    }
    return "";
  };
  std::vector<std::string> envelope;
  add_addresses(envelope, field("recipient"));
  const Json sent = json_or_null(field("envelope"));
  if (sent.is_object() && sent.contains("to")) add_addresses(envelope, sent["to"]);
  const std::string raw = first({"body-mime", "email", "raw"});
  if (!raw.empty()) return whole(raw, envelope);

  // SendGrid passes texts on as they came, and says in what charset.
  const Json charsets = json_or_null(field("charsets"));
  const auto decoded = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      const std::string value = field(name);
      if (!value.empty()) return to_utf8(value, text_under(charsets, {name}));
    }
    return "";
  };
  MailParts parts;
  parts.recipients = std::move(envelope);
  const std::string headers = field("message-headers");
  if (!headers.empty()) {
    add_headers(parts.headers, json_or_null(headers));
  } else {
    parts.headers = read_headers(field("headers"));
  }
  for (const char* name : {"to", "To", "cc", "Cc"}) {
    add_addresses(parts.recipients, decoded({name}));
  }
  add_missing(parts.headers, "From", decoded({"from", "From", "sender"}));
  add_missing(parts.headers, "Subject", decoded({"subject", "Subject"}));
  add_missing(parts.headers, "Message-ID", decoded({"Message-Id", "message-id"}));
  parts.text = decoded({"body-plain", "text"});
  parts.html = decoded({"body-html", "html"});
  return checked(parts);
}

}  // namespace holdpoint
