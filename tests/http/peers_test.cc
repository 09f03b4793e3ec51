#include "http/peers.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace holdpoint {
namespace {

Peer peer_with(const char* address) {
  sockaddr_storage storage{};
  sockaddr_in in{};
  sockaddr_in6 in6{};
  if (inet_pton(AF_INET, address, &in.sin_addr) == 1) {
    in.sin_family = AF_INET;
    in.sin_port = htons(1234);
    std::memcpy(&storage, &in, sizeof in);
  } else {
    REQUIRE(inet_pton(AF_INET6, address, &in6.sin6_addr) == 1);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(1234);
    std::memcpy(&storage, &in6, sizeof in6);
  }
  return peer_at(storage);
}

TEST_CASE("an IPv4 peer counts for itself, also when it comes mapped into IPv6") {
  for (const char* address : {"192.0.2.7", "::ffff:192.0.2.7"}) {
    const Peer peer = peer_with(address);
    CHECK(peer.address == "192.0.2.7");
    CHECK(peer.group == "192.0.2.7");
    CHECK(peer.port == 1234);
  }
  CHECK(peer_with("192.0.2.8").group != peer_with("192.0.2.7").group);
}

TEST_CASE("IPv6 peers of one /64 count as one") {
  const Peer peer = peer_with("2001:db8:1:2:3:4:5:6");
  CHECK(peer.address == "2001:db8:1:2:3:4:5:6");
  CHECK(peer.port == 1234);
  CHECK(peer.group == peer_with("2001:db8:1:2:ffff::9").group);
  CHECK(peer.group != peer_with("2001:db8:1:3:3:4:5:6").group);
}

TEST_CASE("connections are counted by group while they are open") {
  OpenConnections open;
  CHECK(open.enter("a") == 1);
  CHECK(open.enter("a") == 2);
  CHECK(open.enter("b") == 1);
  open.leave("a");
  CHECK(open.enter("a") == 2);
  open.leave("a");
  open.leave("a");
  CHECK(open.enter("a") == 1);
  CHECK(open.enter("b") == 2);
}

}  // namespace
}  // namespace holdpoint
