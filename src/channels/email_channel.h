#pragma once

#include <functional>
#include <string>

#include "channels/channel.h"
#include "net/smtp_client.h"
#include "wire/mail.h"

namespace holdpoint {

// Sends each question as a mail to one address.
class EmailChannel final : public Channel {
 public:
  struct Options {
    Mailbox from;
    std::string public_url;  // Without a slash at its end.
    // Where a reply to this delivery's mail goes; empty, or no function: replies are not read.
    std::function<std::string(const DeliveryId&)> reply_address;
    // Where its recipient unsubscribes; empty, or no function: nowhere.
    std::function<std::string(const DeliveryId&)> unsubscribe_url;
  };

  EmailChannel(MailSender& sender, Options options)
      : sender_(sender), options_(std::move(options)) {}
  SendOutcome send(const Outgoing& message, Time now,
                   const std::function<bool()>& cancelled) override;

 private:
  MailSender& sender_;
  const Options options_;
};

}  // namespace holdpoint
