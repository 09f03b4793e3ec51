#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/card.h"
#include "domain/delivery.h"
#include "domain/question.h"

namespace holdpoint {

// What one attempt to hand over a message came to.
struct SendOutcome {
  // `failed` is tried again; `refused` never can work as it is, `gone`: nor will any other: the
  // receiver wants no more of them, ever.
  enum class Kind { delivered, failed, refused, gone };
  Kind kind = Kind::failed;
  std::optional<std::int64_t> http_status;
  std::string error;  // Empty when delivered.
  std::optional<Duration> retry_after;
  std::optional<std::string> message_ref;  // What the platform calls the message, to edit it by.
  // The receiver wants nothing more for so long: whatever shares the delivery's host, or all that
  // goes to its platform.
  std::optional<Duration> rest;
  bool rest_all = false;
};

// One attempt's message.
struct Outgoing {
  const Delivery& delivery;
  // Those the message is about, as they are now: all of an ask, or one. None for the url channel,
  // whose body is made when it is owed.
  std::vector<Question> questions;
  bool may_cancel = false;  // Whether those who may answer may call it off.
  // What the platform calls the message to bring up to date; none: a new one.
  std::optional<std::string> message_ref;
  std::size_t asked_together = 1;  // Questions of the ask, though the message may be about one.
  std::optional<Card> card = {};   // What it tells, if it is about no question.
};

// Where people find the session that a message belongs to.
inline std::string session_page(const std::string& public_url, const Delivery& delivery) {
  return public_url + "/session/" + delivery.session_id.text();
}

// A way to reach people or programs. Safe to share between threads.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends one delivery of this channel. Called outside of any transaction; never throws for what
  // the receiver does.
  // `cancelled` is asked now and then while it sends; true ends the attempt.
  virtual SendOutcome send(const Outgoing& message, Time now,
                           const std::function<bool()>& cancelled) = 0;
};

}  // namespace holdpoint
