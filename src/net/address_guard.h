#pragma once

#include "net/address_ranges.h"

namespace holdpoint {

// Which addresses outgoing calls may connect to: public ones, and the private ranges that were
// allowed by name. IPv6 addresses that carry an IPv4 address to a tunnel or a translator (NAT64,
// 6to4, Teredo, ISATAP) are private whatever they carry.
class AddressGuard {
 public:
  // Nothing private.
  AddressGuard() = default;
  // `ranges` like "127.0.0.0/8" or "fd00::/8"; throws std::invalid_argument naming one that is
  // none.
  explicit AddressGuard(const std::vector<std::string>& ranges) : allowed_(ranges) {}

  // Checked on the address that is about to be connected to, after all name resolution.
  bool allows(const sockaddr& address) const;

 private:
  AddressRanges allowed_;
};

}  // namespace holdpoint
