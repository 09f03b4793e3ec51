#include "net/address_ranges.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace holdpoint {

bool AddressRanges::read(const std::string& text, Bytes& out) {
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) != 1) return false;
  out = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::memcpy(out.data() + 12, &v4, 4);
  return true;
}

AddressRanges::AddressRanges(const std::vector<std::string>& ranges) {
  for (const auto& text : ranges) {
    const auto slash = text.find('/');
    const std::string address = text.substr(0, slash);
    const bool v6 = address.find(':') != std::string::npos;
    Range range{{}, v6 ? 128 : 32};
    bool good = read(address, range.prefix);
    if (slash != std::string::npos) {
      int bits = -1;
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
      good = good && error == std::errc{} && stop == end && bits >= 0 && bits <= range.bits;
      range.bits = bits;
    }
    if (!good) {
      throw std::invalid_argument("\"" + text + "\" is no address range like \"10.0.0.0/8\"");
    }
    if (!v6) range.bits += 96;
    ranges_.push_back(range);
  }
}

bool AddressRanges::hold(const std::string& address) const {
  Bytes bytes{};
  if (!read(address, bytes)) return false;
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    for (int bit = 0; bit < range.bits; ++bit) {
      const auto at = static_cast<std::size_t>(bit / 8);
      const int mask = 0x80 >> (bit % 8);
      if ((bytes[at] & mask) != (range.prefix[at] & mask)) return false;
    }
    return true;
  });
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
