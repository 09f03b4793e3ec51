#include "wire/mail_headers.h"

#include <gmime/gmime.h>

#include <algorithm>
#include <array>
#include <memory>

#include "domain/text.h"
#include "wire/gmime.h"
#include "wire/mail_text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostAddresses = 500;
constexpr std::size_t kMostBytes = 16384;  // Groups in groups cost a frame of the stack each.
constexpr int kMostGroups = 8;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

void collect(InternetAddressList* list, int depth, std::vector<std::string>& out) {
  if (!list || depth > kMostGroups) return;
  const int count = internet_address_list_length(list);
  for (int i = 0; i < count && out.size() < kMostAddresses; ++i) {
    InternetAddress* one = internet_address_list_get_address(list, i);
    if (INTERNET_ADDRESS_IS_GROUP(one)) {
      collect(internet_address_group_get_members(INTERNET_ADDRESS_GROUP(one)), depth + 1, out);
    } else if (INTERNET_ADDRESS_IS_MAILBOX(one)) {
      const char* address = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(one));
      const std::string text = address ? trimmed(mend_utf8(address)) : "";
      if (text.find('@') != std::string::npos) out.push_back(lower_case(text));
    }
  }
}

// As programs begin the subjects of out-of-office notices. A person's reply begins with `Re:` or
// the like, or with our own subject.
constexpr std::array<std::string_view, 34> kNoticeSubjects{"automatic reply:",
                                                           "autoreply:",
                                                           "auto-reply:",
                                                           "auto reply:",
                                                           "auto:",
                                                           "automated reply:",
                                                           "auto response:",
                                                           "autoresponse:",
                                                           "out of office",
                                                           "out of the office",
                                                           "out-of-office",
                                                           "[auto-reply]",
                                                           "vacation reply",
                                                           "automatische antwort:",
                                                           "abwesenheitsnotiz",
                                                           "abwesenheit:",
                                                           "réponse automatique",
                                                           "absence du bureau",
                                                           "respuesta automática",
                                                           "fuera de la oficina",
                                                           "risposta automatica",
                                                           "fuori sede",
                                                           "resposta automática",
                                                           "fora do escritório",
                                                           "automatisch antwoord",
                                                           "afwezigheidsbericht",
                                                           "autosvar",
                                                           "automatiskt svar",
                                                           "automaattinen vastaus",
                                                           "automatyczna odpowiedź",
                                                           "автоответ",
                                                           "自動応答",
                                                           "自动回复",
                                                           "자동 회신"};

bool is_notice(const std::string& subject) {
  const std::string text = lower_case(trimmed(subject));
  return std::any_of(kNoticeSubjects.begin(), kNoticeSubjects.end(),
                     [&](std::string_view begin) { return text.starts_with(begin); });
}

bool is_mail_system(const std::vector<std::string>& addresses) {
  return std::any_of(addresses.begin(), addresses.end(), [](const std::string& address) {
    return address.starts_with("mailer-daemon@") || address.starts_with("postmaster@") ||
           address.starts_with("mail-daemon@");
  });
}

std::string in_words(const char* name, const std::string& value) {
  return std::string(name) + ": " + shorten(value, 80);
}

}  // namespace

std::vector<std::string> read_addresses(std::string_view text) {
  use_gmime();
  const std::string clean = mend_utf8(text.substr(0, kMostBytes));
  const std::unique_ptr<InternetAddressList, void (*)(void*)> list(
      internet_address_list_parse(nullptr, clean.c_str()), g_object_unref);
  std::vector<std::string> out;
  collect(list.get(), 0, out);
  return out;
}

void MailHeaders::add(std::string_view name, std::string_view value) {
  fields_.emplace_back(lower_case(mend_utf8(name)), mend_utf8(value));
}

std::size_t MailHeaders::count(std::string_view name) const {
  const std::string wanted = lower_case(std::string(name));
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(), [&](const auto& field) { return field.first == wanted; }));
}

std::string MailHeaders::text(std::string_view name) const {
  const std::string wanted = lower_case(std::string(name));
  for (const auto& [known, value] : fields_) {
    if (known == wanted) return trimmed(value);
  }
  return "";
}

std::vector<std::string> MailHeaders::addresses(std::string_view name) const {
  const std::string wanted = lower_case(std::string(name));
  std::vector<std::string> out;
  for (const auto& [known, value] : fields_) {
    if (known != wanted || out.size() > kMostAddresses) continue;
    for (auto& address : read_addresses(value)) out.push_back(std::move(address));
  }
  return out;
}

std::optional<AutomaticMail> find_automatic(const MailHeaders& headers) {
  using Kind = AutomaticMail::Kind;
  const std::string type = lower_case(headers.text("Content-Type"));
  if (type.starts_with("multipart/report")) {
    // The other kinds are receipts: somebody, or their program, has seen it.
    const bool failed = type.find("delivery-status") != std::string::npos ||
                        type.find("report-type") == std::string::npos;
    return AutomaticMail{failed ? Kind::bounce : Kind::auto_reply,
                         in_words("Content-Type", headers.text("Content-Type"))};
  }
  if (headers.has("X-Failed-Recipients")) {
    return AutomaticMail{Kind::bounce, "it has the field X-Failed-Recipients"};
  }
  if (is_mail_system(headers.addresses("From")) || is_mail_system(headers.addresses("Sender"))) {
    return AutomaticMail{Kind::bounce, in_words("From", headers.text("From"))};
  }
  const std::string submitted = lower_case(headers.text("Auto-Submitted"));
  // Parameters may follow the word.
  if (!submitted.empty() && trimmed(submitted.substr(0, submitted.find(';'))) != "no") {
    return AutomaticMail{Kind::auto_reply, in_words("Auto-Submitted", submitted)};
  }
  for (const char* name : {"X-Autoreply", "X-Autorespond", "X-Auto-Reply", "X-Autoresponder"}) {
    const std::string value = lower_case(headers.text(name));
    if (headers.has(name) && value != "no" && value != "false") {
      return AutomaticMail{Kind::auto_reply, std::string("it has the field ") + name};
    }
  }
  const std::string precedence = lower_case(headers.text("Precedence"));
  for (const char* kind : {"bulk", "junk", "auto_reply", "list"}) {
    if (precedence == kind) {
      return AutomaticMail{Kind::auto_reply, in_words("Precedence", precedence)};
    }
  }
  if (headers.has("List-Id")) {
    return AutomaticMail{Kind::auto_reply, in_words("List-Id", headers.text("List-Id"))};
  }
  if (is_notice(headers.text("Subject"))) {
    return AutomaticMail{Kind::auto_reply, in_words("Subject", headers.text("Subject"))};
  }
  if (headers.has("Return-Path")) {
    const std::string path = headers.text("Return-Path");
    if (path.empty() || path == "<>") return AutomaticMail{Kind::bounce, "Return-Path: <>"};
  }
  return std::nullopt;
}

}  // namespace holdpoint
