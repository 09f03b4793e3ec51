#include "wire/inbound_hook.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "wire/form.h"
#include "wire/multipart_form.h"

using namespace holdpoint;

namespace {

std::string missing(const std::string& type, const std::string& body) {
  try {
    (void)InboundHook::parse(type, body).mail();
    return "nothing";
  } catch (const BadRequest& e) {
    return e.field();
  }
}

std::string part(const std::string& name, const std::string& value, const std::string& more = "") {
  return "--xYzZY\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n" + more + "\r\n" +
         value + "\r\n";
}

const std::string kMultipart = "multipart/form-data; boundary=xYzZY";

}  // namespace

TEST_CASE("a plain hook brings the whole mail") {
  const auto mail =
      InboundHook::parse(
          "application/json; charset=utf-8",
          R"({"raw":"From: Ana <ana@example.org>\r\nTo: reply+x@example.org\r\n\r\nYes\r\n"})")
          .mail();
  CHECK(mail.from == "ana@example.org");
  CHECK(mail.recipients == std::vector<std::string>{"reply+x@example.org"});
  CHECK(mail.text == "Yes\n");
  CHECK(InboundHook::parse("message/rfc822", "From: a@x\r\n\r\nYes").mail().from == "a@x");
}

TEST_CASE("Postmark's hook is read") {
  const std::string body = R"({
    "FromName": "Ana", "MessageStream": "inbound", "From": "ana@example.org",
    "FromFull": {"Email": "ana@example.org", "Name": "Ana", "MailboxHash": ""},
    "To": "\"Holdpoint\" <reply+TOK@example.org>",
    "ToFull": [{"Email": "reply+TOK@example.org", "Name": "Holdpoint", "MailboxHash": "TOK"}],
    "Cc": "", "CcFull": [], "OriginalRecipient": "reply+tok@inbound.example.org",
    "Subject": "Re: Deploy?", "MessageID": "73e6d360-66eb-11e1-8e72-a8904824019b",
    "ReplyTo": "", "Date": "Mon, 16 Nov 2026 13:00:00 +0100",
    "TextBody": "Yes\r\n\r\n> Deploy?", "HtmlBody": "<p>Yes</p>", "StrippedTextReply": "Yes",
    "Tag": "", "Headers": [{"Name": "Message-ID", "Value": "<1@a>"}, {"Name": "X-Spam", "Value": "No"}],
    "Attachments": []})";
  const auto mail = InboundHook::parse("application/json", body).mail();
  CHECK(mail.from == "ana@example.org");
  CHECK(mail.message_id == "1@a");
  CHECK(mail.recipients.front() == "reply+tok@inbound.example.org");
  CHECK(mail.recipients.back() == "reply+tok@example.org");
  CHECK(mail.subject == "Re: Deploy?");
  CHECK(mail.text == "Yes\n\n> Deploy?");
  CHECK_FALSE(mail.automatic);
  const auto away = InboundHook::parse("application/json",
                                       R"({"From":"a@x","To":"b@x","TextBody":"Away",
       "Headers":[{"Name":"Auto-Submitted","Value":"auto-replied"}]})")
                        .mail();
  CHECK(away.automatic);
}

TEST_CASE("Mailgun's form is read, in both encodings, and by its whole mail if that is there") {
  const std::vector<std::pair<std::string, std::string>> fields{
      {"recipient", "reply+tok@example.org"},
      {"sender", "bounce+ana@example.org"},
      {"from", "Ana <ana@example.org>"},
      {"subject", "Re: Grüße"},
      {"body-plain", "Yes\r\n\r\n> Deploy?"},
      {"stripped-text", "Yes"},
      {"message-headers", R"([["From","Ana <ana@example.org>"],["Message-Id","<1@a>"]])"},
      {"timestamp", "1"}};
  std::string form, multipart;
  for (const auto& [name, value] : fields) {
    form += escape_url(name) + "=" + escape_url(value) + "&";
    multipart += part(name, value);
  }
  multipart += part("attachment-1", "\xff\x00\xfe",
                    "Content-Type: image/png\r\nContent-Transfer-Encoding: binary\r\n") +
               "--xYzZY--\r\n";
  for (const auto& [type, body] :
       {std::pair{std::string("application/x-www-form-urlencoded"), form},
        std::pair{kMultipart, multipart}}) {
    const auto mail = InboundHook::parse(type, body).mail();
    CHECK(mail.from == "ana@example.org");
    CHECK(mail.message_id == "1@a");
    CHECK(mail.subject == "Re: Grüße");
    CHECK(mail.recipients == std::vector<std::string>{"reply+tok@example.org"});
    CHECK(mail.text == "Yes\n\n> Deploy?");
  }
  const auto whole = InboundHook::parse("application/x-www-form-urlencoded",
                                        "recipient=reply%2Btok%40example.org&body-mime=" +
                                            escape_url("From: ana@example.org\r\nAuto-Submitted: "
                                                       "auto-replied\r\n\r\nAway"))
                         .mail();
  CHECK(whole.recipients == std::vector<std::string>{"reply+tok@example.org"});
  CHECK(whole.automatic);
}

TEST_CASE("SendGrid's form is read, with its texts in their own charsets") {
  const std::string body =
      part("headers", "Message-ID: <1@a>\nFrom: Ana <ana@example.org>\nSubject: Re: x\n") +
      part("to", "Holdpoint <reply+tok@example.org>") + part("from", "Ana <ana@example.org>") +
      part("subject", "Re: x") + part("text", "J\xe4, gern\n") +
      part("charsets", R"({"to":"UTF-8","subject":"UTF-8","from":"UTF-8","text":"iso-8859-1"})") +
      part("envelope", R"({"to":["reply+tok@in.example.org"],"from":"ana@example.org"})") +
      "--xYzZY--\r\n";
  const auto mail = InboundHook::parse(kMultipart, body).mail();
  CHECK(mail.from == "ana@example.org");
  CHECK(mail.message_id == "1@a");
  CHECK(mail.recipients ==
        std::vector<std::string>{"reply+tok@in.example.org", "reply+tok@example.org"});
  CHECK(mail.text == "Jä, gern\n");
  const auto raw = InboundHook::parse(
                       kMultipart, part("email", "From: bo@example.org\r\nTo: c@x\r\n\r\nNo\r\n") +
                                       "--xYzZY--\r\n")
                       .mail();
  CHECK(raw.from == "bo@example.org");
  CHECK(raw.text.starts_with("No"));
}

TEST_CASE("a hook that lacks something is told what") {
  const std::string json = "application/json";
  CHECK(missing(json, R"({"to":"b@x","text":"Yes"})") == "from");
  CHECK(missing(json, R"({"from":"a@x","text":"Yes"})") == "to");
  CHECK(missing(json, R"({"from":"a@x","to":"b@x"})") == "text");
  CHECK(missing(json, R"({"from":"a@x","to":["b@x"],"html":"<p>Yes"})") == "nothing");
  CHECK(missing(json, R"({"from":1,"to":2,"text":[]})") == "from");
  CHECK(missing(json, "[]") == "body");
  CHECK(missing(json, "{") == "body");
  CHECK(missing("text/plain", "Yes") == "body");
  CHECK(missing("application/x-www-form-urlencoded", "from=a%40x") == "to");
  CHECK(missing("multipart/form-data", "x") == "body");
  CHECK(missing(kMultipart, "no boundary in here") == "body");
}

TEST_CASE("fields of a multipart form are bytes, and a form has at most 100 of them") {
  std::string body;
  for (int i = 0; i < 100; ++i) body += part("f", std::to_string(i));
  CHECK(parse_multipart_form(kMultipart, body + "--xYzZY--\r\n").size() == 100);
  CHECK_THROWS_AS(parse_multipart_form(kMultipart, body + part("f", "x") + "--xYzZY--\r\n"),
                  Unreadable);
  const std::string bytes = std::string("a\r\n\0--xYz\xff", 11);
  const auto fields = parse_multipart_form(kMultipart, part("f", bytes) + "--xYzZY--\r\n");
  REQUIRE(fields.size() == 1);
  CHECK(fields.begin()->second == bytes);
}
