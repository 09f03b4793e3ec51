#include "net/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace holdpoint {
namespace {

// Everything that is not the open internet, or that tunnels to what may not be.
constexpr std::array kPrivate{
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    // All but 2000::/3, of which alone public addresses are given out: ::1, 64:ff9b::/96 (NAT64),
    // 100::/64, 5f00::/16, fc00::/7, fe80::/10, ff00::/8 and whatever is yet to come.
    "::/3", "4000::/2", "8000::/1",
    // Within it: protocol assignments with Teredo, documentation, 6to4.
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"};

using Bytes = std::array<unsigned char, 16>;

constexpr std::array<unsigned char, 12> kMappedMark{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

Bytes mapped(const in_addr& v4) {
  Bytes bytes;
  std::memcpy(bytes.data(), kMappedMark.data(), 12);
  std::memcpy(bytes.data() + 12, &v4, 4);
  return bytes;
}

bool is_mapped(const Bytes& address) {
  return std::equal(kMappedMark.begin(), kMappedMark.end(), address.begin());
}

// An IPv4 address follows these four bytes, under any prefix (RFC 5214 6.1).
bool is_isatap(const Bytes& address) {
  return (address[8] & 0xfd) == 0 && address[9] == 0 && address[10] == 0x5e && address[11] == 0xfe;
}

}  // namespace

AddressGuard::Range AddressGuard::parse(const std::string& text) {
  const auto slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Range range{};
  std::size_t most = 128;
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    range.prefix = mapped(v4);
    most = 32;
  } else if (inet_pton(AF_INET6, address.c_str(), range.prefix.data()) != 1) {
    throw std::invalid_argument("\"" + text + "\" is no address range like \"127.0.0.0/8\"");
  }
  range.bits = most;
  if (slash != std::string::npos) {
    const char* begin = text.data() + slash + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, range.bits);
    if (error != std::errc{} || stop != end || range.bits > most) {
      throw std::invalid_argument("\"" + text + "\" is no address range like \"127.0.0.0/8\"");
    }
  }
  range.bits += 128 - most;
  range.v4 = is_mapped(range.prefix) && range.bits >= 96;
  return range;
}

bool AddressGuard::Range::holds(const Bytes& address) const {
  if (is_mapped(address) != v4) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + whole, address.begin())) return false;
  return bits % 8 == 0 || (prefix[whole] ^ address[whole]) >> (8 - bits % 8) == 0;
}

AddressGuard::AddressGuard(const std::vector<std::string>& ranges) {
  for (const auto& range : ranges) allowed_.push_back(parse(range));
}

bool AddressGuard::is_private(const Bytes& address) {
  static const std::vector<Range> ranges =
      AddressGuard({kPrivate.begin(), kPrivate.end()}).allowed_;
  return is_isatap(address) || std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
           return range.holds(address);
         });
}

bool AddressGuard::allows(const sockaddr& address) const {
  Bytes bytes;
  if (address.sa_family == AF_INET) {
    bytes = mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  } else if (address.sa_family == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  } else {
    return false;
  }
  const auto holds = [&](const Range& range) { return range.holds(bytes); };
  return std::any_of(allowed_.begin(), allowed_.end(), holds) || !is_private(bytes);
}

}  // namespace holdpoint
