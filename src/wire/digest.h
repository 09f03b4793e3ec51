#pragma once

#include <optional>
#include <string>
#include <string_view>

// Digests and encodings, in OpenSSL's hands.
namespace holdpoint {

// 32 bytes as they are.
std::string sha256(std::string_view text);
std::string hmac_sha256(std::string_view key, std::string_view text);

// In lower case.
std::string to_hex(std::string_view bytes);
std::string sha256_hex(std::string_view text);

// With padding, as webhooks have it.
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);
// Without padding, for URLs and cookies.
std::string to_base64url(std::string_view bytes);

// Takes as long for a near miss as for a far one.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Unpredictable bytes. Throws std::runtime_error if the system has none.
std::string random_bytes(std::size_t count);

}  // namespace holdpoint
