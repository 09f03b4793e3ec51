#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "net/websocket_frames.h"
#include "tests/support/eventually.h"

namespace holdpoint::test {

// The server's end of one WebSocket.
class WebSocketPeer {
 public:
  WebSocketPeer(int socket, std::string request) : head(std::move(request)), socket_(socket) {}
  ~WebSocketPeer() { ::close(socket_); }
  WebSocketPeer(const WebSocketPeer&) = delete;

  void send_bytes(const std::string& bytes) {
    (void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void send(WebSocketFrame frame) { send_bytes(to_bytes(frame, std::nullopt)); }
  void send_text(const std::string& text) { send({WebSocketFrame::text, true, text}); }
  // Without a word.
  void hang_up() { ::shutdown(socket_, SHUT_RDWR); }

  // Nothing if the client says nothing for so long, or has gone.
  std::optional<WebSocketFrame> receive(std::chrono::milliseconds longest = std::chrono::seconds{
                                            20}) {
    while (true) {
      if (auto frame = frames_.next()) return frame;
      pollfd one{socket_, POLLIN, 0};
      if (poll(&one, 1, static_cast<int>(longest.count())) <= 0) return std::nullopt;
      char buffer[65536];
      const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        gone_ = true;
        return std::nullopt;
      }
      frames_.add({buffer, static_cast<std::size_t>(got)});
    }
  }
  std::string receive_text() {
    const auto frame = receive();
    return frame && frame->kind == WebSocketFrame::text ? frame->payload : "(nothing)";
  }
  // The client hung up.
  bool gone() { return gone_ || (!receive(std::chrono::milliseconds{0}) && gone_); }

  const std::string head;  // Of the request that opened it.

 private:
  const int socket_;
  WebSocketFrames frames_{true, 1 << 24};
  bool gone_ = false;
};

// Takes WebSockets on 127.0.0.1; the test speaks for the server.
class WebSocketServer {
 public:
  // `answer` makes of a proof what the handshake is answered with; none: what is right.
  using Answer = std::function<std::string(const std::string& proof)>;
  explicit WebSocketServer(Answer answer = {}) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 16) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~WebSocketServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
  }
  WebSocketServer(const WebSocketServer&) = delete;

  std::string url(const std::string& path = "/") const {
    return "ws://127.0.0.1:" + std::to_string(port_) + path;
  }

  // The next that has shaken hands.
  std::shared_ptr<WebSocketPeer> next() {
    std::shared_ptr<WebSocketPeer> peer;
    const bool came = eventually([&] {
      return peers_.with([&](auto& all) {
        if (all.empty()) return false;
        peer = all.front();
        all.erase(all.begin());
        return true;
      });
    });
    if (!came) throw std::runtime_error("nobody came");
    return peer;
  }
  std::size_t waiting() {
    return peers_.with([](auto& all) { return all.size(); });
  }

 private:
  void accept_all() {
    while (true) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      shake_hands(connection);
    }
  }

  void shake_hands(int connection) {
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string head;
    char c = 0;
    while (!head.ends_with("\r\n\r\n") && recv(connection, &c, 1, 0) == 1) head += c;
    auto peer = std::make_shared<WebSocketPeer>(connection, head);
    const std::string name = "Sec-WebSocket-Key: ";
    const auto at = head.find(name);
    if (at == std::string::npos) return;
    const auto start = at + name.size();
    const std::string text = head.substr(start, head.find("\r\n", start) - start) +
                             "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    unsigned char proof[64];
    EVP_EncodeBlock(proof, digest, sizeof digest);
    const std::string shown(reinterpret_cast<const char*>(proof));
    peer->send_bytes(answer_ ? answer_(shown)
                             : "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n"
                               "Connection: Upgrade\r\nSec-WebSocket-Accept: " +
                                   shown + "\r\n\r\n");
    peers_.with([&](auto& all) { all.push_back(std::move(peer)); });
  }

  const Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  Guarded<std::vector<std::shared_ptr<WebSocketPeer>>> peers_;
};

}  // namespace holdpoint::test
