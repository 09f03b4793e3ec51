#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace holdpoint {

// Which addresses outgoing calls may connect to: public ones, and the private ranges that were
// allowed by name.
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
  struct Range {
    std::vector<unsigned char> prefix;  // 16 bytes; IPv4 as ::ffff:a.b.c.d.
    int bits = 0;
    bool v4 = false;  // A range of one family holds nothing of the other.
  };
  static Range parse(const std::string& text);
  static bool inside(const std::vector<unsigned char>& address, const Range& range);

  std::vector<Range> allowed_;
};

}  // namespace holdpoint
