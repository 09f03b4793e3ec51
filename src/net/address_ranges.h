#pragma once

#include <array>
#include <string>
#include <vector>

namespace holdpoint {

// A set of IPv4 and IPv6 ranges like "10.0.0.0/8". An IPv4 address counts as itself in its IPv6
// form
// (::ffff:10.0.0.1) too.
class AddressRanges {
 public:
  AddressRanges() = default;
  // Throws std::invalid_argument naming one that is none.
  explicit AddressRanges(const std::vector<std::string>& ranges);
  // False for what is no address.
  bool hold(const std::string& address) const;
  bool empty() const { return ranges_.empty(); }

 private:
  using Bytes = std::array<unsigned char, 16>;
  struct Range {
    Bytes prefix;
    int bits;
  };
  static bool read(const std::string& text, Bytes& out);
  std::vector<Range> ranges_;
};

// What one customer of a network has: an IPv4 address, or the /64 around an IPv6 one.
std::string network_of(const std::string& address);

}  // namespace holdpoint
