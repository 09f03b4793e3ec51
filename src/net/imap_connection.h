#pragma once

#include <curl/curl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/imap_client.h"

namespace holdpoint {

// A connection to an IMAP server, logged in. libcurl's part: to connect, change over to TLS and log
// in; what is said after that is the caller's. Throws ImapError.
class ImapConnection {
 public:
  using Steady = std::chrono::steady_clock;

  ImapConnection(const ImapOptions& options, std::function<bool()> cancelled);
  ~ImapConnection();
  ImapConnection(const ImapConnection&) = delete;

  bool cancelled() const { return cancelled_ && cancelled_(); }
  const ImapOptions& options() const { return options_; }

  void send(std::string_view bytes);
  // More bytes, appended. False: none came before `end`, or `cancelled`.
  bool receive(std::string& to, Steady::time_point end);

 private:
  void pause(short events, Steady::time_point end = Steady::time_point::max()) const;
  static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  static std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }
  std::string in_words(CURLcode code) const;

  const ImapOptions options_;
  const std::function<bool()> cancelled_;
  char error_[CURL_ERROR_SIZE] = "";
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
};

}  // namespace holdpoint
