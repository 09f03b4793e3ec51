#pragma once

#include <array>
#include <string>

namespace holdpoint {

struct SecurityHeader {
  std::string name;
  std::string value;
};

// On every response, unless its route sets the header itself.
inline const std::array<SecurityHeader, 7> kSecurityHeaders{{
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
     "frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {"X-Robots-Tag", "noindex"},
}};
// Under TLS alone: in the clear browsers ignore it, and anyone could have put it there.
inline const SecurityHeader kStrictTransport{"Strict-Transport-Security", "max-age=31536000"};

// Appends them as lines of a head; `is_set(name)` says which the response has already.
template <class IsSet>
void append_security_headers(std::string& head, bool secure, const IsSet& is_set) {
  const auto append = [&](const SecurityHeader& header) {
    if (!is_set(header.name)) {
      head.append(header.name).append(": ").append(header.value).append("\r\n");
    }
  };
  for (const auto& header : kSecurityHeaders) append(header);
  if (secure) append(kStrictTransport);
}

}  // namespace holdpoint
