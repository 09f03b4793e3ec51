#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace holdpoint {

// Names a delivery where only its receiver and we can: in the address that replies to a mail go to,
// and in its link to unsubscribe. Nothing is stored, and every attempt of a delivery has the same.
class ReplyTokens {
 public:
  explicit ReplyTokens(std::string secret) : secret_(std::move(secret)) {}

  // Lower-case letters and digits; fits an address's local part with room for what is before it.
  std::string make(const DeliveryId& id) const;
  // Nothing if it is none of ours. In any case of letters: mail servers change it.
  std::optional<DeliveryId> read(std::string_view token) const;

 private:
  std::string sign(std::string_view bytes) const;
  const std::string secret_;
};

// `reply@example.org` as `reply+<token>@example.org`.
std::string reply_address(const std::string& reply_to, const std::string& token);

// What stands after the plus in an address made from `reply_to`; nothing if it is none.
std::optional<std::string> find_reply_token(std::string_view address, std::string_view reply_to);

}  // namespace holdpoint
