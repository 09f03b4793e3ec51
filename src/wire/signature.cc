#include "wire/signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "domain/bad_request.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

constexpr std::int64_t kTolerance = 300;
constexpr std::array<std::pair<WebhookScheme, std::string_view>, 5> kSchemes{
    {{WebhookScheme::none, "none"},
     {WebhookScheme::github, "github"},
     {WebhookScheme::standard, "standard"},
     {WebhookScheme::slack, "slack"},
     {WebhookScheme::bearer, "bearer"}}};

std::string standard_text(std::string_view id, std::string_view seconds, std::string_view body) {
  std::string text(id);
  return text.append(".").append(seconds).append(".").append(body);
}

std::string slack_text(std::string_view seconds, std::string_view body) {
  std::string text("v0:");
  return text.append(seconds).append(":").append(body);
}

// Any of the header's `v1,<base64>` may fit; others' versions are not ours to judge.
bool standard_fits(std::string_view header, const std::string& expected) {
  bool fits = false;
  while (!header.empty()) {
    const auto space = header.find(' ');
    const std::string_view one = header.substr(0, space);
    header.remove_prefix(space == std::string_view::npos ? header.size() : space + 1);
    fits = equal_in_constant_time(one, expected) || fits;
  }
  return fits;
}

bool fits(WebhookScheme scheme, const std::string& key, const WebhookHeaders& headers,
          std::string_view body) {
  switch (scheme) {
    case WebhookScheme::github:
      return equal_in_constant_time(headers.signature, "sha256=" + to_hex(hmac_sha256(key, body)));
    case WebhookScheme::standard:
      return standard_fits(
          headers.signature,
          "v1," + to_base64(hmac_sha256(key, standard_text(headers.id, headers.timestamp, body))));
    case WebhookScheme::slack:
      return equal_in_constant_time(
          headers.signature, "v0=" + to_hex(hmac_sha256(key, slack_text(headers.timestamp, body))));
    case WebhookScheme::bearer:
      // Hashed first, so that the length of the secret does not show in the time either.
      return equal_in_constant_time(sha256(headers.signature), sha256(key));
    case WebhookScheme::none:
      break;
  }
  return false;
}

}  // namespace

WebhookSecret WebhookSecret::parse(std::string_view text) {
  constexpr std::string_view prefix = "whsec_";
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  auto key = from_base64(text);
  if (!key || key->size() < 16) {
    throw BadRequest("callback_secret",
                     "must be whsec_ and at least 16 bytes in base64, as `openssl rand -base64 24` "
                     "prints them");
  }
  WebhookSecret secret;
  secret.key_ = std::move(*key);
  return secret;
}

std::string sign_webhook(const std::vector<WebhookSecret>& secrets, std::string_view id,
                         Time timestamp, std::string_view body) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timestamp).time_since_epoch();
  const std::string text = standard_text(id, std::to_string(seconds.count()), body);
  std::string header;
  for (const auto& secret : secrets) {
    if (!header.empty()) header += ' ';
    header.append("v1,").append(to_base64(hmac_sha256(secret.key(), text)));
  }
  return header;
}

std::string_view to_text(WebhookScheme scheme) {
  for (const auto& [value, text] : kSchemes) {
    if (value == scheme) return text;
  }
  return "none";
}

std::optional<WebhookScheme> webhook_scheme_from(std::string_view text) {
  for (const auto& [value, name] : kSchemes) {
    if (name == text) return value;
  }
  return std::nullopt;
}

std::string signed_hash(WebhookScheme scheme, const WebhookHeaders& headers,
                        std::string_view body) {
  if (scheme == WebhookScheme::standard) {
    return sha256_hex(standard_text(headers.id, headers.timestamp, body));
  }
  if (scheme == WebhookScheme::slack) return sha256_hex(slack_text(headers.timestamp, body));
  return sha256_hex(body);
}

bool is_fresh(std::string_view text, Time now) {
  // Only digits: what was signed is this text, so a second spelling of a number is no timestamp.
  if (text.empty() || text.size() > 12) return false;
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || stop != text.data() + text.size()) return false;
  const auto current = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  return seconds >= current - kTolerance && seconds <= current + kTolerance;
}

Verdict verify_webhook(WebhookScheme scheme, const std::vector<Secret>& keys,
                       const WebhookHeaders& headers, std::string_view body, Time now) {
  const bool has_id = scheme == WebhookScheme::standard;
  const bool has_time = scheme == WebhookScheme::standard || scheme == WebhookScheme::slack;
  if (headers.signature.empty() || (has_id && headers.id.empty()) ||
      (has_time && headers.timestamp.empty())) {
    return Verdict::missing;
  }
  const bool right = std::any_of(keys.begin(), keys.end(), [&](const Secret& key) {
    return fits(scheme, key.reveal(), headers, body);
  });
  if (!right) return Verdict::wrong;
  if (has_time && !is_fresh(headers.timestamp, now)) return Verdict::stale;
  return Verdict::valid;
}

}  // namespace holdpoint
