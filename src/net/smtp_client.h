#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/secret.h"
#include "base/time.h"

namespace holdpoint {

struct SmtpOptions {
  std::string url;   // `smtp://host:port`, which turns to TLS by STARTTLS, or `smtps://host:port`.
  std::string user;  // Empty: no login.
  Secret password;
  bool tls_required = true;  // False: a server that offers no STARTTLS gets it in the clear.
  std::string ca_file;       // PEM of authorities to trust besides the system's; empty: none.
  Duration connect_timeout{10'000};
  Duration total_timeout{45'000};
};

struct SmtpResult {
  enum class Kind {
    sent,
    failed,       // Worth another try: the server is away or busy, or a setting is to be mended.
    wrong_login,  // The same, but each try may count against us.
    refused,      // The server will not take this message for this recipient, ever.
  };
  Kind kind = Kind::failed;
  int code = 0;       // The server's last reply code; 0: there was none.
  std::string error;  // Empty when sent. Names the setting to mend, if it is one.
};

// Hands mail over to a server. Safe to share between threads.
class MailSender {
 public:
  virtual ~MailSender() = default;
  // `message` has CRLF. `cancelled` is asked now and then; true ends it. Never throws for what the
  // network or the server does. When a connection breaks after the message went out, it may have
  // arrived though this says failed.
  virtual SmtpResult send(const std::string& from, const std::string& to,
                          const std::string& message, const std::function<bool()>& cancelled) = 0;
  // Connects and logs in as `send` would; `sent` means that it could.
  virtual SmtpResult check() = 0;
};

// The real one, on libcurl; connections are kept for the next mail for a short while.
std::unique_ptr<MailSender> make_smtp_client(SmtpOptions options);

}  // namespace holdpoint
