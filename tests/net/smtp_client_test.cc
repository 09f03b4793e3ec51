#include "net/smtp_client.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/net/tiny_server.h"
#include "tests/net/tiny_smtp_server.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::TinyServer;
using test::TinySmtpServer;
using Kind = SmtpResult::Kind;

constexpr const char* kFrom = "holdpoint@example.org";
constexpr const char* kTo = "ana@example.org";
const std::string kMessage = "Subject: hi\r\n\r\nhello\r\n";

SmtpOptions in_the_clear(const std::string& url) {
  SmtpOptions options;
  options.url = url;
  options.tls_required = false;
  return options;
}

SmtpOptions with_login(const TinySmtpServer& server) {
  SmtpOptions options = in_the_clear(server.url());
  options.user = "holdpoint";
  options.password = Secret("s3cret");
  return options;
}

// Says `reply` to every line that begins with `word`.
TinySmtpServer::Say to(std::string word, std::string reply) {
  return [word = std::move(word), reply = std::move(reply)](const std::string& line) {
    return line.starts_with(word) && !word.empty() ? std::optional(reply) : std::nullopt;
  };
}

SmtpResult send_one(MailSender& sender) { return sender.send(kFrom, kTo, kMessage, nullptr); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a mail arrives with its envelope and every dot in place") {
  TinySmtpServer server;
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  const std::string message = "Subject: hi\r\n\r\n.\r\n..\r\n.dot\r\nend\r\n.\r\n";
  const SmtpResult result = sender->send(kFrom, kTo, message, [] { return false; });
  CHECK(result.error == "");
  CHECK(result.kind == Kind::sent);
  CHECK(result.code == 250);
  REQUIRE(server.mails().size() == 1);
  CHECK(server.mails()[0].from.starts_with("MAIL FROM:<holdpoint@example.org>"));
  CHECK(server.mails()[0].to == "RCPT TO:<ana@example.org>");
  CHECK(server.mails()[0].data == message);
}

TEST_CASE("a connection is kept for the next mail") {
  TinySmtpServer server;
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  for (int i = 0; i < 5; ++i) {
    const std::string message = "Subject: " + std::to_string(i) + "\r\n\r\nx\r\n";
    CHECK(sender->send(kFrom, kTo, message, nullptr).kind == Kind::sent);
    CHECK(server.mails().back().data == message);
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("a kept connection that the server is done with is no failure") {
  std::string end;
  SUBCASE("without a word") { end = "hang up"; }
  SUBCASE("with a word") { end = "421 4.4.2 Idle for too long"; }
  std::atomic<int> mails = 0;
  TinySmtpServer server([&](const std::string& line) -> std::optional<std::string> {
    if (line.starts_with("MAIL") && ++mails == 2) return end;
    return std::nullopt;
  });
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  for (int i = 0; i < 3; ++i) CHECK(send_one(*sender).kind == Kind::sent);
  CHECK(server.mails().size() == 3);
  CHECK(server.connections() == 2);
}

TEST_CASE("a reply of 4xx is tried again, wherever it comes") {
  for (const std::string at : {"EHLO", "MAIL", "RCPT", "DATA", "."}) {
    CAPTURE(at);
    // To EHLO libcurl would try HELO next.
    TinySmtpServer server([&](const std::string& line) -> std::optional<std::string> {
      if (line.starts_with(at) || (at == "EHLO" && line.starts_with("HELO"))) {
        return "451 4.7.1 Come back later";
      }
      return std::nullopt;
    });
    const SmtpResult result = send_one(*make_smtp_client(in_the_clear(server.url())));
    CHECK(result.kind == Kind::failed);
    CHECK(result.code == 451);
    CHECK(result.error == "the mail server said 451 4.7.1 Come back later");
    CHECK(server.mails().empty());
  }
}

TEST_CASE("a recipient or message that the server refuses for good is not tried again") {
  for (const std::string at : {"RCPT", "DATA", "."}) {
    CAPTURE(at);
    TinySmtpServer server(to(at, "550-5.1.1 No such user\r\n550 5.1.1 here"));
    const SmtpResult result = send_one(*make_smtp_client(in_the_clear(server.url())));
    CHECK(result.kind == Kind::refused);
    CHECK(result.code == 550);
    CHECK(result.error == "the mail server said 550-5.1.1 No such user 5.1.1 here");
  }
}

TEST_CASE("what the operator can mend is tried again, and the error names the setting") {
  SUBCASE("the sender") {
    TinySmtpServer server(to("MAIL", "553 5.7.1 Not your address"));
    const SmtpResult result = send_one(*make_smtp_client(in_the_clear(server.url())));
    CHECK(result.kind == Kind::failed);
    CHECK(has(result.error, "check [email] from"));
  }
  SUBCASE("no login where one is wanted") {
    for (const std::string reply : {"530 5.7.0 Authentication required",
                                    "554 5.7.1 <ana@example.org>: Relay access denied"}) {
      TinySmtpServer server(to("RCPT", reply));
      const SmtpResult result = send_one(*make_smtp_client(in_the_clear(server.url())));
      CHECK(result.kind == Kind::failed);
      CHECK(has(result.error, "set [email] smtp_user and smtp_password"));
    }
  }
  SUBCASE("a wrong password") {
    TinySmtpServer server(to("AUTH", "535 5.7.8 Bad credentials"), "250-AUTH PLAIN\r\n");
    const SmtpResult result = send_one(*make_smtp_client(with_login(server)));
    CHECK(result.kind == Kind::wrong_login);
    CHECK(result.code == 535);
    CHECK(result.error ==
          "the mail server said 535 5.7.8 Bad credentials; user or password is wrong: check "
          "[email] smtp_user and smtp_password");
  }
  SUBCASE("a login that does not work just now") {
    TinySmtpServer server(to("AUTH", "454 4.7.0 Try later"), "250-AUTH PLAIN\r\n");
    const SmtpResult result = send_one(*make_smtp_client(with_login(server)));
    CHECK(result.kind == Kind::failed);
    CHECK(result.error == "the mail server said 454 4.7.0 Try later");
  }
  SUBCASE("no STARTTLS") {
    TinySmtpServer server(nullptr, "250-AUTH PLAIN\r\n");
    SmtpOptions options = with_login(server);
    options.tls_required = true;
    const SmtpResult result = send_one(*make_smtp_client(options));
    CHECK(result.kind == Kind::failed);
    CHECK(result.code == 0);
    CHECK(has(result.error, "offers no STARTTLS, so nothing was sent"));
    CHECK(has(result.error, "smtp_tls = false"));
    for (const auto& line : server.lines()) {
      CAPTURE(line);
      const bool harmless = line.starts_with("EHLO") || line == "QUIT";
      CHECK(harmless);
    }
  }
  SUBCASE("STARTTLS is offered and then refused") {
    TinySmtpServer server(to("STARTTLS", "454 4.7.0 TLS not available"), "250-STARTTLS\r\n");
    SmtpOptions options = in_the_clear(server.url());
    options.tls_required = true;
    const SmtpResult result = send_one(*make_smtp_client(options));
    CHECK(result.kind == Kind::failed);
    CHECK(server.mails().empty());
    CHECK(has(result.error, "STARTTLS"));
  }
  SUBCASE("TLS where there is none") {
    TinySmtpServer server;
    const SmtpResult result = send_one(*make_smtp_client(in_the_clear(server.url("smtps"))));
    CHECK(result.kind == Kind::failed);
    CHECK(has(result.error, "port 465 takes smtps://"));
  }
  SUBCASE("none where there is TLS: both wait for the other") {
    TinyServer silent([](const std::string&) { return TinyServer::Reply{}; });
    SmtpOptions options = in_the_clear("smtp" + silent.url("").substr(4));
    options.connect_timeout = options.total_timeout = 200ms;
    const SmtpResult result = send_one(*make_smtp_client(options));
    CHECK(result.kind == Kind::failed);
    CHECK(has(result.error, "did not answer in time"));
    CHECK(has(result.error, "port 465 takes smtps://"));
  }
  SUBCASE("nobody there") {
    std::string url;
    {
      TinySmtpServer gone;
      url = gone.url();
    }
    const SmtpResult result = send_one(*make_smtp_client(in_the_clear(url)));
    CHECK(result.kind == Kind::failed);
    CHECK(result.code == 0);
    CHECK(has(result.error, "cannot be reached"));
    CHECK(has(result.error, "smtp_url"));
  }
  SUBCASE("no such name") {
    const SmtpResult result =
        send_one(*make_smtp_client(in_the_clear("smtp://mail.example.invalid:25")));
    CHECK(result.kind == Kind::failed);
    CHECK(has(result.error, "check [email] smtp_url"));
  }
  SUBCASE("no mail URL") {
    for (const char* url : {"", "http://127.0.0.1/", "file:///etc/passwd"}) {
      const SmtpResult result = send_one(*make_smtp_client(in_the_clear(url)));
      CHECK(result.kind == Kind::failed);
      CHECK(has(result.error, "[email] smtp_url must be"));
    }
  }
  SUBCASE("a file of authorities that is none") {
    test::TempDir folder;
    SmtpOptions options = in_the_clear("smtps://127.0.0.1:1");
    TinySmtpServer server;
    options.url = server.url("smtps");
    options.ca_file = (folder.path() / "none.pem").string();
    const SmtpResult result = send_one(*make_smtp_client(options));
    CHECK(result.kind == Kind::failed);
    CHECK(has(result.error, "[email] ca_file cannot be read"));
  }
}

TEST_CASE("an address that would be a command of its own reaches no server") {
  TinySmtpServer server;
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  for (const std::string evil :
       {"ana@example.org>\r\nRCPT TO:<eve@example.org", "ana@example.org\nDATA", "a b@example.org",
        "<ana@example.org>", "ana@example.org\x7f", "änna@example.org", "ana", ""}) {
    CAPTURE(evil);
    CHECK(sender->send(kFrom, evil, kMessage, nullptr).kind == Kind::refused);
    CHECK(sender->send(evil, kTo, kMessage, nullptr).kind == Kind::failed);
  }
  CHECK(server.connections() == 0);
}

TEST_CASE("a server that says nothing more costs no longer than the time given") {
  TinySmtpServer server(to("RCPT", ""));
  SmtpOptions options = in_the_clear(server.url());
  options.total_timeout = 300ms;
  const auto started = std::chrono::steady_clock::now();
  const SmtpResult result = send_one(*make_smtp_client(options));
  CHECK(result.kind == Kind::failed);
  CHECK(result.error == "the mail server did not answer in time");
  CHECK(std::chrono::steady_clock::now() - started < 10s);
}

TEST_CASE("a server that does not say goodbye is not waited for") {
  TinySmtpServer server([](const std::string& line) -> std::optional<std::string> {
    if (line.starts_with("RCPT TO:<gone")) return "550 5.1.1 No such user";
    return line == "QUIT" ? std::optional<std::string>("") : std::nullopt;
  });
  const auto started = std::chrono::steady_clock::now();
  auto sender = make_smtp_client(in_the_clear(server.url()));
  CHECK(sender->send(kFrom, "gone@example.org", kMessage, nullptr).kind == Kind::refused);
  CHECK(send_one(*sender).kind == Kind::sent);
  sender.reset();
  CHECK(std::chrono::steady_clock::now() - started < 20s);
  CHECK(test::eventually([&] {
    const auto lines = server.lines();
    return std::count(lines.begin(), lines.end(), "QUIT") == 2;
  }));
}

TEST_CASE("a mail that is called off ends at once") {
  TinySmtpServer server(to("RCPT", ""));
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  const auto started = std::chrono::steady_clock::now();
  const SmtpResult result = sender->send(kFrom, kTo, kMessage, [&] {
    return !server.lines().empty() && server.lines().back().starts_with("RCPT");
  });
  CHECK(result.kind == Kind::failed);
  CHECK(std::chrono::steady_clock::now() - started < 20s);
}

TEST_CASE("a check logs in and sends nothing") {
  TinySmtpServer server(nullptr, "250-AUTH PLAIN\r\n");
  CHECK(make_smtp_client(with_login(server))->check().kind == Kind::sent);
  bool logged_in = false;
  for (const auto& line : server.lines()) {
    logged_in = logged_in || line.starts_with("AUTH PLAIN");
    CHECK_FALSE(line.starts_with("MAIL"));
  }
  CHECK(logged_in);
  TinySmtpServer other(to("AUTH", "535 5.7.8 No"), "250-AUTH PLAIN\r\n");
  const SmtpResult refused = make_smtp_client(with_login(other))->check();
  CHECK(refused.kind == Kind::wrong_login);
  CHECK(has(refused.error, "smtp_password"));
  CHECK_FALSE(has(refused.error, "s3cret"));
}

TEST_CASE("mails may be sent by several threads at once") {
  TinySmtpServer server;
  const auto sender = make_smtp_client(in_the_clear(server.url()));
  std::vector<std::thread> threads;
  std::atomic<int> sent = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) sent += send_one(*sender).kind == Kind::sent;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(sent == 60);
  CHECK(server.mails().size() == 60);
}

}  // namespace
}  // namespace holdpoint
