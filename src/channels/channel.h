#pragma once

#include <functional>
#include <optional>
#include <string>

#include "domain/delivery.h"

namespace holdpoint {

// What one attempt to hand over a message came to.
struct SendOutcome {
  enum class Kind { delivered, failed, gone };  // `gone`: the receiver wants no more of them, ever.
  Kind kind = Kind::failed;
  std::optional<std::int64_t> http_status;
  std::string error;  // Empty when delivered.
  std::optional<Duration> retry_after;
};

// A way to reach people or programs. Safe to share between threads.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends one delivery of this channel. Called outside of any transaction; never throws for what
  // the receiver does.
  // `cancelled` is asked now and then while it sends; true ends the attempt.
  virtual SendOutcome send(const Delivery& delivery, Time now,
                           const std::function<bool()>& cancelled) = 0;
};

}  // namespace holdpoint
