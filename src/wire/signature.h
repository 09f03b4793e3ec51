#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace holdpoint {

// The key of a Standard Webhooks secret: base64 after an optional `whsec_`. Prints as nothing: it
// has no text.
class WebhookSecret {
 public:
  // Throws BadRequest if it is not base64, or has less than 16 bytes.
  static WebhookSecret parse(std::string_view text);
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

// The `webhook-signature` header: one `v1,<base64>` for each secret, so that receivers can change
// theirs at leisure.
std::string sign_webhook(const std::vector<WebhookSecret>& secrets, std::string_view id,
                         Time timestamp, std::string_view body);

}  // namespace holdpoint
