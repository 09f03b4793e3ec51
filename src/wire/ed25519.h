#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "wire/signature.h"

namespace holdpoint {

// 32 bytes in hex.
bool is_ed25519_key(std::string_view public_key_hex);

// Whether the key's owner signed `message`. False for what is no key or no signature.
bool verify_ed25519(std::string_view public_key_hex, std::string_view signature_hex,
                    std::string_view message);

// Whether Discord signed the body: over timestamp and body, by the application's key. The timestamp
// may be 300 s off either way.
Verdict verify_discord(std::string_view public_key_hex, std::string_view timestamp,
                       std::string_view signature_hex, std::string_view body, Time now);

}  // namespace holdpoint
