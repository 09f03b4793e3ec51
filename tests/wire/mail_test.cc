#include "wire/mail.h"

#include <doctest/doctest.h>
#include <gmime/gmime.h>

#include <atomic>
#include <memory>
#include <thread>

#include "wire/gmime.h"

namespace holdpoint {
namespace {

// A message as GMime reads it back, which then judges what it wrote itself; tests/clients has
// another's reader.
class Read {
 public:
  explicit Read(const std::string& message) {
    use_gmime();
    GMimeStream* stream = g_mime_stream_mem_new_with_buffer(message.data(), message.size());
    GMimeParser* parser = g_mime_parser_new_with_stream(stream);
    message_.reset(g_mime_parser_construct_message(parser, nullptr));
    g_object_unref(parser);
    g_object_unref(stream);
  }
  std::string header(const char* name) const {
    const char* value = g_mime_object_get_header(GMIME_OBJECT(message_.get()), name);
    return value ? value : "";
  }
  int header_count() const {
    return g_mime_header_list_get_count(
        g_mime_object_get_header_list(GMIME_OBJECT(message_.get())));
  }
  std::string type() const {
    const std::unique_ptr<char, void (*)(void*)> text(
        g_mime_content_type_get_mime_type(
            g_mime_object_get_content_type(g_mime_message_get_mime_part(message_.get()))),
        g_free);
    return text.get();
  }
  int parts() const {
    GMimeObject* body = g_mime_message_get_mime_part(message_.get());
    return GMIME_IS_MULTIPART(body) ? g_mime_multipart_get_count(GMIME_MULTIPART(body)) : 1;
  }
  std::string part(int i) const {
    GMimeObject* body = g_mime_message_get_mime_part(message_.get());
    if (GMIME_IS_MULTIPART(body)) body = g_mime_multipart_get_part(GMIME_MULTIPART(body), i);
    const std::unique_ptr<char, void (*)(void*)> text(
        g_mime_text_part_get_text(GMIME_TEXT_PART(body)), g_free);
    std::string out = text.get();
    std::erase(out, '\r');
    return out;
  }

 private:
  std::unique_ptr<GMimeMessage, void (*)(void*)> message_{nullptr, g_object_unref};
};

Mail sample() {
  Mail mail;
  mail.from = {"Holdpoint", "holdpoint@example.org"};
  mail.to = "ana@example.org";
  mail.reply_to = "reply+t0ken@example.org";
  mail.subject = "[poet] Which style?";
  mail.text = "Which style?\n";
  mail.html = "<p>Which style?</p>\n";
  mail.message_id = "<d-1@example.org>";
  mail.in_reply_to = "<d-0@example.org>";
  mail.references = {"<s-1@example.org>", "<d-0@example.org>"};
  mail.date = *parse_iso("2024-01-01T12:00:00.250Z");
  mail.headers = {{"Auto-Submitted", "auto-generated"}};
  return mail;
}

bool is_sound(const std::string& message) {
  std::size_t line = 0;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const auto c = static_cast<unsigned char>(message[i]);
    if (c >= 0x80 || c == 0) return false;
    if (c == '\n' && (i == 0 || message[i - 1] != '\r')) return false;
    if (c == '\r' && (i + 1 == message.size() || message[i + 1] != '\n')) return false;
    line = c == '\n' ? 0 : line + 1;
    if (line > 999) return false;  // 998 and the CR.
  }
  return true;
}

TEST_CASE("a mail has the headers it was given, and text before HTML") {
  const std::string message = write_mail(sample());
  CAPTURE(message);
  CHECK(is_sound(message));
  const Read read(message);
  CHECK(read.header("From") == "Holdpoint <holdpoint@example.org>");
  CHECK(read.header("To") == "ana@example.org");
  CHECK(read.header("Reply-To") == "reply+t0ken@example.org");
  CHECK(read.header("Subject") == "[poet] Which style?");
  CHECK(read.header("Date") == "Mon, 01 Jan 2024 12:00:00 +0000");
  CHECK(read.header("Message-ID") == "<d-1@example.org>");
  CHECK(read.header("In-Reply-To") == "<d-0@example.org>");
  CHECK(read.header("References") == "<s-1@example.org> <d-0@example.org>");
  CHECK(read.header("Auto-Submitted") == "auto-generated");
  CHECK(read.header("MIME-Version") == "1.0");
  CHECK(read.type() == "multipart/alternative");
  REQUIRE(read.parts() == 2);
  CHECK(read.part(0) == "Which style?\n");
  CHECK(read.part(1) == "<p>Which style?</p>\n");
}

TEST_CASE("what a mail has none of is not in it") {
  Mail mail = sample();
  mail.reply_to = mail.in_reply_to = mail.html = "";
  mail.references.clear();
  const std::string message = write_mail(mail);
  CHECK(message.find("Reply-To") == std::string::npos);
  CHECK(message.find("References") == std::string::npos);
  CHECK(Read(message).type() == "text/plain");
}

TEST_CASE("texts of any alphabet, with long lines and dots, come back as they were") {
  for (const std::string& text :
       {std::string("Grüße, 世界 😀 — مرحبا\n"), std::string(5000, 'x') + "\n",
        std::string("From me\n.\n..\n--boundary\n\n\nend\n"), std::string("trailing \t\n=3D\n"),
        std::string("Content-Type: text/html\n\nhello\n"), std::string(3000, '=') + " ü\n"}) {
    CAPTURE(text);
    Mail mail = sample();
    mail.text = text;
    mail.html = "<p>" + text + "</p>\n";
    const std::string message = write_mail(mail);
    CHECK(is_sound(message));
    CHECK(Read(message).part(0) == text);
    CHECK(Read(message).part(1) == "<p>" + text + "</p>\n");
  }
}

TEST_CASE("a subject of any alphabet and length comes back as it was") {
  std::string ascii = "word", plain(600, 'y');
  for (int i = 0; i < 40; ++i) ascii += " word";
  for (const std::string& subject : {std::string("a: b"), std::string("Größe 😀"), ascii, plain}) {
    CAPTURE(subject);
    Mail mail = sample();
    mail.subject = subject;
    const std::string message = write_mail(mail);
    CHECK(is_sound(message));
    CHECK(Read(message).header("Subject") == subject);
  }
}

TEST_CASE("a subject that looks encoded is shown, not decoded") {
  Mail mail = sample();
  mail.subject = "=?utf-8?q?fake?= =?=?";
  CHECK(Read(write_mail(mail)).header("Subject") == "= ?utf-8?q?fake?= = ?= ?");
}

TEST_CASE("no text makes a header or a part of its own") {
  const int usual = Read(write_mail(sample())).header_count();
  for (const std::string evil : {"x\r\nBcc: eve@example.org", "x\nBcc: eve@example.org",
                                 "x\rBcc: eve@example.org", "x\r\n\r\nbody", "x\r\n Bcc: folded",
                                 "\r\nBcc: a", "x\v\fBcc: b", "=?utf-8?q?=0ABcc:_c?="}) {
    CAPTURE(evil);
    Mail mail = sample();
    mail.subject = mail.from.name = mail.message_id = mail.in_reply_to = evil;
    mail.references = {evil, evil};
    mail.headers = {{"Auto-Submitted", evil}};
    mail.text = mail.html = evil;
    const std::string message = write_mail(mail);
    CAPTURE(message);
    CHECK(is_sound(message));
    CHECK(message.substr(0, message.find("\r\n\r\n")).find("\nBcc") == std::string::npos);
    const Read read(message);
    CHECK(read.header_count() == usual);
    CHECK(read.header("Bcc") == "");
    CHECK(read.parts() == 2);
  }
  Mail mail = sample();
  mail.headers = {{"X-A: 1\r\nBcc", "x"}};
  CHECK(Read(write_mail(mail)).header("X-A1Bcc") == "x");
}

TEST_CASE("broken UTF-8, NUL and terminal codes are shown as something harmless") {
  Mail mail = sample();
  mail.subject =
      "a\xff\x80"
      "b";
  mail.text = std::string("one\0two\x1b[31m\r\nthree\rfour", 24);
  const std::string message = write_mail(mail);
  CHECK(is_sound(message));
  CHECK(Read(message).header("Subject") == "a??b");
  CHECK(Read(message).part(0) == "one?two[31m\nthree\nfour\n");
}

TEST_CASE("a long URL in a header stays in one piece") {
  Mail mail = sample();
  const std::string url =
      "<https://holdpoint.example.org/unsubscribe/" + std::string(200, 'a') + ">";
  mail.headers = {{"List-Unsubscribe", url},
                  {"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"}};
  const std::string message = write_mail(mail);
  CHECK(message.find("List-Unsubscribe: " + url + "\r\n") != std::string::npos);
  CHECK(message.find("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n") != std::string::npos);
}

TEST_CASE("a sender's name is quoted or encoded as it needs") {
  for (const std::string name : {"Holdpoint, Inc. <x@y>", "Ana \"the\" Boss", "Größe 😀"}) {
    Mail mail = sample();
    mail.from.name = name;
    const std::string from = Read(write_mail(mail)).header("From");
    CHECK(read_mailbox(from) == Mailbox{name, "holdpoint@example.org"});
  }
}

TEST_CASE("mailboxes are read with and without a name") {
  CHECK(read_mailbox("ana@example.org") == Mailbox{"", "ana@example.org"});
  CHECK(read_mailbox("Holdpoint <holdpoint@example.org>") ==
        Mailbox{"Holdpoint", "holdpoint@example.org"});
  CHECK(read_mailbox("\"A, B\" <a@example.org>") == Mailbox{"A, B", "a@example.org"});
  CHECK(read_mailbox("Jürgen <j@example.org>") == Mailbox{"Jürgen", "j@example.org"});
  for (const std::string none : {"", "Holdpoint", "a@x.org, b@x.org", "list: a@x.org;",
                                 "a@x.org\r\nBcc: b@x.org", "A <a b@x.org>", "A <a@>"}) {
    CAPTURE(none);
    CHECK_FALSE(read_mailbox(none));
  }
  CHECK(Mailbox{"", "a@b.org"}.domain() == "b.org");
}

TEST_CASE("mails may be written by several threads at once") {
  std::vector<std::thread> threads;
  std::atomic<int> sound = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) sound += is_sound(write_mail(sample()));
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(sound == 200);
}

}  // namespace
}  // namespace holdpoint
