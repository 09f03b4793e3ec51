#include "net/address_guard.h"

#include <netinet/in.h>

namespace holdpoint {
namespace {

// Everything that is not the open internet, or that tunnels to what may not be.
const AddressRanges& private_ranges() {
  static const AddressRanges ranges(
      {"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
       "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
       "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
       // All but 2000::/3, of which alone public addresses are given out: ::1, 64:ff9b::/96
       // (NAT64), 100::/64, 5f00::/16, fc00::/7, fe80::/10, ff00::/8 and whatever is yet to come.
       "::/3", "4000::/2", "8000::/1",
       // Within it: protocol assignments with Teredo, documentation, 6to4.
       "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"});
  return ranges;
}

// An IPv4 address follows these four bytes, under any prefix (RFC 5214 6.1).
bool is_isatap(const sockaddr& address) {
  if (address.sa_family != AF_INET6) return false;
  const auto* bytes = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr;
  return (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

}  // namespace

bool AddressGuard::allows(const sockaddr& address) const {
  if (address.sa_family != AF_INET && address.sa_family != AF_INET6) return false;
  if (allowed_.hold(address)) return true;
  return !is_isatap(address) && !private_ranges().hold(address);
}

}  // namespace holdpoint
