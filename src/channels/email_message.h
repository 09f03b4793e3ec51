#pragma once

#include <string>

#include "channels/channel.h"
#include "wire/mail.h"

namespace holdpoint {

// What a mail needs besides what it is about.
struct EmailFrame {
  Mailbox from;
  std::string public_url;
  std::string reply_to;         // Empty: replies are not read.
  std::string unsubscribe_url;  // Empty: none.
};

// The mail of one delivery: a question while it waits, else how it ended, or a card. Its Message-ID
// is the delivery's, so that receivers can drop repeats; all mails of a session are one thread.
// `message` has a card, or a question: the one that the delivery names, or the first.
Mail email_message(const Outgoing& message, const EmailFrame& frame, Time now);

}  // namespace holdpoint
