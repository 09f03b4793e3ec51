// Mails as they come, a provider's posts about them, and what is read in both as an answer.
#include "wire/inbound_mail.h"

#include "domain/answer.h"
#include "domain/mail_reply.h"
#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/inbound_hook.h"
#include "wire/mail_text.h"
#include "wire/reply_token.h"

namespace holdpoint {
namespace {

void check_reading(const QuestionSpec& spec, const std::string& text) {
  const Limits limits;
  const ReplyReading reading = read_reply(spec, text, limits);
  expect(reading.values.empty() != reading.unclear.empty(), "a reply is an answer or unclear");
  expect(is_clean_utf8(reading.unclear), "why a reply is unclear is clean UTF-8");
  if (reading.values.empty()) return;
  const auto choice =
      unless_refused([&] { return choose(spec, reading.values, "answer", limits); });
  expect(choice.has_value(), "what is read as an answer keeps its question's rules");
}

void check_text(const std::string& text) {
  expect(is_clean_utf8(text), "a mail's text is clean UTF-8");
  const std::string newest = newest_text(text);
  expect(newest.size() <= text.size(), "what is new is a part of the text");
  expect(is_clean_utf8(newest), "what is new is clean UTF-8");
  expect(newest.find("\n> ") == std::string::npos, "no quoted line is new");
  QuestionSpec spec;
  check_reading(spec, newest);
  for (const char* label : {"Yes", "No", "2", "Yes, no and more!"}) {
    spec.options.push_back({label, "", "", false});
  }
  for (const bool several : {false, true}) {
    for (const bool other : {false, true}) {
      spec.multi_select = several;
      spec.allow_other = other;
      check_reading(spec, newest);
    }
  }
}

void check_mail(const InboundMail& mail) {
  check_text(mail.text);
  expect(mail.text.size() <= InboundMail::kMostTextBytes, "a mail's text has an end");
  expect(is_clean_utf8(mail.subject) && is_clean_utf8(mail.message_id), "headers are clean UTF-8");
  const ReplyTokens tokens("a secret");
  std::vector<std::string> addresses = mail.recipients;
  addresses.push_back(mail.from);
  for (const auto& address : addresses) {
    expect(is_clean_utf8(address) && lower_case(address) == address, "addresses are plain");
    const auto token = find_reply_token(address, "reply@example.org");
    expect(!token || !tokens.read(*token), "nobody makes up a token");
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdpoint;
  const std::string_view input = text_of(data, size);
  check_mail(read_mail(input));
  check_text(text_of_html(mend_utf8(input)));
  check_text(mend_utf8(join_flowed(input, true)));
  check_text(to_utf8(input, "utf-8"));
  for (const char* type : {"application/json", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=b", "message/rfc822"}) {
    const auto mail = unless_refused([&] { return InboundHook::parse(type, input).mail(); });
    if (mail) check_mail(*mail);
  }
  return 0;
}
