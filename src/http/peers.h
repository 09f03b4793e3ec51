#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/guarded.h"

struct sockaddr_storage;

namespace holdpoint {

// Who is at the other end of a connection.
struct Peer {
  std::string address;  // IPv4 that came in as mapped IPv6 is IPv4 again.
  int port = 0;
  std::string group;  // Those counted as one: the address, or the /64 of an IPv6 address.
};
Peer peer_at(const sockaddr_storage& address);
// Empty if the peer is gone already.
Peer peer_of(int socket);

// How many connections each group of peers has open. Safe to share between threads.
class OpenConnections {
 public:
  // One more, and how many there are with it. Each needs its leave().
  std::size_t enter(const std::string& group);
  void leave(const std::string& group);

 private:
  Guarded<std::unordered_map<std::string, std::size_t>> counts_;
};

}  // namespace holdpoint
