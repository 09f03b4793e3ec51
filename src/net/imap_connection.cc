#include "net/imap_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

namespace holdpoint {
namespace {

constexpr Duration kBreath{500};  // How often `cancelled` is asked.

}  // namespace

ImapConnection::ImapConnection(const ImapOptions& options, std::function<bool()> cancelled)
    : options_(options),
      cancelled_(std::move(cancelled)),
      handle_(curl_easy_init(), curl_easy_cleanup) {
  if (!handle_) throw ImapError("libcurl has no memory");
  const auto set = [&](CURLoption option, auto value) {
    curl_easy_setopt(handle_.get(), option, value);
  };
  set(CURLOPT_URL, options_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "imap,imaps");
  set(CURLOPT_USERNAME, options_.user.c_str());
  set(CURLOPT_PASSWORD, options_.password.reveal().c_str());
  set(CURLOPT_USE_SSL, static_cast<long>(options_.tls ? CURLUSESSL_ALL : CURLUSESSL_TRY));
  // The folder of the system's authorities stays trusted besides.
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.connect_deadline.count()));
  // For each reply; also to the LOGOUT that it says when the login goes wrong.
  set(CURLOPT_SERVER_RESPONSE_TIMEOUT, 10L);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_XFERINFOFUNCTION, &ImapConnection::progress);
  // Without it libcurl would write the server's lines to standard output.
  set(CURLOPT_WRITEFUNCTION, &ImapConnection::drop);
  set(CURLOPT_ERRORBUFFER, error_);
  const CURLcode code = curl_easy_perform(handle_.get());
  if (code != CURLE_OK) throw ImapError(in_words(code));
  curl_easy_getinfo(handle_.get(), CURLINFO_ACTIVESOCKET, &socket_);
  if (socket_ == CURL_SOCKET_BAD) throw ImapError("the mail server hung up after the login");
}

// libcurl says LOGOUT when it lets go and waits for the reply; with nothing left to read it does
// not.
ImapConnection::~ImapConnection() {
  if (socket_ != CURL_SOCKET_BAD) shutdown(socket_, SHUT_RD);
}

void ImapConnection::send(std::string_view bytes) {
  const auto end = Steady::now() + options_.deadline;
  while (!bytes.empty()) {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(handle_.get(), bytes.data(), bytes.size(), &sent);
    if (code == CURLE_OK) {
      bytes.remove_prefix(sent);
    } else if (code != CURLE_AGAIN) {
      throw ImapError("the connection to the mail server broke");
    } else if (Steady::now() > end) {
      throw ImapError("the mail server takes no more bytes");
    } else {
      pause(POLLOUT);
    }
  }
}

bool ImapConnection::receive(std::string& to, Steady::time_point end) {
  char bytes[16384];
  while (true) {
    std::size_t size = 0;
    const CURLcode code = curl_easy_recv(handle_.get(), bytes, sizeof bytes, &size);
    if (code == CURLE_OK && size > 0) {
      to.append(bytes, size);
      return true;
    }
    if (code != CURLE_AGAIN) throw ImapError("the mail server hung up");
    if (Steady::now() >= end || cancelled()) return false;
    pause(POLLIN, end);
  }
}

void ImapConnection::pause(short events, Steady::time_point end) const {
  const auto left =
      end == Steady::time_point::max() ? kBreath : std::chrono::ceil<Duration>(end - Steady::now());
  pollfd one{socket_, events, 0};
  poll(&one, 1, static_cast<int>(std::clamp(left, Duration{0}, kBreath).count()));
}

int ImapConnection::progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const ImapConnection*>(self)->cancelled() ? 1 : 0;
}

std::string ImapConnection::in_words(CURLcode code) const {
  const std::string detail = error_[0] ? error_ : curl_easy_strerror(code);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the host of [email] imap_url is not known: " + detail;
    case CURLE_COULDNT_CONNECT:
      return "nothing answers at [email] imap_url: " + detail;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "[email] imap_url must be imaps://host or imap://host: " + detail;
    case CURLE_LOGIN_DENIED:
      return "the mail server refuses [email] imap_user and imap_password: " + detail;
    case CURLE_USE_SSL_FAILED:
      return "the mail server offers no TLS; use imaps:// in [email] imap_url, or set imap_tls "
             "= false to go in the clear";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "the mail server's certificate is not trusted; give its authority in [email] "
             "ca_file, or its right name in imap_url: " +
             detail;
    case CURLE_SSL_CACERT_BADFILE:
      return "[email] ca_file cannot be read: " + detail;
    case CURLE_SSL_CONNECT_ERROR:
      return "no TLS with the mail server; imaps:// is for a port that begins with it, imap:// "
             "for one that changes over: " +
             detail;
    case CURLE_OPERATION_TIMEDOUT:
      return "the mail server at [email] imap_url does not answer in time: " + detail;
    case CURLE_ABORTED_BY_CALLBACK:
      return "cancelled";
    default:
      return "[email] imap_url: " + detail;
  }
}

}  // namespace holdpoint
