#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
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

// How upstream systems prove who they are.
enum class WebhookScheme { none, github, standard, slack, bearer };
std::string_view to_text(WebhookScheme scheme);
std::optional<WebhookScheme> webhook_scheme_from(std::string_view text);

// What a webhook brought besides its body; empty where a header was not there.
struct WebhookHeaders {
  std::string id;         // webhook-id or X-GitHub-Delivery
  std::string timestamp;  // webhook-timestamp or X-Slack-Request-Timestamp
  std::string signature;  // webhook-signature, X-Hub-Signature-256, X-Slack-Signature, or the token
};
enum class Verdict { valid, missing, stale, wrong };

// Unix seconds, at most 300 off either way.
bool is_fresh(std::string_view timestamp, Time now);

// Whether one of `keys` signed the body as `scheme` asks; a timestamp may be 300 s off either way.
// `keys` are the bytes that sign: for `standard` what WebhookSecret::key() gives.
Verdict verify_webhook(WebhookScheme scheme, const std::vector<Secret>& keys,
                       const WebhookHeaders& headers, std::string_view body, Time now);

// What was signed, as a hash: the same for every copy of a webhook, whatever else came with it.
std::string signed_hash(WebhookScheme scheme, const WebhookHeaders& headers, std::string_view body);

}  // namespace holdpoint
