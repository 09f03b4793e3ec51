#include "http/peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace holdpoint {
namespace {

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size()) ? text.data() : "";
}

}  // namespace

Peer peer_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return peer_at(storage);
}

Peer peer_at(const sockaddr_storage& storage) {
  Peer peer;
  if (storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof in);
    peer.address = peer.group = text_of(AF_INET, &in.sin_addr);
    peer.port = ntohs(in.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &storage, sizeof in);
    peer.port = ntohs(in.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      peer.address = peer.group = text_of(AF_INET, in.sin6_addr.s6_addr + 12);
    } else {
      peer.address = text_of(AF_INET6, &in.sin6_addr);
      // Whoever has one IPv6 address has 2^64 of them.
      std::memset(in.sin6_addr.s6_addr + 8, 0, 8);
      peer.group = text_of(AF_INET6, &in.sin6_addr);
    }
  }
  return peer;
}

std::size_t OpenConnections::enter(const std::string& group) {
  return counts_.with([&](auto& counts) { return ++counts[group]; });
}

void OpenConnections::leave(const std::string& group) {
  counts_.with([&](auto& counts) {
    const auto found = counts.find(group);
    if (--found->second == 0) counts.erase(found);
  });
}

}  // namespace holdpoint
