#pragma once

#include <optional>
#include <string>

namespace holdpoint {

// How a WebSocket begins: with a request of HTTP. Pure.

// A ws or wss URL, as libcurl and the request want it.
struct WebSocketAddress {
  std::string http_url;
  std::string host;  // With its port, if it is given.
  std::string path;
};
std::optional<WebSocketAddress> read_websocket_url(const std::string& url);

// Not to be foreseen; a new one for each connection.
std::string new_websocket_key();
std::string websocket_request(const WebSocketAddress& address, const std::string& key);
// Why the head of an answer is no handshake; empty if it is one.
std::string judge_websocket_answer(const std::string& head, const std::string& key);

}  // namespace holdpoint
