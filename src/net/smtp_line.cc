#include "net/smtp_line.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "net/smtp_verdict.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostReply = 300;

}  // namespace

SmtpLine::SmtpLine(const SmtpOptions& options)
    : options_(options), handle_(curl_easy_init(), curl_easy_cleanup) {
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set(CURLOPT_URL, options.url.c_str());
  set(CURLOPT_PROXY, "");  // Not even the environment's.
  set(CURLOPT_USE_SSL, static_cast<long>(options.tls_required ? CURLUSESSL_ALL : CURLUSESSL_TRY));
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  // Debian's libcurl still reads its folder of the system's authorities.
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.user.empty()) {
    set(CURLOPT_USERNAME, options.user.c_str());
    set(CURLOPT_PASSWORD, options.password.reveal().c_str());
  }
  set(CURLOPT_MAXAGE_CONN, 20L);  // Servers hang up on those who stay silent.
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_OPENSOCKETFUNCTION, &SmtpLine::open_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_CLOSESOCKETFUNCTION, &SmtpLine::close_socket);
  set(CURLOPT_CLOSESOCKETDATA, this);
  // The only way to learn which command a reply is to, and what it says.
  set(CURLOPT_VERBOSE, 1L);
  set(CURLOPT_DEBUGFUNCTION, &SmtpLine::listen);
  set(CURLOPT_DEBUGDATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &SmtpLine::go_on);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_READFUNCTION, &SmtpLine::read);
  set(CURLOPT_READDATA, this);
  set(CURLOPT_WRITEFUNCTION, &SmtpLine::drop);
}

SmtpResult SmtpLine::send(const std::string& from, const std::string& to, std::string_view message,
                          const std::function<bool()>& cancelled, Duration time) {
  message_ = message;
  cancelled_ = &cancelled;
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> recipients(
      curl_slist_append(nullptr, ("<" + to + ">").c_str()), curl_slist_free_all);
  set(CURLOPT_UPLOAD, 1L);
  set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(message.size()));
  set(CURLOPT_MAIL_FROM, ("<" + from + ">").c_str());
  set(CURLOPT_MAIL_RCPT, recipients.get());
  const SmtpResult result = perform(time);
  set(CURLOPT_MAIL_RCPT, nullptr);
  cancelled_ = nullptr;
  return result;
}

SmtpResult SmtpLine::check() {
  set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_CUSTOMREQUEST, "NOOP");
  return perform(options_.total_timeout);
}

bool SmtpLine::was_stale() const {
  long connects = 1;
  curl_easy_getinfo(handle_.get(), CURLINFO_NUM_CONNECTS, &connects);
  return connects == 0 && taken_ == 0 && (reply_.empty() || reply_.starts_with("421"));
}

SmtpResult SmtpLine::perform(Duration time) {
  command_.clear();
  reply_.clear();
  leaving_ = false;
  taken_ = 0;
  error_[0] = '\0';
  set(CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(options_.connect_timeout, time).count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(time.count()));
  const CURLcode code = curl_easy_perform(handle_.get());
  return judge({code, error_[0] ? error_ : curl_easy_strerror(code), command_, reply_}, options_);
}

int SmtpLine::listen(CURL*, curl_infotype type, char* bytes, std::size_t size, void* self) {
  auto& line = *static_cast<SmtpLine*>(self);
  const std::string_view text(bytes, size);
  if (type == CURLINFO_HEADER_OUT) {
    line.leaving_ = text.starts_with("QUIT");
    if (line.leaving_) {
      line.hang_up();
      return 0;
    }
    line.command_ = text.substr(0, text.find_first_of(" \r\n"));
    line.reply_.clear();
  } else if (type == CURLINFO_HEADER_IN && !line.leaving_) {
    line.hear(text);
  }
  return 0;
}

// libcurl says QUIT after an error and in the end, and then waits two minutes for the reply, past
// every time limit. With nothing left to read it does not.
void SmtpLine::hang_up() {
  for (const curl_socket_t socket : sockets_) shutdown(socket, SHUT_RD);
}

// Replies of several lines repeat their code in each.
void SmtpLine::hear(std::string_view text) {
  if (taken_ > 0 && reply_.starts_with("354")) reply_.clear();
  if (!reply_.empty() && text.size() > 4) text.remove_prefix(4);
  if (!reply_.empty()) reply_ += ' ';
  for (const char c : text) {
    if (c == '\r' || c == '\n' || reply_.size() >= kMostReply) continue;
    reply_ += c >= 0x20 && c < 0x7f ? c : '?';
  }
}

std::size_t SmtpLine::read(char* buffer, std::size_t size, std::size_t count, void* self) {
  auto& line = *static_cast<SmtpLine*>(self);
  const auto part = line.message_.substr(line.taken_, size * count);
  std::memcpy(buffer, part.data(), part.size());
  line.taken_ += part.size();
  return part.size();
}

std::size_t SmtpLine::drop(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

int SmtpLine::go_on(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* cancelled = static_cast<SmtpLine*>(self)->cancelled_;
  return cancelled && *cancelled && (*cancelled)() ? 1 : 0;
}

curl_socket_t SmtpLine::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (made >= 0) static_cast<SmtpLine*>(self)->sockets_.insert(made);
  return made;
}

int SmtpLine::close_socket(void* self, curl_socket_t socket) {
  static_cast<SmtpLine*>(self)->sockets_.erase(socket);
  return close(socket);
}

}  // namespace holdpoint
