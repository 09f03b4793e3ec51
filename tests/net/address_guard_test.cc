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

void check_all(const AddressGuard& guard, bool allowed, std::initializer_list<const char*> texts) {
  for (const std::string text : texts) {
    CAPTURE(text);
    CHECK(allows(guard, text) == allowed);
  }
}

TEST_CASE("public addresses are allowed") {
  check_all(AddressGuard{}, true,
            {"8.8.8.8", "1.1.1.1", "93.184.216.34", "223.255.255.255", "2606:4700:4700::1111",
             "2a00:1450:4001::1", "::ffff:8.8.8.8"});
}

TEST_CASE("addresses next to a private range are allowed") {
  check_all(
      AddressGuard{}, true,
      {"9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "100.63.255.255", "100.128.0.0",
       "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
       "192.169.0.0", "198.17.255.255", "198.20.0.0", "2001:1::1", "2003::1", "fbff::1"});
}

TEST_CASE("nothing but the open internet is allowed") {
  const AddressGuard guard;
  SUBCASE("unspecified and this network") {
    check_all(guard, false, {"0.0.0.0", "0.255.255.255", "::", "::ffff:0.0.0.0"});
  }
  SUBCASE("loopback") {
    check_all(guard, false, {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"});
  }
  SUBCASE("private") {
    check_all(
        guard, false,
        {"10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1",
         "192.168.255.255", "fc00::1", "fdff:ffff::1", "::ffff:10.1.2.3", "::ffff:192.168.0.1"});
  }
  SUBCASE("link-local, with the metadata of clouds") {
    check_all(guard, false,
              {"169.254.0.1", "169.254.169.254", "fe80::1", "febf::1", "fec0::1",
               "::ffff:169.254.169.254"});
  }
  SUBCASE("carrier-grade NAT") { check_all(guard, false, {"100.64.0.0", "100.127.255.255"}); }
  SUBCASE("multicast, reserved and broadcast") {
    check_all(guard, false,
              {"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "ff02::1"});
  }
  SUBCASE("documentation and benchmarks") {
    check_all(guard, false,
              {"192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255",
               "2001:db8::1", "100::1", "192.0.0.8"});
  }
  SUBCASE("tunnels that may end at a private address: NAT64, 6to4, Teredo") {
    check_all(guard, false,
              {"64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1",
               "2002:a00:1::", "2002:808:808::1", "2001::1", "2001:0:ffff::1", "192.88.99.1"});
  }
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

TEST_CASE("a prefix need not end at a byte") {
  const AddressGuard guard({"10.64.0.0/11", "fd00::/9"});
  check_all(guard, true, {"10.64.0.0", "10.95.255.255", "fd00::1", "fd7f::1"});
  check_all(guard, false, {"10.63.255.255", "10.96.0.0", "fd80::1", "fc80::1"});
}

TEST_CASE("a prefix of nothing allows every address of its family") {
  check_all(AddressGuard({"0.0.0.0/0"}), true, {"127.0.0.1", "10.0.0.1", "255.255.255.255"});
  check_all(AddressGuard({"0.0.0.0/0"}), false, {"::1", "fd00::1"});
  check_all(AddressGuard({"::/0"}), true, {"::1", "fd00::1", "ff02::1"});
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
