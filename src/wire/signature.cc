#include "wire/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <optional>

#include "domain/bad_request.h"

namespace holdpoint {
namespace {

std::string to_base64(const unsigned char* bytes, std::size_t size) {
  std::string out(4 * ((size + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes, static_cast<int>(size));
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 4096) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
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
  std::string text(id);
  text.append(".").append(std::to_string(seconds.count())).append(".").append(body);
  std::string header;
  for (const auto& secret : secrets) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    HMAC(EVP_sha256(), secret.key().data(), static_cast<int>(secret.key().size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
    if (!header.empty()) header += ' ';
    header.append("v1,").append(to_base64(digest.data(), size));
  }
  return header;
}

}  // namespace holdpoint
