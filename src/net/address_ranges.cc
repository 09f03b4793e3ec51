#include "net/address_ranges.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace holdpoint {
namespace {

using Bytes = std::array<unsigned char, 16>;

constexpr std::array<unsigned char, 12> kMappedMark{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

void map(const in_addr& v4, Bytes& out) {
  std::memcpy(out.data(), kMappedMark.data(), 12);
  std::memcpy(out.data() + 12, &v4, 4);
}

bool is_mapped(const Bytes& address) {
  return std::equal(kMappedMark.begin(), kMappedMark.end(), address.begin());
}

bool read(const std::string& text, Bytes& out) {
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) != 1) return false;
  map(v4, out);
  return true;
}

}  // namespace

AddressRanges::AddressRanges(const std::vector<std::string>& ranges) {
  for (const auto& text : ranges) {
    const auto slash = text.find('/');
    const std::string address = text.substr(0, slash);
    const std::size_t most = address.find(':') == std::string::npos ? 32 : 128;
    Range range{{}, most, false};
    bool good = read(address, range.prefix);
    if (slash != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, range.bits);
      good = good && error == std::errc{} && stop == end && range.bits <= most;
    }
    if (!good) {
      throw std::invalid_argument("\"" + text + "\" is no address range like \"10.0.0.0/8\"");
    }
    range.bits += 128 - most;
    range.v4 = is_mapped(range.prefix) && range.bits >= 96;
    ranges_.push_back(range);
  }
}

bool AddressRanges::Range::holds(const Bytes& address) const {
  if (is_mapped(address) != v4) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + whole, address.begin())) return false;
  return bits % 8 == 0 || (prefix[whole] ^ address[whole]) >> (8 - bits % 8) == 0;
}

bool AddressRanges::hold(const Bytes& address) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return range.holds(address); });
}

bool AddressRanges::hold(const std::string& address) const {
  Bytes bytes;
  return read(address, bytes) && hold(bytes);
}

bool AddressRanges::hold(const sockaddr& address) const {
  Bytes bytes;
  if (address.sa_family == AF_INET) {
    map(reinterpret_cast<const sockaddr_in&>(address).sin_addr, bytes);
  } else if (address.sa_family == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  } else {
    return false;
  }
  return hold(bytes);
}

bool is_address(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET6, text.c_str(), &any) == 1 ||
         inet_pton(AF_INET, text.c_str(), &any) == 1;
}

std::string network_of(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return address;
  std::memset(v6.s6_addr + 8, 0, 8);
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, &v6, text.data(), text.size());
  return text.data();
}

}  // namespace holdpoint
