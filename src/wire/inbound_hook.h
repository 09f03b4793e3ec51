#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/inbound_mail.h"
#include "wire/json.h"

namespace holdpoint {

// What a mail provider posts when a mail has come: JSON, a form, or the mail itself. Understands
// Postmark's, Mailgun's and SendGrid's, and a plain `{"raw": "<the mail>"}`.
class InboundHook {  // NOLINT(bugprone-exception-escape): moving a Json checks its invariant.
 public:
  // Throws Unreadable if the body is not what `content_type` says.
  static InboundHook parse(const std::string& content_type, std::string_view body);

  // A field of a form; empty if it is not there.
  std::string field(const std::string& name) const;

  // The mail as it was sent, if that is there, else from its parts. Throws BadRequest naming the
  // field that is missing.
  InboundMail mail() const;

 private:
  InboundMail from_json() const;
  InboundMail from_form() const;

  enum class Kind { json, form, mail };
  Kind kind_ = Kind::json;
  Json json_;
  std::multimap<std::string, std::string> form_;
  std::string raw_;
};

}  // namespace holdpoint
