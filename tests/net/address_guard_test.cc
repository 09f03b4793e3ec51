#include "net/address_guard.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

#include <stdexcept>

namespace holdpoint {
namespace {

bool allows(const AddressGuard& guard, const std::string& text) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    return guard.allows(reinterpret_cast<const sockaddr&>(v4));
  }
  REQUIRE(inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1);
  v6.sin6_family = AF_INET6;
  return guard.allows(reinterpret_cast<const sockaddr&>(v6));
}

void check_all(const AddressGuard& guard, bool allowed, std::initializer_list<std::string> texts) {
  for (const auto& text : texts) {
    CAPTURE(text);
    CHECK(allows(guard, text) == allowed);
  }
}

TEST_CASE("public addresses are allowed") {
  check_all(AddressGuard{}, true,
            {"1.0.0.0", "8.8.8.8", "93.184.216.34", "223.255.255.255", "2000::",
             "2606:4700:4700::1111", "2a00:1450:4001::1", "3ffe:ffff::1", "::ffff:8.8.8.8"});
}

// IANA's registries of special-purpose addresses, and the other blocks that are not the open
// internet. `before` and `after` are the neighbours; nullptr where that is another such block.
struct Block {
  const char* name;
  const char* first;
  const char* last;
  const char* before;
  const char* after;
};
constexpr const char* kEnd6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
constexpr Block kBlocks[] = {
    {"this network", "0.0.0.0", "0.255.255.255", nullptr, "1.0.0.0"},
    {"private 10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
    {"carrier-grade NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
    {"loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
    {"link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
    {"private 172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
    {"protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"},
    {"documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
    {"6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"},
    {"private 192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
    {"benchmarks", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
    {"documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"},
    {"documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"},
    {"multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", nullptr},
    {"reserved and broadcast", "240.0.0.0", "255.255.255.255", nullptr, nullptr},

    {"unspecified", "::", "::", nullptr, nullptr},
    {"loopback 6", "::1", "::1", nullptr, nullptr},
    {"IPv4-compatible", "::0.0.0.0", "::255.255.255.255", nullptr, nullptr},
    {"IPv4-translated", "::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255", nullptr, nullptr},
    {"NAT64", "64:ff9b::", "64:ff9b::ffff:ffff", nullptr, nullptr},
    {"local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"discard", "100::", "100::ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"dummy prefix", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"below public", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, "2000::"},
    {"protocol assignments 6", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
    {"Teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"benchmarks 6", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"ORCHID", "2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"documentation 6", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
    {"6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
    {"documentation 6, 2024", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
     "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
    {"above public", "4000::", kEnd6, "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr},
    {"segment routing", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"link-local 6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, nullptr},
    {"multicast 6", "ff00::", kEnd6, nullptr, nullptr},
};

TEST_CASE("a block that is not the open internet is refused to its ends, and not beyond") {
  const AddressGuard guard;
  for (const Block& block : kBlocks) {
    const std::string name = block.name;
    CAPTURE(name);
    check_all(guard, false, {block.first, block.last});
    for (const char* neighbour : {block.before, block.after}) {
      if (neighbour) check_all(guard, true, {neighbour});
    }
  }
}

TEST_CASE("an IPv4 address in its IPv6 spelling is judged as the IPv4 address") {
  const AddressGuard guard;
  for (const Block& block : kBlocks) {
    if (std::string(block.first).find(':') != std::string::npos) break;
    const std::string name = block.name;
    CAPTURE(name);
    check_all(guard, false,
              {"::ffff:" + std::string(block.first), "::ffff:" + std::string(block.last)});
    for (const char* neighbour : {block.before, block.after}) {
      if (neighbour) check_all(guard, true, {"::ffff:" + std::string(neighbour)});
    }
  }
}

TEST_CASE("an address that carries an IPv4 address to a tunnel is refused, whatever it carries") {
  for (const std::string prefix : {"::", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "2001::",
                                   "2a00:1450::5efe:", "2a00:1450::200:5efe:"}) {
    for (const std::string carried : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8"}) {
      CAPTURE(prefix);
      check_all(AddressGuard{}, false, {prefix + carried});
    }
  }
  check_all(AddressGuard{}, false, {"2002:7f00:1::1", "2002:a00:1::", "2002:808:808::1"});
  // Near ISATAP's mark, but not it.
  check_all(AddressGuard{}, true,
            {"2a00:1450::5eff:7f00:1", "2a00:1450::100:5efe:7f00:1", "2a00:1450:0:5efe:7f00::1"});
}

TEST_CASE("an address of another family is not allowed") {
  sockaddr address{};
  address.sa_family = AF_UNIX;
  CHECK_FALSE(AddressGuard({"0.0.0.0/0", "::/0"}).allows(address));
}

TEST_CASE("a range that is allowed is allowed exactly") {
  const AddressGuard guard({"10.1.0.0/16", "192.168.7.128/25", "127.0.0.1", "fd12:3456::/32"});
  check_all(guard, true,
            {"10.1.0.0", "10.1.255.255", "192.168.7.128", "192.168.7.255", "127.0.0.1",
             "fd12:3456::1", "fd12:3456:ffff:ffff::1", "::ffff:10.1.2.3", "8.8.8.8"});
  check_all(guard, false,
            {"10.0.255.255", "10.2.0.0", "192.168.7.127", "192.168.8.0", "127.0.0.0", "127.0.0.2",
             "fd12:3455:ffff::1", "fd12:3457::1", "::1", "::ffff:10.2.0.0"});
}

TEST_CASE("an allowed range is the same in both spellings of IPv4, and in no other") {
  for (const std::string range : {"127.0.0.0/8", "::ffff:127.0.0.0/104", "::ffff:7f00:0/104"}) {
    CAPTURE(range);
    check_all(AddressGuard({range}), true, {"127.0.0.1", "::ffff:127.0.0.1", "127.255.255.255"});
    check_all(AddressGuard({range}), false,
              {"::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
               "2002:7f00:1::", "10.0.0.1", "::ffff:10.0.0.1"});
  }
  check_all(AddressGuard({"64:ff9b::/96", "2002::/16", "2001::/32"}), false, {"127.0.0.1", "::1"});
  check_all(AddressGuard({"64:ff9b::/96", "2002::/16", "2001::/32"}), true,
            {"64:ff9b::127.0.0.1", "2002:7f00:1::", "2001::1"});
}

TEST_CASE("a prefix need not end at a byte") {
  const AddressGuard guard({"10.64.0.0/11", "fd00::/9"});
  check_all(guard, true, {"10.64.0.0", "10.95.255.255", "fd00::1", "fd7f::1"});
  check_all(guard, false, {"10.63.255.255", "10.96.0.0", "fd80::1", "fc80::1"});
}

TEST_CASE("a prefix of nothing allows every address of its family") {
  check_all(AddressGuard({"0.0.0.0/0"}), true, {"127.0.0.1", "10.0.0.1", "255.255.255.255"});
  check_all(AddressGuard({"0.0.0.0/0"}), false, {"::1", "fd00::1"});
  check_all(AddressGuard({"::/0"}), true, {"::1", "fd00::1", "ff02::1"});
  check_all(AddressGuard({"::/0"}), false, {"127.0.0.1", "::ffff:127.0.0.1"});
}

TEST_CASE("what is no range is refused by name") {
  for (const std::string text : {"",
                                 "/8",
                                 "localhost",
                                 "10",
                                 "10.0.0/8",
                                 "10.0.0.0.0/8",
                                 "10.0.0.256/32",
                                 "10.0.0.0/",
                                 "10.0.0.0/33",
                                 "10.0.0.0/-1",
                                 "10.0.0.0/8x",
                                 "10.0.0.0/ 8",
                                 "10.0.0.0/8/8",
                                 " 10.0.0.0/8",
                                 "10.0.0.0-10.0.0.9",
                                 "10.0.0.*",
                                 "fd00::/129",
                                 "fd00::1::/64",
                                 "[::1]",
                                 "::1%lo"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(AddressGuard({"127.0.0.0/8", text}),
                         doctest::Contains(("\"" + text + "\"").c_str()), std::invalid_argument);
  }
}

}  // namespace
}  // namespace holdpoint
