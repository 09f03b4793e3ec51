#include "net/imap_client.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/guarded.h"

using namespace holdpoint;
using namespace std::chrono_literals;

namespace {

// An IMAP server that says what the test wants. `respond` gets a command without its tag and gives
// the bytes to send; `$` stands for the tag. Nothing: it keeps silent.
class ScriptedImap {
 public:
  using Respond = std::function<std::optional<std::string>(const std::string& command)>;
  explicit ScriptedImap(Respond respond, std::string capabilities = "IMAP4rev1 IDLE")
      : respond_(std::move(respond)), capabilities_(std::move(capabilities)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 8) == 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedImap() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    const int open = connection_.load();
    if (open >= 0) shutdown(open, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  ImapOptions options() const {
    ImapOptions options;
    options.url = "imap://127.0.0.1:" + std::to_string(port_);
    options.user = "reply";
    options.password = Secret("secret");
    options.tls = false;
    options.connect_deadline = 10s;
    options.deadline = 10s;
    return options;
  }
  std::vector<std::string> commands() {
    return commands_.with([](auto& all) { return all; });
  }

 private:
  void serve() {
    while (!stopping_) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      connection_ = connection;
      talk(connection);
      connection_ = -1;
      close(connection);
    }
  }
  void talk(int connection) {
    say(connection, "* OK ready\r\n");
    std::string buffer;
    char bytes[4096];
    ssize_t size;
    while (!stopping_ && (size = recv(connection, bytes, sizeof bytes, 0)) > 0) {
      buffer.append(bytes, static_cast<std::size_t>(size));
      std::size_t end;
      while ((end = buffer.find("\r\n")) != std::string::npos) {
        const std::string line = buffer.substr(0, end);
        buffer.erase(0, end + 2);
        if (!answer(connection, line)) return;
      }
    }
  }
  bool answer(int connection, const std::string& line) {
    // DONE has no tag: it ends the command before.
    const bool done = line == "DONE";
    const std::string tag = done ? idle_tag_ : line.substr(0, line.find(' '));
    const std::string command = done ? line : line.substr(std::min(line.size(), tag.size() + 1));
    if (command == "IDLE") idle_tag_ = tag;
    commands_.with([&](auto& all) { all.push_back(command); });
    auto reply = respond_(command);
    if (reply == "default") {
      if (command == "CAPABILITY") {
        reply = "* CAPABILITY " + capabilities_ + "\r\n$ OK\r\n";
      } else if (command == "IDLE") {
        reply = "+ idling\r\n";
      } else {
        reply = "$ OK done\r\n";
      }
    }
    if (!reply) return true;
    if (*reply == "hang up") return false;
    std::string bytes;
    for (const char c : *reply) {
      if (c == '$') {
        bytes += tag;
      } else {
        bytes += c;
      }
    }
    say(connection, bytes);
    return true;
  }
  static void say(int connection, const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto one = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (one <= 0) return;
      sent += static_cast<std::size_t>(one);
    }
  }

  const Respond respond_;
  const std::string capabilities_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connection_{-1};
  std::atomic<bool> stopping_{false};
  std::string idle_tag_;
  Guarded<std::vector<std::string>> commands_;
  std::thread thread_;
};

// Usual answers, but for commands that begin as one of these.
ScriptedImap::Respond but(std::vector<std::pair<std::string, std::string>> special) {
  return [special = std::move(special)](const std::string& command) -> std::optional<std::string> {
    for (const auto& [begin, reply] : special) {
      if (!command.starts_with(begin)) continue;
      if (reply.empty()) return std::nullopt;
      return reply;
    }
    return "default";
  };
}

bool never() { return false; }

// What goes wrong, in words; empty if nothing does.
std::string trouble(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const ImapError& e) {
    return e.what();
  }
}
bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

using Kind = ImapClient::Fetched::Kind;

}  // namespace

TEST_CASE("unseen mails are found, fetched as they are, and marked") {
  const std::string mail = "From: a@x\r\n\r\nh1 OK is no end of it\r\n) either\r\n";
  ScriptedImap server(
      but({{"UID SEARCH", "* SEARCH 9 3\r\n* SEARCH\r\n* 4 EXPUNGE\r\n* search 12\r\n$ OK\r\n"},
           {"UID FETCH 3 ", "* 1 FETCH (FLAGS () UID 3)\r\n* 2 FETCH (UID 3 BODY[]<0> {" +
                                std::to_string(mail.size()) + "}\r\n" + mail +
                                " FLAGS ())\r\n$ OK\r\n"},
           {"UID FETCH 9 ", "$ OK nothing\r\n"},
           {"UID FETCH 12 ", "* 5 FETCH (BODY[]<0> {3}\r\nabc UID 12)\r\n$ OK\r\n"}}));
  const auto client = open_imap(server.options(), never);
  CHECK(client->unseen() == std::vector<ImapClient::Uid>{3, 9, 12});
  CHECK(client->fetch(3).mail == mail);
  CHECK(client->fetch(9).kind == Kind::gone);
  CHECK(client->fetch(12).mail == "abc");
  client->mark_seen(3);
  const auto commands = server.commands();
  CHECK(commands.back() == "UID STORE 3 +FLAGS.SILENT (\\Seen)");
  CHECK(std::find(commands.begin(), commands.end(), "SELECT \"INBOX\"") != commands.end());
}

TEST_CASE("a mail that is too large is not kept, whatever it says of itself") {
  ScriptedImap server(
      but({{"UID FETCH", "* 1 FETCH (UID 3 BODY[]<0> {11}\r\n12345678901)\r\n$ OK\r\n"}}));
  auto options = server.options();
  options.max_mail_bytes = 10;
  auto client = open_imap(options, never);
  CHECK(client->fetch(3).kind == Kind::too_large);
  CHECK(server.commands().back() == "UID FETCH 3 (UID BODY.PEEK[]<0.11>)");
  client.reset();
  options.max_mail_bytes = 9;
  client = open_imap(options, never);
  CHECK(holds(trouble([&] { client->fetch(3); }), "more than it was asked for"));
}

TEST_CASE("what the server refuses is said with the setting to mend") {
  CHECK(holds(trouble([] {
                ScriptedImap server(but({{"SELECT", "$ NO [NONEXISTENT] no such folder\r\n"}}));
                open_imap(server.options(), never);
              }),
              "imap_folder \"INBOX\": [NONEXISTENT] no such folder"));
  CHECK(holds(trouble([] {
                ScriptedImap server(but({{"SELECT", "$ OK [READ-ONLY] done\r\n"}}));
                open_imap(server.options(), never);
              }),
              "may only read"));
  CHECK(holds(trouble([] {
                ScriptedImap server(but({{"LOGIN", "$ NO wrong\r\n"}}));
                open_imap(server.options(), never);
              }),
              "imap_user"));
  CHECK(holds(trouble([] {
                ScriptedImap server(but({}));
                auto options = server.options();
                options.tls = true;
                open_imap(options, never);
              }),
              "imap_tls"));
  CHECK(holds(trouble([] {
                ScriptedImap server(but({}));
                auto options = server.options();
                options.folder = "a\r\nb";
                open_imap(options, never);
              }),
              "imap_folder"));
  CHECK(holds(trouble([] {
                ImapOptions options;
                options.url = "http://127.0.0.1:1";
                open_imap(options, never);
              }),
              "imap_url"));
}

TEST_CASE("waiting ends with new mail, and at once if some came meanwhile") {
  ScriptedImap server(but({{"IDLE", "+ idling\r\n* OK still here\r\n* 7 EXISTS\r\n"}}));
  const auto client = open_imap(server.options(), never);
  CHECK(client->can_wait());
  client->unseen();
  const auto began = std::chrono::steady_clock::now();
  CHECK(client->wait_for_mail(60s));
  CHECK(std::chrono::steady_clock::now() - began < 20s);
  CHECK(server.commands().back() == "DONE");
  // The word came with another command's answer.
  ScriptedImap chatty(but({{"UID STORE", "* 8 EXISTS\r\n$ OK\r\n"}}));
  const auto other = open_imap(chatty.options(), never);
  other->unseen();
  other->mark_seen(1);
  CHECK(other->wait_for_mail(60s));
  CHECK(chatty.commands().back().starts_with("UID STORE"));
}

TEST_CASE("waiting ends by itself after its time, and the connection goes on") {
  ScriptedImap server(but({{"UID SEARCH", "* SEARCH 5\r\n$ OK\r\n"}}));
  const auto client = open_imap(server.options(), never);
  client->unseen();
  CHECK_FALSE(client->wait_for_mail(50ms));
  CHECK(client->unseen().size() == 1);
}

TEST_CASE("a server without IDLE is known for one, before or after it is asked") {
  ScriptedImap old(but({}), "IMAP4rev1");
  CHECK_FALSE(open_imap(old.options(), never)->can_wait());
  ScriptedImap liar(but({{"IDLE", "$ BAD no\r\n"}}));
  const auto client = open_imap(liar.options(), never);
  client->unseen();
  CHECK_FALSE(client->wait_for_mail(60s));
  CHECK_FALSE(client->can_wait());
}

TEST_CASE("whoever waits is let go when cancelled") {
  for (const char* what : {"IDLE", "UID SEARCH", "nothing"}) {
    ScriptedImap server(but({{what, std::string(what) == "IDLE" ? "+ idling\r\n" : ""}}));
    std::atomic<bool> cancelled{false};
    const auto client = open_imap(server.options(), [&] { return cancelled.load(); });
    cancelled = true;
    const auto began = std::chrono::steady_clock::now();
    (void)trouble([&] { client->wait_for_mail(60s); });
    (void)trouble([&] { client->unseen(); });
    CHECK(std::chrono::steady_clock::now() - began < 5s);
  }
  ScriptedImap mute(but({{"CAPABILITY", ""}}));
  const auto began = std::chrono::steady_clock::now();
  CHECK(trouble([&] { open_imap(mute.options(), [] { return true; }); }) == "cancelled");
  CHECK(std::chrono::steady_clock::now() - began < 5s);
}

TEST_CASE("a server that hangs, hangs up or makes no sense is an error, never a wait without end") {
  const auto with = [](const std::string& reply, Duration deadline = 200ms) {
    ScriptedImap server(but({{"UID SEARCH", reply}}));
    auto options = server.options();
    options.deadline = deadline;
    const auto client = open_imap(options, never);
    return trouble([&] { client->unseen(); });
  };
  CHECK(holds(with(""), "in time"));
  CHECK(holds(with("hang up"), "hung up"));
  CHECK(holds(with("* BYE shutting down\r\n"), "shutting down"));
  CHECK(holds(with("* SEARCH 1 2"), "in the middle"));
  CHECK(holds(with("* SEARCH {5}\r\nab"), "in the middle"));
  CHECK(holds(with("* SEARCH {99999999999}\r\n"), "more than it was asked for"));
  CHECK(holds(with("$ NO not today\r\n"), "not today"));
  // Not cut off by the clock, however slowly it comes.
  CHECK(holds(with("* SEARCH " + std::string(9 << 20, '1'), 30s), "without end"));
  CHECK(with("* SEARCH -1 x 99999999999999999999 0 4294967296 {}\r\n\xff\xfe\r\n$ OK\r\n") == "");
}
