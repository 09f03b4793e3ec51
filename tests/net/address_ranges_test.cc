#include "net/address_ranges.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

TEST_CASE("ranges hold their addresses in text, IPv4 in both spellings") {
  const AddressRanges ranges({"10.0.0.0/8", "192.0.2.7", "fd00::/8", "::1"});
  for (const std::string address :
       {"10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3", "::ffff:a01:203", "192.0.2.7", "fd12::1",
        "::1", "0:0:0:0:0:0:0:1"}) {
    CAPTURE(address);
    CHECK(ranges.hold(address));
  }
  for (const std::string address : {"9.255.255.255", "11.0.0.0", "192.0.2.8", "::10.0.0.1",
                                    "64:ff9b::10.0.0.1", "fe00::1", "::2", "::ffff:11.0.0.0"}) {
    CAPTURE(address);
    CHECK_FALSE(ranges.hold(address));
  }
}

TEST_CASE("a range of one family holds nothing of the other, however wide") {
  CHECK(AddressRanges({"::/0"}).hold("2a00::1"));
  CHECK_FALSE(AddressRanges({"::/0"}).hold("10.0.0.1"));
  CHECK_FALSE(AddressRanges({"::/0"}).hold("::ffff:10.0.0.1"));
  CHECK(AddressRanges({"0.0.0.0/0"}).hold("::ffff:10.0.0.1"));
  CHECK_FALSE(AddressRanges({"0.0.0.0/0"}).hold("2a00::1"));
  CHECK(AddressRanges({"::ffff:0:0/96"}).hold("10.0.0.1"));
}

TEST_CASE("what is no address is in no range") {
  const AddressRanges all({"0.0.0.0/0", "::/0"});
  for (const std::string text : {"", "localhost", "10", "010.0.0.1x", "0x7f000001", "127.1",
                                 "[::1]", "::1%lo", "10.0.0.1 ", "10.0.0.1:80", "10.0.0.0/8"}) {
    CAPTURE(text);
    CHECK_FALSE(all.hold(text));
  }
  CHECK_FALSE(AddressRanges{}.hold("10.0.0.1"));
}

}  // namespace
}  // namespace holdpoint
