#include "net/imap_client.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "net/imap_connection.h"

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMostLineBytes = std::size_t{8} << 20;

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
        if (!invited && !connection_.cancelled())
          throw ImapError("the mail server does not begin to wait");
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
    // In the middle of a command: nothing else can be said on this connection.
    if (connection_.cancelled()) return news_;
    connection_.send("DONE\r\n");
    finish(tag, {});
    return news_;
  }

 private:
  using OnLine = std::function<void(const Line&)>;

  std::string next_tag() { return "h" + std::to_string(++tags_); }

  // The next line, or nothing at `end`. Once a line has begun, the rest of it is owed.
  std::optional<Line> read_line(Steady::time_point end) {
    Line line;
    bool begun = !buffer_.empty();
    const auto need = [&] {
      const bool came = connection_.receive(
          buffer_, begun ? Steady::now() + connection_.options().deadline : end);
      if (!came && begun)
        throw ImapError(connection_.cancelled()
                            ? "cancelled"
                            : "the mail server stopped in the middle of a line");
      begun = begun || came;
      return came;
    };
    while (true) {
      std::size_t newline, looked_at = 0;
      while ((newline = buffer_.find("\r\n", looked_at)) == std::string::npos) {
        if (buffer_.size() > kMostLineBytes)
          throw ImapError("the mail server sends lines without end");
        looked_at = buffer_.empty() ? 0 : buffer_.size() - 1;  // It may end between the two.
        if (!need()) return std::nullopt;
      }
      std::string part = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 2);
      const auto open = part.rfind('{');
      const bool literal = part.ends_with('}') && open != std::string::npos;
      const auto size = literal ? number_at(std::string_view(part).substr(open + 1)) : std::nullopt;
      if (!size) {
        line.text += part;
        if (line.text.size() > kMostLineBytes)
          throw ImapError("the mail server sends lines without end");
        return line;
      }
      if (*size > connection_.options().max_mail_bytes + 1 || line.literals.size() > 100) {
        throw ImapError("the mail server sends more than it was asked for");
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
    if (text.starts_with("* BYE"))
      throw ImapError("the mail server hung up: " + shown(line.text.substr(5)));
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
        throw ImapError(connection_.cancelled() ? "cancelled"
                                                : "the mail server does not answer in time");
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
    throw ImapError("the mail server refuses " + text.substr(0, text.find(' ', 4)) + ": " +
                    reply.text);
  }

  ImapConnection connection_;
  std::string buffer_;  // What came and was not read yet.
  std::int64_t tags_ = 0;
  bool can_wait_ = false;
  bool news_ = false;
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
