#include "net/imap_client.h"

#include <curl/curl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMostLineBytes = std::size_t{8} << 20;
constexpr Duration kBreath{500};  // How often `cancelled` is asked.

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return out;
}

bool has_word(const std::string& line, std::string_view word) {
  const std::string padded = " " + line + " ";
  return padded.find(" " + std::string(word) + " ") != std::string::npos;
}

std::optional<std::uint64_t> number_at(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop == text.data()) return std::nullopt;
  return number;
}

// A name as IMAP takes it anywhere. Nothing in it may end the line.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      throw ImapError(
          "[email] imap_folder must be plain ASCII; write other letters in IMAP's "
          "modified UTF-7, as the server lists them");
    }
    out += c;
  }
  return out + "\"";
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 200));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return out;
}

// libcurl's part: to connect, change over to TLS and log in. What comes after is ours to say.
class Connection {
 public:
  Connection(const ImapOptions& options, std::function<bool()> cancelled)
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
    set(CURLOPT_XFERINFOFUNCTION, &Connection::progress);
    // Without it libcurl would write the server's lines to standard output.
    set(CURLOPT_WRITEFUNCTION, &Connection::drop);
    set(CURLOPT_ERRORBUFFER, error_);
    const CURLcode code = curl_easy_perform(handle_.get());
    if (code != CURLE_OK) throw ImapError(in_words(code));
    curl_easy_getinfo(handle_.get(), CURLINFO_ACTIVESOCKET, &socket_);
    if (socket_ == CURL_SOCKET_BAD) throw ImapError("the mail server hung up after the login");
  }
  Connection(const Connection&) = delete;
  // libcurl says LOGOUT when it lets go and waits for the reply; with nothing left to read it does
  // not.
  ~Connection() {
    if (socket_ != CURL_SOCKET_BAD) shutdown(socket_, SHUT_RD);
  }

  bool cancelled() const { return cancelled_ && cancelled_(); }

  void send(std::string_view bytes) {
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

  // More bytes, appended. False: none came before `end`, or `cancelled`.
  bool receive(std::string& to, Steady::time_point end) {
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

  const ImapOptions& options() const { return options_; }

 private:
  void pause(short events, Steady::time_point end = Steady::time_point::max()) const {
    const auto left = end == Steady::time_point::max()
                          ? kBreath
                          : std::chrono::ceil<Duration>(end - Steady::now());
    pollfd one{socket_, events, 0};
    poll(&one, 1, static_cast<int>(std::clamp(left, Duration{0}, kBreath).count()));
  }

  static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const Connection*>(self)->cancelled() ? 1 : 0;
  }
  static std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }

  std::string in_words(CURLcode code) const {
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

  const ImapOptions options_;
  const std::function<bool()> cancelled_;
  char error_[CURL_ERROR_SIZE] = "";
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
};

// One line of the server, with the literals that it held taken out.
struct Line {
  std::string text;  // A literal stands as `{}`.
  std::vector<std::string> literals;
};

class CurlImap final : public ImapClient {
 public:
  CurlImap(const ImapOptions& options, std::function<bool()> cancelled)
      : connection_(options, std::move(cancelled)) {
    command("CAPABILITY", [&](const Line& line) {
      if (line.text.starts_with("* CAPABILITY")) {
        can_wait_ = can_wait_ || has_word(upper(line.text), "IDLE");
      }
    });
    const auto [status, text] = command("SELECT" + (" " + quoted(options.folder)), {});
    if (status != "OK") {
      throw ImapError("the mail server does not open [email] imap_folder \"" + options.folder +
                      "\": " + text);
    }
    if (upper(text).starts_with("[READ-ONLY]")) {
      throw ImapError("[email] imap_user may only read [email] imap_folder \"" + options.folder +
                      "\", and must mark mails as seen, too");
    }
  }

  ~CurlImap() override {
    try {
      if (healthy_) connection_.send("z LOGOUT\r\n");
    } catch (const ImapError&) {
      // It hung up first.
    }
  }

  std::vector<Uid> unseen() override {
    std::vector<Uid> found;
    news_ = false;
    demand("UID SEARCH UNSEEN", [&](const Line& line) {
      if (!upper(line.text).starts_with("* SEARCH")) return;
      std::string_view rest = std::string_view(line.text).substr(8);
      while (!rest.empty()) {
        const auto begin = rest.find_first_not_of(' ');
        if (begin == std::string_view::npos) break;
        rest.remove_prefix(begin);
        const auto number = number_at(rest);
        if (number && *number > 0 && *number <= 0xffffffff) {
          found.push_back(static_cast<Uid>(*number));
        }
        rest.remove_prefix(std::min(rest.find(' '), rest.size()));
      }
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  Fetched fetch(Uid uid) override {
    const std::size_t most = connection_.options().max_mail_bytes;
    Fetched fetched;
    // One byte more than there may be tells a mail that is too large, whatever size it claims.
    demand("UID FETCH " + std::to_string(uid) + " (UID BODY.PEEK[]<0." + std::to_string(most + 1) +
               ">)",
           [&](const Line& line) {
             const std::string text = upper(line.text);
             const auto at = text.find("UID ");
             if (text.find(" FETCH (") == std::string::npos || at == std::string::npos ||
                 number_at(std::string_view(text).substr(at + 4)) != uid ||
                 text.find("BODY[]") == std::string::npos) {
               return;
             }
             // An empty mail may come as "" or NIL.
             fetched.kind = Fetched::Kind::here;
             if (!line.literals.empty()) fetched.mail = line.literals.front();
           });
    if (fetched.mail.size() > most) return {Fetched::Kind::too_large, ""};
    return fetched;
  }

  void mark_seen(Uid uid) override {
    demand("UID STORE " + std::to_string(uid) + " +FLAGS.SILENT (\\Seen)", {});
  }

  bool can_wait() const override { return can_wait_; }

  bool wait_for_mail(Duration at_most) override {
    if (news_ || connection_.cancelled()) return news_;
    const std::string tag = next_tag();
    connection_.send(tag + " IDLE\r\n");
    const auto end = Steady::now() + at_most;
    bool invited = false;
    const auto invitation_due = Steady::now() + connection_.options().deadline;
    while (!news_) {
      const auto line = read_line(invited ? end : invitation_due);
      if (!line) {
        if (!invited && !connection_.cancelled()) fail("the mail server does not begin to wait");
        break;
      }
      if (line->text.starts_with("+")) {
        invited = true;
      } else if (line->text.starts_with(tag + " ")) {
        // It takes no IDLE after all.
        can_wait_ = false;
        return news_;
      } else {
        note(*line);
      }
    }
    if (connection_.cancelled()) {
      healthy_ = false;  // In the middle of a command: nothing else can be said.
      return news_;
    }
    connection_.send("DONE\r\n");
    finish(tag, {});
    return news_;
  }

 private:
  using OnLine = std::function<void(const Line&)>;

  [[noreturn]] void fail(const std::string& what) {
    healthy_ = false;
    throw ImapError(what);
  }

  std::string next_tag() { return "h" + std::to_string(++tags_); }

  // Makes the buffer hold at least one byte more. False at `end` or when cancelled.
  bool more(Steady::time_point end) {
    try {
      return connection_.receive(buffer_, end);
    } catch (const ImapError&) {
      healthy_ = false;
      throw;
    }
  }

  // The next line, or nothing at `end`. Once a line has begun, the rest of it is owed.
  std::optional<Line> read_line(Steady::time_point end) {
    Line line;
    bool begun = !buffer_.empty();
    const auto need = [&] {
      const bool came = more(begun ? Steady::now() + connection_.options().deadline : end);
      if (!came && begun)
        fail(connection_.cancelled() ? "cancelled"
                                     : "the mail server stopped in the middle of a line");
      begun = begun || came;
      return came;
    };
    while (true) {
      std::size_t newline;
      while ((newline = buffer_.find("\r\n")) == std::string::npos) {
        if (buffer_.size() > kMostLineBytes) fail("the mail server sends lines without end");
        if (!need()) return std::nullopt;
      }
      std::string part = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 2);
      const auto open = part.rfind('{');
      const bool literal = part.ends_with('}') && open != std::string::npos;
      const auto size = literal ? number_at(std::string_view(part).substr(open + 1)) : std::nullopt;
      if (!size) {
        line.text += part;
        if (line.text.size() > kMostLineBytes) fail("the mail server sends lines without end");
        return line;
      }
      if (*size > connection_.options().max_mail_bytes + 1 || line.literals.size() > 100) {
        fail("the mail server sends more than it was asked for");
      }
      while (buffer_.size() < *size) {
        begun = true;
        need();
      }
      line.text += part.substr(0, open) + "{}";
      line.literals.push_back(buffer_.substr(0, *size));
      buffer_.erase(0, *size);
    }
  }

  // What the server says on its own account, at any time.
  void note(const Line& line) {
    const std::string text = upper(line.text);
    if (text.starts_with("* BYE")) fail("the mail server hung up: " + shown(line.text.substr(5)));
    if (text.starts_with("* ") && (text.ends_with(" EXISTS") || text.ends_with(" RECENT"))) {
      news_ = true;
    }
  }

  struct Reply {
    std::string status;  // OK, NO or BAD.
    std::string text;
  };
  Reply finish(const std::string& tag, const OnLine& on_line) {
    while (true) {
      const auto line = read_line(Steady::now() + connection_.options().deadline);
      if (!line) {
        fail(connection_.cancelled() ? "cancelled" : "the mail server does not answer in time");
      }
      if (line->text.starts_with(tag + " ")) {
        const std::string rest = line->text.substr(tag.size() + 1);
        const auto space = std::min(rest.find(' '), rest.size());
        return {upper(rest.substr(0, space)), shown(rest.substr(std::min(space + 1, rest.size())))};
      }
      note(*line);
      if (on_line) on_line(*line);
    }
  }

  Reply command(const std::string& text, const OnLine& on_line) {
    const std::string tag = next_tag();
    connection_.send(tag + " " + text + "\r\n");
    return finish(tag, on_line);
  }

  void demand(const std::string& text, const OnLine& on_line) {
    const Reply reply = command(text, on_line);
    if (reply.status == "OK") return;
    fail("the mail server refuses " + text.substr(0, text.find(' ', 4)) + ": " + reply.text);
  }

  Connection connection_;
  std::string buffer_;  // What came and was not read yet.
  std::int64_t tags_ = 0;
  bool can_wait_ = false;
  bool news_ = false;
  bool healthy_ = true;
};

}  // namespace

std::unique_ptr<ImapClient> open_imap(const ImapOptions& options, std::function<bool()> cancelled) {
  return std::make_unique<CurlImap>(options, std::move(cancelled));
}

std::string check_imap(const ImapOptions& options) {
  const auto client = open_imap(options, {});
  const auto count = client->unseen().size();
  return "\"" + options.folder + "\" is open, with " + std::to_string(count) + " unseen mail" +
         (count == 1 ? "" : "s") + "; the server " +
         (client->can_wait() ? "tells of new mail at once" : "is asked for new mail every 30 s");
}

}  // namespace holdpoint
