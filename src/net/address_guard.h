#pragma once

#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

namespace holdpoint {

// Which addresses outgoing calls may connect to: public ones, and the private ranges that were
// allowed by name. An IPv4 address in its IPv6 spelling (::ffff:10.0.0.1) is that IPv4 address;
// other IPv6 addresses that carry one (NAT64, 6to4, Teredo, ISATAP) are private whatever they
// carry.
class AddressGuard {
 public:
  // Nothing private.
  AddressGuard() = default;
  // `ranges` like "127.0.0.0/8" or "fd00::/8"; throws std::invalid_argument naming one that is
  // none.
  explicit AddressGuard(const std::vector<std::string>& ranges);

  // Checked on the address that is about to be connected to, after all name resolution.
  bool allows(const sockaddr& address) const;

 private:
  using Bytes = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d.
  struct Range {
    Bytes prefix;
    std::size_t bits;
    bool v4;  // A range of one family holds nothing of the other.
    bool holds(const Bytes& address) const;
  };
  static Range parse(const std::string& text);
  static bool is_private(const Bytes& address);

  std::vector<Range> allowed_;
};

}  // namespace holdpoint
