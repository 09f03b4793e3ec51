#pragma once

#include <curl/curl.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "net/smtp_client.h"

namespace holdpoint {

// A libcurl handle with its open connection. Used by one call at a time.
class SmtpLine {
 public:
  // `options` must outlive it.
  explicit SmtpLine(const SmtpOptions& options);
  ~SmtpLine() { hang_up(); }
  SmtpLine(const SmtpLine&) = delete;

  // Within `time`; addresses must be safe to be put on a line.
  SmtpResult send(const std::string& from, const std::string& to, std::string_view message,
                  const std::function<bool()>& cancelled, Duration time);
  SmtpResult check();

  // Whether a connection of an earlier mail turned out to be dead before anything was said on it.
  bool was_stale() const;

 private:
  template <class T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(handle_.get(), option, value);
  }
  SmtpResult perform(Duration time);
  void hear(std::string_view reply);
  void hang_up();

  // What libcurl calls, with `self` the line.
  static int listen(CURL*, curl_infotype type, char* bytes, std::size_t size, void* self);
  static std::size_t read(char* buffer, std::size_t size, std::size_t count, void* self);
  static std::size_t drop(char*, std::size_t size, std::size_t count, void*);
  static int go_on(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address);
  static int close_socket(void* self, curl_socket_t socket);

  const SmtpOptions& options_;
  std::set<curl_socket_t> sockets_;  // Before the handle, which closes them as it goes.
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  char error_[CURL_ERROR_SIZE] = "";
  std::string command_;  // The last that was sent. Never shown: it may be a password.
  std::string reply_;    // To it; empty: none yet.
  bool leaving_ = false;
  std::string_view message_;
  std::size_t taken_ = 0;  // Of the message.
  const std::function<bool()>* cancelled_ = nullptr;
};

}  // namespace holdpoint
