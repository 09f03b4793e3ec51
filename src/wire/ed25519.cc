#include "wire/ed25519.h"

#include <openssl/evp.h>

#include <memory>
#include <optional>

namespace holdpoint {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

std::optional<int> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Nothing unless it is exactly so many bytes.
std::optional<std::string> from_hex(std::string_view text, std::size_t bytes) {
  if (text.size() != bytes * 2) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high << 4 | *low);
  }
  return out;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

bool is_ed25519_key(std::string_view public_key_hex) {
  return from_hex(public_key_hex, kKeyBytes).has_value();
}

bool verify_ed25519(std::string_view public_key_hex, std::string_view signature_hex,
                    std::string_view message) {
  const auto key = from_hex(public_key_hex, kKeyBytes);
  const auto signature = from_hex(signature_hex, kSignatureBytes);
  if (!key || !signature) return false;
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> pkey(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*key), key->size()),
      EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  return pkey && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(*signature), signature->size(), bytes_of(message),
                          message.size()) == 1;
}

Verdict verify_discord(std::string_view public_key_hex, std::string_view timestamp,
                       std::string_view signature_hex, std::string_view body, Time now) {
  if (timestamp.empty() || signature_hex.empty()) return Verdict::missing;
  std::string message(timestamp);
  message.append(body);
  if (!verify_ed25519(public_key_hex, signature_hex, message)) return Verdict::wrong;
  return is_fresh(timestamp, now) ? Verdict::valid : Verdict::stale;
}

}  // namespace holdpoint
