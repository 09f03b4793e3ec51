#include "socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <system_error>

namespace holdpoint::bench {
namespace {

constexpr int kConnectSeconds = 5;
constexpr int kBacklog = 1024;

sockaddr_in socket_address(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("not an IPv4 address: " + endpoint.host);
  return address;
}

Fd open_socket() {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("socket");
  return fd;
}

}  // namespace

void Fd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Endpoint parse_endpoint(const std::string& address) {
  const auto colon = address.rfind(':');
  Endpoint endpoint;
  if (colon != std::string::npos) {
    endpoint.host = address.substr(0, colon);
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), endpoint.port);
  }
  if (endpoint.port <= 0 || endpoint.port > 65535)
    throw std::runtime_error("not an address with a port: " + address);
  socket_address(endpoint);
  return endpoint;
}

Fd connect_to(const Endpoint& endpoint) {
  const sockaddr_in address = socket_address(endpoint);
  Fd fd = open_socket();
  const timeval limit{kConnectSeconds, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw_errno("connect to " + endpoint.text());
  prepare_connection(fd.get());
  return fd;
}

Fd listen_on_loopback(int* port) {
  sockaddr_in address = socket_address({"127.0.0.1", 0});
  Fd fd = open_socket();
  socklen_t size = sizeof address;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) throw_errno("bind");
  if (listen(fd.get(), kBacklog) != 0) throw_errno("listen");
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw_errno("getsockname");
  prepare_connection(fd.get());
  *port = ntohs(address.sin_port);
  return fd;
}

void prepare_connection(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl");
}

void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace holdpoint::bench
