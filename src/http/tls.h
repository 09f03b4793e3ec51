#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/guarded.h"

// OpenSSL's types, so that its headers stay in tls.cc.
struct ssl_st;
struct ssl_ctx_st;

namespace holdpoint {

// How far a call on a socket got without waiting.
struct Progress {
  ssize_t bytes = -1;  // 0: the peer sends no more. -1: none now, or, if `wants` is 0, none ever.
  short wants = 0;     // POLLIN or POLLOUT: repeat the call once the socket is ready for it.
};

// The server's side of TLS on one connection. One thread at a time; no call waits. The process must
// ignore SIGPIPE: OpenSSL writes with plain write().
class TlsSession {
 public:
  explicit TlsSession(ssl_st* ssl) : ssl_(ssl) {}

  // 1 byte once it is done. Comes before everything else.
  Progress handshake();
  // Of a handshake that failed: the peer had sent a request in the clear.
  bool spoke_plain_http() const { return plain_http_; }

  Progress read(char* out, std::size_t size);
  Progress write(std::string_view bytes);
  // Bytes that are decrypted already, so that poll() knows nothing of them.
  bool has_pending() const;
  bool is_peer_alive();
  // Tells the peer that nothing more comes.
  void close();

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  Progress stopped(int result);

  const std::unique_ptr<ssl_st, Free> ssl_;
  bool plain_http_ = false;
  bool usable_ = false;  // The handshake is done and nothing has failed since.
};

// The certificate and key that new connections get: TLS 1.2 or newer, HTTP/1.1 by ALPN. Safe to
// share between threads.
class TlsContext {
 public:
  // PEM files: the certificate with its chain, and a key without a passphrase that not everyone may
  // read. Throws std::runtime_error that names the file and what is wrong with it.
  TlsContext(std::string cert_file, std::string key_file);

  // Reads the files anew. If it throws, as above, all stays as it was. Open sessions go on either
  // way.
  void reload();

  // On a connected socket, which this makes non-blocking; null when memory is short.
  std::unique_ptr<TlsSession> new_session(int socket);

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, Free>;
  Context load() const;

  const std::string cert_file_;
  const std::string key_file_;
  Guarded<Context> context_;
};

}  // namespace holdpoint
