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
  // One connection, counted until this goes.
  class Place {
   public:
    Place(OpenConnections& all, std::string group);
    ~Place();
    Place(const Place&) = delete;
    // The group's connections when this one came, with it.
    std::size_t number() const { return number_; }

   private:
    OpenConnections& all_;
    const std::string group_;
    std::size_t number_ = 0;
  };

 private:
  Guarded<std::unordered_map<std::string, std::size_t>> counts_;
};

}  // namespace holdpoint
