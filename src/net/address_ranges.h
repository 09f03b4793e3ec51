#pragma once

#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

namespace holdpoint {

// A set of IPv4 and IPv6 ranges like "10.0.0.0/8". An IPv4 address in its IPv6 spelling
// (::ffff:10.0.0.1) is that IPv4 address; otherwise a range of one family holds nothing of the
// other.
class AddressRanges {
 public:
  AddressRanges() = default;
  // Throws std::invalid_argument naming one that is none.
  explicit AddressRanges(const std::vector<std::string>& ranges);
  // False for what is no address.
  bool hold(const std::string& address) const;
  bool hold(const sockaddr& address) const;
  bool empty() const { return ranges_.empty(); }

 private:
  using Bytes = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d.
  struct Range {
    Bytes prefix;
    std::size_t bits;
    bool v4;
    bool holds(const Bytes& address) const;
  };
  bool hold(const Bytes& address) const;

  std::vector<Range> ranges_;
};

bool is_address(const std::string& text);

// What one customer of a network has: an IPv4 address, or the /64 around an IPv6 one.
std::string network_of(const std::string& address);

}  // namespace holdpoint
