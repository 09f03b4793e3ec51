#include "http/transport.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace holdpoint {
namespace {

constexpr std::size_t kTlsRecord = 16384;

// recv() or sendmsg() in the clear.
Progress progress_of(ssize_t result, short wants) {
  if (result >= 0) return {result};
  return {-1, errno == EAGAIN || errno == EINTR ? wants : short{0}};
}

Duration until(Steady::time_point deadline) {
  return std::max(std::chrono::ceil<Duration>(deadline - Steady::now()), Duration{0});
}

}  // namespace

bool wait_for(int socket, short events, Duration longest) {
  pollfd fd{socket, events, 0};
  const auto deadline = Steady::now() + longest;
  while (true) {
    const int ready = poll(&fd, 1, static_cast<int>(until(deadline).count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

Transport::~Transport() {
  if (tls_) tls_->close();
  shutdown(socket_, SHUT_RDWR);
  close(socket_);
}

Progress Transport::try_receive(char* out, std::size_t size) {
  if (tls_) return tls_->read(out, size);
  return progress_of(recv(socket_, out, size, MSG_DONTWAIT), POLLIN);
}

ssize_t Transport::receive(char* out, std::size_t size, Steady::time_point deadline) {
  while (true) {
    if (Steady::now() >= deadline) return -1;
    const Progress progress = try_receive(out, size);
    if (progress.wants == 0) return std::max<ssize_t>(progress.bytes, 0);
    if (!wait_for(socket_, progress.wants, until(deadline))) return -1;
  }
}

bool Transport::is_peer_alive() const {
  if (tls_) return tls_->is_peer_alive();
  char byte = 0;
  const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || progress_of(got, POLLIN).wants != 0;
}

Progress Transport::try_send(std::string_view first, std::string_view second) {
  if (tls_) return tls_->write(first.empty() ? second : first);
  std::array<iovec, 2> parts{{{const_cast<char*>(first.data()), first.size()},
                              {const_cast<char*>(second.data()), second.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return progress_of(sendmsg(socket_, &message, MSG_NOSIGNAL), POLLOUT);
}

bool Transport::send(std::string_view first, std::string_view second) {
  std::string joined;
  if (tls_ && !first.empty() && !second.empty() && first.size() + second.size() <= kTlsRecord) {
    joined.append(first).append(second);
    first = joined;
    second = {};
  }
  // Who reads slower than this on the whole only means to hold a thread.
  constexpr std::size_t kSlowest = 32 << 10;  // Bytes a second.
  const auto deadline = Steady::now() + kWriteTimeout +
                        std::chrono::seconds{(first.size() + second.size()) / kSlowest};
  while (!first.empty() || !second.empty()) {
    const Progress progress = try_send(first, second);
    if (Steady::now() > deadline) return false;
    if (progress.bytes < 0) {
      if (progress.wants == 0 || !wait_for(socket_, progress.wants, kWriteTimeout)) return false;
      continue;
    }
    const auto count = static_cast<std::size_t>(progress.bytes);
    const std::size_t of_first = std::min(count, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(count - of_first);
  }
  return true;
}

void Transport::end_sending() {
  if (tls_) tls_->close();
  shutdown(socket_, SHUT_WR);
}

void Transport::drop_incoming(Duration longest, std::size_t most_bytes) {
  const auto deadline = Steady::now() + longest;
  std::array<char, 8192> buffer;
  for (std::size_t dropped = 0; dropped < most_bytes && Steady::now() < deadline;) {
    // Undeciphered, whatever it is.
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) dropped += static_cast<std::size_t>(got);
    if (got > 0) continue;
    if (progress_of(got, POLLIN).wants == 0) return;
    if (!wait_for(socket_, POLLIN, until(deadline))) return;
  }
}

}  // namespace holdpoint
