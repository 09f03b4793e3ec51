#include "net/smtp_client.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/guarded.h"

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostReply = 300;

// libcurl passes on whatever it is given: a line break in here would be a command of its own.
bool is_safe_address(std::string_view address) {
  return address.find('@') != std::string_view::npos &&
         std::all_of(address.begin(), address.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '<' && c != '>'; });
}

// A libcurl handle with its open connection. Used by one call at a time.
class Line {
 public:
  explicit Line(const SmtpOptions& options)
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
    set(CURLOPT_OPENSOCKETFUNCTION, &Line::open_socket);
    // The only way to learn which command a reply is to, and what it says.
    set(CURLOPT_VERBOSE, 1L);
    set(CURLOPT_DEBUGFUNCTION, &Line::listen);
    set(CURLOPT_DEBUGDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Line::go_on);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_READFUNCTION, &Line::read);
    set(CURLOPT_READDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Line::drop);
  }
  Line(const Line&) = delete;

  SmtpResult send(const std::string& from, const std::string& to, std::string_view message,
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

  SmtpResult check() {
    set(CURLOPT_NOBODY, 1L);
    set(CURLOPT_CUSTOMREQUEST, "NOOP");
    return perform(options_.total_timeout);
  }

  // Whether a connection of an earlier mail turned out to be dead before anything was said on it.
  bool was_stale() const {
    long connects = 1;
    curl_easy_getinfo(handle_.get(), CURLINFO_NUM_CONNECTS, &connects);
    return connects == 0 && taken_ == 0 && (reply_.empty() || reply_.starts_with("421"));
  }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(handle_.get(), option, value);
  }

  SmtpResult perform(Duration time) {
    command_.clear();
    reply_.clear();
    leaving_ = false;
    taken_ = 0;
    error_[0] = '\0';
    set(CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(std::min(options_.connect_timeout, time).count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(time.count()));
    const CURLcode code = curl_easy_perform(handle_.get());
    SmtpResult result;
    // libcurl keeps the code of an earlier mail where this one got no reply.
    if (reply_.size() >= 3)
      result.code = static_cast<int>(std::strtol(reply_.c_str(), nullptr, 10));
    if (code == CURLE_OK) {
      result.kind = SmtpResult::Kind::sent;
      return result;
    }
    judge(code, result);
    // A yes to what came before says nothing about the failure.
    if (result.code < 400) result.code = 0;
    return result;
  }

  void judge(CURLcode code, SmtpResult& result) const {
    const std::string detail = error_[0] ? error_ : curl_easy_strerror(code);
    switch (code) {
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_URL_MALFORMAT:
        result.error = "[email] smtp_url must be smtp://host:port or smtps://host:port";
        return;
      case CURLE_COULDNT_RESOLVE_HOST:
        result.error = "the mail server's name is not known; check [email] smtp_url";
        return;
      case CURLE_COULDNT_CONNECT:
        result.error = "the mail server cannot be reached (" + detail +
                       "); check host and port of [email] smtp_url";
        return;
      case CURLE_OPERATION_TIMEDOUT:
        result.error = "the mail server did not answer in time";
        // What a server that waits for TLS looks like to one that waits for its greeting.
        if (command_.empty()) {
          result.error +=
              "; check [email] smtp_url: port 465 takes smtps://, ports 587 and 25 take smtp://";
        }
        return;
      case CURLE_ABORTED_BY_CALLBACK:
        result.error = "broken off, since the server stops";
        return;
      case CURLE_USE_SSL_FAILED:
        result.error =
            "the mail server offers no STARTTLS, so nothing was sent; use smtps://, or set [email] "
            "smtp_tls = false to send in the clear";
        return;
      case CURLE_SSL_CACERT_BADFILE:
        result.error = "[email] ca_file cannot be read as PEM: " + options_.ca_file;
        return;
      case CURLE_PEER_FAILED_VERIFICATION:
        result.error = "the mail server's certificate is not trusted (" + detail +
                       "); set [email] ca_file to its authority's, or use the name it is made for "
                       "in smtp_url";
        return;
      case CURLE_SSL_CONNECT_ERROR:
        result.error = "TLS with the mail server failed (" + detail +
                       "); check [email] smtp_url: port 465 takes smtps://, ports 587 and 25 take "
                       "smtp://";
        return;
      default:
        break;
    }
    if (reply_.empty()) {
      result.error = "the connection to the mail server failed (" + detail + ")";
    } else {
      judge_reply(code, result);
    }
  }

  void judge_reply(CURLcode code, SmtpResult& result) const {
    const bool permanent = result.code >= 500 && result.code < 600;
    result.error = "the mail server said " + reply_;
    if (!permanent && result.code >= 400) return;
    if (code == CURLE_LOGIN_DENIED || result.code == 535) {
      result.kind = SmtpResult::Kind::wrong_login;
      result.error += permanent
                          ? "; user or password is wrong: check [email] smtp_user and smtp_password"
                          : "; it takes no way of logging in that we know";
    } else if (result.code == 530 || (options_.user.empty() && command_ == "RCPT" && is_policy())) {
      result.error += "; it wants a login: set [email] smtp_user and smtp_password";
    } else if (permanent && command_ == "MAIL") {
      result.error += "; it does not let us send as this sender: check [email] from";
    } else if (permanent && (command_ == "RCPT" || command_ == "DATA")) {
      result.kind = SmtpResult::Kind::refused;
    }
  }

  // `550 5.7.1 Relaying denied`: not about the recipient but about us.
  bool is_policy() const {
    return reply_.find(" 5.7.1 ") != std::string::npos || reply_.find("elay") != std::string::npos;
  }

  static int listen(CURL*, curl_infotype type, char* bytes, std::size_t size, void* self) {
    auto& line = *static_cast<Line*>(self);
    const std::string_view text(bytes, size);
    if (type == CURLINFO_HEADER_OUT) {
      // libcurl takes its leave after an error; that says nothing about it.
      line.leaving_ = text.starts_with("QUIT");
      if (line.leaving_) return 0;
      // Its first word alone: the rest may be a password.
      line.command_ = text.substr(0, text.find_first_of(" \r\n"));
      line.reply_.clear();
    } else if (type == CURLINFO_HEADER_IN && !line.leaving_) {
      line.hear(text);
    }
    return 0;
  }

  // Replies of several lines repeat their code in each.
  void hear(std::string_view text) {
    if (taken_ > 0 && reply_.starts_with("354")) reply_.clear();
    if (!reply_.empty() && text.size() > 4) text.remove_prefix(4);
    if (!reply_.empty()) reply_ += ' ';
    for (const char c : text) {
      if (c == '\r' || c == '\n' || reply_.size() >= kMostReply) continue;
      reply_ += c >= 0x20 && c < 0x7f ? c : '?';
    }
  }

  static std::size_t read(char* buffer, std::size_t size, std::size_t count, void* self) {
    auto& line = *static_cast<Line*>(self);
    const auto part = line.message_.substr(line.taken_, size * count);
    std::memcpy(buffer, part.data(), part.size());
    line.taken_ += part.size();
    return part.size();
  }

  static std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }

  static int go_on(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto* cancelled = static_cast<Line*>(self)->cancelled_;
    return cancelled && *cancelled && (*cancelled)() ? 1 : 0;
  }

  static curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  const SmtpOptions& options_;
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  char error_[CURL_ERROR_SIZE] = "";
  std::string command_;  // The last that was sent.
  std::string reply_;    // To it; empty: none yet.
  bool leaving_ = false;
  std::string_view message_;
  std::size_t taken_ = 0;  // Of the message.
  const std::function<bool()>* cancelled_ = nullptr;
};

class CurlSmtp final : public MailSender {
 public:
  explicit CurlSmtp(SmtpOptions options) : options_(std::move(options)) {}

  SmtpResult send(const std::string& from, const std::string& to, const std::string& message,
                  const std::function<bool()>& cancelled) override {
    if (!is_safe_address(from)) {
      return {SmtpResult::Kind::failed, 0, "the sender is no mail address; check [email] from"};
    }
    if (!is_safe_address(to)) {
      return {SmtpResult::Kind::refused, 0, "the recipient is no mail address"};
    }
    const auto started = Steady::now();
    auto line = take();
    SmtpResult result = line->send(from, to, message, cancelled, options_.total_timeout);
    if (result.kind == SmtpResult::Kind::failed && line->was_stale()) {
      line = std::make_unique<Line>(options_);
      const auto left =
          options_.total_timeout - std::chrono::duration_cast<Duration>(Steady::now() - started);
      result = line->send(from, to, message, cancelled, std::max(left, Duration{1000}));
    }
    // A line in an unclear state is not worth keeping.
    if (result.kind == SmtpResult::Kind::sent) give_back(std::move(line));
    return result;
  }

  SmtpResult check() override { return Line(options_).check(); }

 private:
  static constexpr std::size_t kIdle = 4;
  using Idle = std::vector<std::unique_ptr<Line>>;

  std::unique_ptr<Line> take() {
    auto line = idle_.with([](Idle& idle) -> std::unique_ptr<Line> {
      if (idle.empty()) return nullptr;
      auto taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    });
    return line ? std::move(line) : std::make_unique<Line>(options_);
  }

  void give_back(std::unique_ptr<Line> line) {
    idle_.with([&](Idle& idle) {
      if (idle.size() < kIdle) idle.push_back(std::move(line));
    });
  }

  const SmtpOptions options_;
  Guarded<Idle> idle_;
};

}  // namespace

std::unique_ptr<MailSender> make_smtp_client(SmtpOptions options) {
  return std::make_unique<CurlSmtp>(std::move(options));
}

}  // namespace holdpoint
