#include "wire/inbound_mail.h"

#include <doctest/doctest.h>

#include "domain/text.h"
#include "wire/digest.h"
#include "wire/mail_text.h"

using namespace holdpoint;
using namespace std::string_literals;

namespace {

using Kind = AutomaticMail::Kind;

std::string mail(const std::string& headers, const std::string& body = "Yes\r\n") {
  return "From: Ana <Ana@Example.org>\r\nTo: reply+x@example.org\r\nMessage-ID: <1@a>\r\n" +
         headers + "\r\n" + body;
}

std::string text_of(const std::string& headers, const std::string& body) {
  return read_mail(mail(headers, body)).text;
}

}  // namespace

TEST_CASE("a plain reply is read whole") {
  const auto read = read_mail(mail("Subject: Re: [poet] Deploy?\r\n", "Yes\r\n\r\n> Deploy?\r\n"));
  CHECK(read.message_id == "1@a");
  CHECK(read.from == "ana@example.org");
  CHECK(read.recipients == std::vector<std::string>{"reply+x@example.org"});
  CHECK(read.subject == "Re: [poet] Deploy?");
  CHECK(read.text == "Yes\n\n> Deploy?\n");
  CHECK_FALSE(read.automatic);
}

TEST_CASE("whom a mail reached stands before whom it was written to") {
  const auto read = read_mail(
      "Delivered-To: Reply+TOKEN@example.org\r\nX-Original-To: b@x\r\nEnvelope-To: c@x\r\nCc: "
      "\"E, F\" <e@x>, g@x\r\nTo: Team: d@x, h@x;\r\nFrom: ana@example.org\r\n\r\nYes");
  CHECK(read.recipients == std::vector<std::string>{"reply+token@example.org", "b@x", "c@x", "d@x",
                                                    "h@x", "e@x", "g@x"});
}

TEST_CASE("a mail with no sender, or more than one, is from nobody") {
  for (const char* from :
       {"", "From: \r\n", "From: nobody\r\n", "From: a@x, b@x\r\n", "From: a@x\r\nFrom: b@x\r\n",
        "From: a@x\r\nFrom: a@x\r\n", "From: undisclosed: ;\r\n"}) {
    CAPTURE(from);
    CHECK(read_mail(std::string(from) + "To: c@x\r\n\r\nYes").from.empty());
  }
  CHECK(read_mail("From: \"b@x\" <a@x>\r\n\r\n").from == "a@x");
  CHECK(read_mail("From: =?utf-8?Q?b=40x?= <A@X>\r\n\r\n").from == "a@x");
}

TEST_CASE("texts in any charset and encoding come out as UTF-8") {
  CHECK(text_of("Content-Type: text/plain; charset=utf-8\r\n", "Grüße") == "Grüße");
  CHECK(text_of("Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: "
                "quoted-printable\r\n",
                "Gr=FC=DFe =93ja=94=\r\n!") == "Grüße “ja”!");
  CHECK(text_of("Content-Type: text/plain; charset=windows-1251\r\nContent-Transfer-Encoding: "
                "base64\r\n",
                to_base64("\xc4\xe0")) == "Да");
  CHECK(text_of("Content-Type: text/plain; charset=iso-2022-jp\r\n", "\x1b$B$O$$\x1b(B") == "はい");
  CHECK(text_of("Content-Type: text/plain; charset=gb18030\r\n", "\xba\xc3") == "好");
  CHECK(
      text_of("Content-Type: text/plain; charset=utf-16le\r\nContent-Transfer-Encoding: base64\r\n",
              to_base64(std::string("J\0a\0", 4))) == "Ja");
  // Wrong or unknown charsets: something comes out.
  CHECK(text_of("Content-Type: text/plain; charset=utf-8\r\n", "Gr\xfc\xdf") == "Grüß");
  CHECK(text_of("Content-Type: text/plain; charset=klingon\r\n", "J\xe4") == "Jä");
  CHECK(text_of("", std::string("J\0a", 3)) == "Ja");
  CHECK(text_of("Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n", "x") == "x");
  CHECK(read_mail(mail("Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n")).subject == "Grüße");
}

TEST_CASE("the plain text counts, wherever in the mail it stands") {
  const std::string alternative =
      "--b\r\nContent-Type: text/html\r\n\r\n<p>No</p>\r\n--b\r\nContent-Type: "
      "text/plain\r\n\r\nYes\r\n--b--\r\n";
  CHECK(text_of("Content-Type: multipart/alternative; boundary=b\r\n", alternative) == "Yes");
  CHECK(text_of("Content-Type: multipart/mixed; boundary=a\r\n",
                "--a\r\nContent-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nNo\r\n"
                "--a\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nNo\r\n"
                "--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
                    alternative + "--a--\r\n") == "Yes");
  CHECK(text_of("Content-Type: multipart/signed; boundary=a\r\n",
                "--a\r\n\r\nYes\r\n--a\r\nContent-Type: application/pgp-signature\r\n\r\n"
                "sig\r\n--a--\r\n") == "Yes");
}

TEST_CASE("flowed lines are joined, but signatures and quotes stay as they are") {
  const std::string flowed = "Content-Type: text/plain; format=flowed\r\n";
  CHECK(text_of(flowed, "Yes, \r\nship it\r\n now\r\n> old \r\n> text\r\n>> older\r\n-- \r\nAna") ==
        "Yes, ship it\nnow\n> old text\n>> older\n-- \nAna");
  CHECK(text_of("Content-Type: text/plain; format=flowed; delsp=yes\r\n", "ab \r\ncd") == "abcd");
  CHECK(text_of("", "Yes \r\nno") == "Yes \nno");
}

TEST_CASE("a mail of HTML alone is read as a person would, without what it quotes") {
  const std::string html = "Content-Type: text/html; charset=utf-8\r\n";
  CHECK(
      text_of(
          html,
          "<html><head><title>t</title><style>p{}</style></head><body><script>evil('<p>')"
          "</script><!-- no --><div dir=\"ltr\">Yes &amp; no&nbsp;&#8364;&#x20ac;</div><br><div>On "
          "Mon wrote:</div><blockquote><p>Deploy?<blockquote>x</blockquote></p></blockquote>"
          "<p>below</p></body></html>") == "Yes & no €€\n\nOn Mon wrote:\n>\nbelow\n");
  CHECK(text_of(html, "Yes<hr><b>From:</b> x") == "Yes\n________________________________\nFrom: x");
  CHECK(text_of(html, "<p title=\"a > b\">Yes</p>") == "Yes\n");
  CHECK(text_of(html, "a < b &unknown; &amp") == "a ");
  CHECK(text_of(html, "Yes<script>never ends") == "Yes");
  CHECK(text_of(html, "Yes<blockquote>never ends") == "Yes\n>\n");
}

TEST_CASE("what no person wrote is known by its header fields") {
  struct Case {
    std::string headers;
    Kind kind;
  };
  for (const auto& [headers, kind] : std::vector<Case>{
           {"Auto-Submitted: auto-replied\r\n", Kind::auto_reply},
           {"Auto-Submitted: auto-generated (x)\r\n", Kind::auto_reply},
           {"auto-submitted: Auto-Replied; owner-email=x\r\n", Kind::auto_reply},
           {"Precedence: bulk\r\n", Kind::auto_reply},
           {"Precedence: Junk\r\n", Kind::auto_reply},
           {"Precedence: auto_reply\r\n", Kind::auto_reply},
           {"Precedence: list\r\n", Kind::auto_reply},
           {"X-Autoreply: yes\r\n", Kind::auto_reply},
           {"X-Autorespond:\r\n", Kind::auto_reply},
           {"List-Id: <x.y>\r\n", Kind::auto_reply},
           {"Subject: Automatic reply: [poet] Deploy?\r\n", Kind::auto_reply},
           {"Subject: Out of Office Re: Deploy?\r\n", Kind::auto_reply},
           {"Subject: Auto: Re: Deploy?\r\n", Kind::auto_reply},
           {"Subject: Automatische Antwort: Deploy?\r\n", Kind::auto_reply},
           {"Subject: Abwesenheitsnotiz: Deploy?\r\n", Kind::auto_reply},
           {"Subject: =?utf-8?Q?R=C3=A9ponse_automatique_=3A_x?=\r\n", Kind::auto_reply},
           {"Subject: =?utf-8?B?6Ieq5YuV5b+c562UOiB4?=\r\n", Kind::auto_reply},
           {"Return-Path: <>\r\n", Kind::bounce},
           {"Return-Path:\r\n", Kind::bounce},
           {"Sender: MAILER-DAEMON@example.org\r\n", Kind::bounce},
           {"X-Failed-Recipients: ana@example.org\r\n", Kind::bounce},
           {"Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n",
            Kind::bounce},
           {"Content-Type: multipart/report; report-type=disposition-notification; boundary=x\r\n",
            Kind::auto_reply},
       }) {
    CAPTURE(headers);
    const auto read = read_mail(mail(headers));
    REQUIRE(read.automatic);
    CHECK(read.automatic->kind == kind);
    CHECK_FALSE(read.automatic->why.empty());
  }
  CHECK(read_mail("From: Mail Delivery System <mailer-daemon@x>\r\n\r\n").automatic->kind ==
        Kind::bounce);
  for (const char* headers :
       {"Auto-Submitted: no\r\n", "X-Auto-Response-Suppress: All\r\n", "Precedence: normal\r\n",
        "Return-Path: <ana@example.org>\r\n", "Subject: Re: Out of office\r\n",
        "Subject: AW: Automatic reply: who?\r\n", "Subject: Autobahn\r\n", "X-Autoreply: no\r\n"}) {
    CAPTURE(headers);
    CHECK_FALSE(read_mail(mail(headers)).automatic);
  }
}

TEST_CASE("a bounce tells which mail of ours it is about") {
  const std::string body =
      "--r\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--r\r\nContent-Type: "
      "message/delivery-status\r\n\r\nAction: failed\r\n--r\r\n";
  const std::string head =
      "From: MAILER-DAEMON@mx.example.org\r\nTo: holdpoint@example.org\r\nContent-Type: "
      "multipart/report; report-type=delivery-status; boundary=r\r\n\r\n";
  const std::string original = "Reply-To: reply+tok@example.org\r\nTo: ana@example.org\r\n\r\nx";
  for (const char* type : {"message/rfc822", "text/rfc822-headers"}) {
    const auto read =
        read_mail(head + body + "Content-Type: " + type + "\r\n\r\n" + original + "\r\n--r--\r\n");
    CHECK(read.recipients.back() == "reply+tok@example.org");
  }
  // In a person's mail an enclosed one says nothing.
  const auto read =
      read_mail(mail("Content-Type: multipart/mixed; boundary=r\r\n",
                     "--r\r\nContent-Type: message/rfc822\r\n\r\n" + original + "\r\n--r--\r\n"));
  CHECK(read.recipients == std::vector<std::string>{"reply+x@example.org"});
}

TEST_CASE("a mail's text is cut where it is too long, between characters") {
  std::string body;
  while (body.size() < 400'000) body += "€€€ \r\n";
  const auto read = read_mail(mail("Content-Type: text/plain; charset=utf-8\r\n", body));
  CHECK(read.text.size() <= InboundMail::kMostTextBytes);
  CHECK(read.text.size() > InboundMail::kMostTextBytes - 8);
  CHECK(is_clean_utf8(read.text));
}

TEST_CASE("no bytes break the reader") {
  std::string deep;
  for (int i = 0; i < 5000; ++i) {
    const std::string b = "b" + std::to_string(i);
    deep += "Content-Type: multipart/mixed; boundary=" + b + "\r\n\r\n--" + b + "\r\n";
  }
  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "Content-Type: message/rfc822\r\n\r\n";
  std::string many = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
  for (int i = 0; i < 20000; ++i) many += "--b\r\n\r\nx\r\n";
  std::string headers;
  for (int i = 0; i < 50000; ++i) headers += "X: y\r\n";
  // Each would overflow the stack or take minutes if it were handed on as it is.
  std::string groups = "Content-Type: message/rfc822\r\n\r\nTo:\r\n ";
  while (groups.size() < (5u << 20)) groups += groups.size() % 900 < 2 ? "g:\r\n " : "g:";
  std::string parts;
  while (parts.size() < (5u << 20)) {
    parts += "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n";
  }
  std::string comments = "From: ";
  comments.append(100'000, '(');
  for (const std::string& raw :
       {std::string(), std::string("\0", 1), std::string("\xff\xfe"), deep, nested, many, headers,
        groups, parts, comments, std::string(100'000, '<'), "From: " + std::string(100'000, '<'),
        "Content-Type: multipart/mixed; boundary=\r\n\r\n--\r\n"s}) {
    const auto read = read_mail(raw);
    CHECK(is_clean_utf8(read.text));
    CHECK(read.recipients.size() <= 5000);
  }
}
