#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"

namespace holdpoint {

// The server could not be reached, did not let us in, or stopped making sense; says what to mend,
// naming the setting. The connection is of no use any more.
class ImapError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ImapOptions {
  std::string url;  // `imaps://mail.example.org`, or `imap://…`, which changes over to TLS.
  std::string user;
  Secret password;
  bool tls = true;  // False: imap:// may go in the clear, if the server has nothing better.
  std::string folder = "INBOX";
  std::string ca_file;                                // Authorities to trust besides the system's.
  std::size_t max_mail_bytes = std::size_t{5} << 20;  // Larger ones are not fetched.
  Duration connect_deadline{20'000};                  // For connecting, TLS and login.
  Duration deadline{30'000};  // For the server's next bytes, when it owes some.
};

// A folder of a mail server, open for reading. For one thread. Every call throws ImapError; those
// that wait ask `cancelled` at least each second, and end with ImapError when it is true.
class ImapClient {
 public:
  virtual ~ImapClient() = default;

  using Uid = std::uint32_t;  // Of a mail, while the folder is open.
  virtual std::vector<Uid> unseen() = 0;

  struct Fetched {
    enum class Kind { here, too_large, gone };
    Kind kind = Kind::gone;
    std::string mail;
  };
  // Leaves it unseen.
  virtual Fetched fetch(Uid uid) = 0;
  virtual void mark_seen(Uid uid) = 0;

  // Whether the server tells of new mail by itself.
  virtual bool can_wait() const = 0;
  // Waits until mail has come since the last call of unseen(), at most so long. Also false when
  // cancelled.
  virtual bool wait_for_mail(Duration at_most) = 0;
};

// Connects, logs in and opens the folder. Certificates are always checked.
std::unique_ptr<ImapClient> open_imap(const ImapOptions& options, std::function<bool()> cancelled);

// Does the same and closes it again: what it found, in words.
std::string check_imap(const ImapOptions& options);

}  // namespace holdpoint
