#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "base/time.h"
#include "http/tls.h"

namespace holdpoint {

using Steady = std::chrono::steady_clock;

// For a peer to take some of what is sent to it.
inline constexpr Duration kWriteTimeout = std::chrono::seconds{10};

// True once the socket is ready for `events`, false when that took too long.
bool wait_for(int socket, short events, Duration longest);

// The bytes of one connection, in the clear or under TLS. Owns the socket. One thread at a time.
class Transport {
 public:
  // In the clear without `tls`.
  Transport(int socket, std::unique_ptr<TlsSession> tls) : socket_(socket), tls_(std::move(tls)) {}
  ~Transport();
  Transport(const Transport&) = delete;

  int socket() const { return socket_; }
  bool is_secure() const { return tls_ != nullptr; }
  TlsSession* tls() { return tls_.get(); }
  // From here on in the clear: for a peer that never spoke TLS.
  void drop_tls() { tls_.reset(); }

  // At most `size` bytes as soon as there are some; 0 when no more come; -1 at the deadline.
  ssize_t receive(char* out, std::size_t size, Steady::time_point deadline);
  // Bytes that poll() knows nothing of.
  bool has_pending() const { return tls_ && tls_->has_pending(); }
  bool is_peer_alive() const;

  // Both parts, in one packet if they fit. False if the peer is gone or takes nothing for too long.
  bool send(std::string_view first, std::string_view second);
  // The peer sees the end of the stream; what it still sends can be dropped with drop_incoming().
  void end_sending();
  // Closing with bytes unread would reset the connection, and the peer might never read our last
  // words: takes in what comes until the peer is done, and drops it.
  void drop_incoming(Duration longest, std::size_t most_bytes);

 private:
  Progress try_receive(char* out, std::size_t size);
  Progress try_send(std::string_view first, std::string_view second);

  const int socket_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace holdpoint
