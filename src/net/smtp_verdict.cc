#include "net/smtp_verdict.h"

#include <cstdlib>

namespace holdpoint {
namespace {

using Kind = SmtpResult::Kind;

constexpr const char* kPorts =
    "; check [email] smtp_url: port 465 takes smtps://, ports 587 and 25 take smtp://";

// Empty: libcurl has no word of its own for it.
std::string describe(const SmtpEnd& end, const SmtpOptions& options) {
  switch (end.code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return "[email] smtp_url must be smtp://host:port or smtps://host:port";
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the mail server's name is not known; check [email] smtp_url";
    case CURLE_COULDNT_CONNECT:
      return "the mail server cannot be reached (" + end.detail +
             "); check host and port of [email] smtp_url";
    case CURLE_OPERATION_TIMEDOUT:
      // Both sides wait where one expects TLS and the other does not.
      return std::string("the mail server did not answer in time") +
             (end.command.empty() ? kPorts : "");
    case CURLE_ABORTED_BY_CALLBACK:
      return "broken off, since the server stops";
    case CURLE_USE_SSL_FAILED:
      return "the mail server offers no STARTTLS, so nothing was sent; use smtps://, or set "
             "[email] smtp_tls = false to send in the clear";
    case CURLE_SSL_CACERT_BADFILE:
      return "[email] ca_file cannot be read as PEM: " + options.ca_file;
    case CURLE_PEER_FAILED_VERIFICATION:
      return "the mail server's certificate is not trusted (" + end.detail +
             "); set [email] ca_file to its authority's, or use the name it is made for in "
             "smtp_url";
    case CURLE_SSL_CONNECT_ERROR:
      return "TLS with the mail server failed (" + end.detail + ")" + kPorts;
    default:
      return end.reply.empty() ? "the connection to the mail server failed (" + end.detail + ")"
                               : "";
  }
}

// `550 5.7.1 Relaying denied`: not about the recipient but about us.
bool is_about_us(const std::string& reply) {
  for (const char* sign : {" 5.7.1 ", "relay", "Relay"}) {
    if (reply.find(sign) != std::string::npos) return true;
  }
  return false;
}

void judge_reply(const SmtpEnd& end, const SmtpOptions& options, SmtpResult& result) {
  const bool permanent = result.code >= 500 && result.code < 600;
  result.error = "the mail server said " + end.reply;
  if (!permanent && result.code >= 400) return;
  if (end.code == CURLE_LOGIN_DENIED || result.code == 535) {
    result.kind = Kind::wrong_login;
    result.error += permanent
                        ? "; user or password is wrong: check [email] smtp_user and smtp_password"
                        : "; it takes no way of logging in that we know";
  } else if (result.code == 530 ||
             (options.user.empty() && end.command == "RCPT" && is_about_us(end.reply))) {
    result.error += "; it wants a login: set [email] smtp_user and smtp_password";
  } else if (permanent && end.command == "MAIL") {
    result.error += "; it does not let us send as this sender: check [email] from";
  } else if (permanent && (end.command == "RCPT" || end.command == "DATA")) {
    result.kind = Kind::refused;
  }
}

}  // namespace

SmtpResult judge(const SmtpEnd& end, const SmtpOptions& options) {
  SmtpResult result;
  // libcurl's own number may be of an earlier mail.
  result.code = static_cast<int>(std::strtol(end.reply.c_str(), nullptr, 10));
  if (end.code == CURLE_OK) {
    result.kind = Kind::sent;
    return result;
  }
  result.error = describe(end, options);
  if (result.error.empty()) judge_reply(end, options, result);
  // A yes to what came before says nothing about the failure.
  if (result.code < 400) result.code = 0;
  return result;
}

}  // namespace holdpoint
