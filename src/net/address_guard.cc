#include "net/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace holdpoint {
namespace {

// Everything that is not the open internet, or that tunnels to what may not be.
constexpr std::array kPrivate{
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
    "::/96",         "::1/128",         "64:ff9b::/96",   "64:ff9b:1::/48", "100::/64",
    "2001::/32",     "2001:db8::/32",   "2002::/16",      "fc00::/7",       "fe80::/10",
    "fec0::/10",     "ff00::/8"};

std::vector<unsigned char> mapped(const in_addr& v4) {
  std::vector<unsigned char> bytes(16, 0);
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(bytes.data() + 12, &v4, 4);
  return bytes;
}

}  // namespace

AddressGuard::Range AddressGuard::parse(const std::string& text) {
  const auto slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Range range;
  int most = 128;
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    range.prefix = mapped(v4);
    most = 32;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6) == 1) {
    range.prefix.assign(v6.s6_addr, v6.s6_addr + 16);
  } else {
    throw std::invalid_argument("\"" + text + "\" is no address range like \"127.0.0.0/8\"");
  }
  int bits = most;
  if (slash != std::string::npos) {
    const char* begin = text.data() + slash + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, bits);
    if (error != std::errc{} || stop != end || bits < 0 || bits > most) {
      throw std::invalid_argument("\"" + text + "\" is no address range like \"127.0.0.0/8\"");
    }
  }
  range.v4 = most == 32;
  range.bits = bits + (range.v4 ? 96 : 0);
  return range;
}

bool AddressGuard::inside(const std::vector<unsigned char>& address, const Range& range) {
  static const std::vector<unsigned char> mark = mapped(in_addr{});
  const bool v4 = std::equal(mark.begin(), mark.begin() + 12, address.begin());
  if (v4 != range.v4) return false;
  for (int bit = 0; bit < range.bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((address[byte] & mask) != (range.prefix[byte] & mask)) return false;
  }
  return true;
}

AddressGuard::AddressGuard(const std::vector<std::string>& ranges) {
  for (const auto& range : ranges) allowed_.push_back(parse(range));
}

bool AddressGuard::allows(const sockaddr& address) const {
  static const std::vector<Range> denied = [] {
    std::vector<Range> ranges;
    for (const char* text : kPrivate) ranges.push_back(parse(text));
    return ranges;
  }();
  std::vector<unsigned char> bytes;
  if (address.sa_family == AF_INET) {
    bytes = mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  } else if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    bytes.assign(v6.s6_addr, v6.s6_addr + 16);
  } else {
    return false;
  }
  const auto holds = [&](const Range& range) { return inside(bytes, range); };
  if (std::any_of(allowed_.begin(), allowed_.end(), holds)) return true;
  return std::none_of(denied.begin(), denied.end(), holds);
}

}  // namespace holdpoint
