#include "net/websocket_handshake.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <stdexcept>

#include "net/http_client.h"

namespace holdpoint {
namespace {

constexpr std::size_t kKeyBytes = 16;

template <std::size_t Size>
std::string to_base64(const unsigned char (&bytes)[Size]) {
  std::string out(4 * ((Size + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes, Size);
  return out;
}

// What a server that speaks WebSocket makes of our key.
std::string proof_of(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return to_base64(digest);
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The value of a header, its name given in lower case; empty if it is not there.
std::string header_in(const std::string& head, const std::string& name) {
  const auto at = in_lower_case(head).find("\r\n" + name + ":");
  if (at == std::string::npos) return "";
  const auto start = head.find_first_not_of(" \t", at + name.size() + 3);
  auto value = head.substr(start, head.find("\r\n", start) - start);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
  return value;
}

}  // namespace

std::string judge_websocket_answer(const std::string& head, const std::string& key) {
  if (!head.starts_with("HTTP/1.1 101 ")) {
    return head.starts_with("HTTP/1.") && head.size() > 12
               ? "the other side answered HTTP " + head.substr(9, 3)
               : "the other side speaks no HTTP";
  }
  const bool agreed = in_lower_case(header_in(head, "upgrade")) == "websocket" &&
                      header_in(head, "sec-websocket-accept") == proof_of(key) &&
                      header_in(head, "sec-websocket-extensions").empty();
  return agreed ? "" : "the other side did not shake hands as WebSocket wants it";
}

std::optional<WebSocketAddress> read_websocket_url(const std::string& url) {
  WebSocketAddress address;
  if (url.starts_with("ws://")) {
    address.http_url = "http" + url.substr(2);
  } else if (url.starts_with("wss://")) {
    address.http_url = "https" + url.substr(3);
  }
  if (!host_of(address.http_url)) return std::nullopt;
  const auto start = url.find("://") + 3;
  const auto end = std::min(url.find_first_of("/?#", start), url.size());
  address.host = url.substr(start, end - start);
  address.path = url.substr(end, url.find('#', end) - end);
  if (!address.path.starts_with('/')) address.path.insert(0, "/");
  return address;
}

std::string new_websocket_key() {
  unsigned char bytes[kKeyBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw std::runtime_error("no random bytes");
  return to_base64(bytes);
}

std::string websocket_request(const WebSocketAddress& address, const std::string& key) {
  return "GET " + address.path + " HTTP/1.1\r\nHost: " + address.host +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nUser-Agent: holdpoint"
         "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
         key + "\r\n\r\n";
}

}  // namespace holdpoint
