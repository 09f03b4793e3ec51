#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/mail_headers.h"

namespace holdpoint {

// A mail that came to us, as far as it matters here. All texts are clean UTF-8.
struct InboundMail {
  std::string message_id;  // Without its angle brackets; empty: it has none.
  // The bare address in lower case; empty unless there is exactly one, for else nobody could say
  // which of them is meant.
  std::string from;
  // Whom it reached first, then whom it was written to; bare, in lower case. Of a bounce also where
  // replies to the mail would have gone that it is about.
  std::vector<std::string> recipients;
  std::string subject;
  std::string text;  // As it was written, quoted text and all; at most kMostTextBytes.
  std::optional<AutomaticMail> automatic;

  static constexpr std::size_t kMostTextBytes = 262'144;
};

// Never throws, whatever the bytes are; what is not there stays empty.
InboundMail read_mail(std::string_view raw);

// The fields at the top of a mail.
MailHeaders read_headers(std::string_view raw);

// A mail that somebody else took apart.
struct MailParts {
  MailHeaders headers;
  std::vector<std::string> recipients;  // Of the envelope.
  std::string text;
  std::string html;
};
InboundMail read_parts(const MailParts& parts);

}  // namespace holdpoint
