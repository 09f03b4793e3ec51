#pragma once

#include <optional>
#include <string>

#include "domain/delivery.h"
#include "flow/answers.h"
#include "flow/notices.h"
#include "wire/inbound_mail.h"
#include "wire/reply_token.h"

namespace holdpoint {

// Turns replies to our mails into answers. Safe to share between threads and nodes: a mail that is
// read more than once counts once, and gets one mail back at most.
class Replies {
 public:
  struct Options {
    std::string reply_to;  // `reply@example.org`, whose plus addresses carry the tokens.
    Limits limits;
  };
  Replies(Database& db, Journal& journal, Answers& answers, Notices& notices, ReplyTokens tokens,
          Options options)
      : db_(db),
        journal_(journal),
        answers_(answers),
        notices_(notices),
        tokens_(std::move(tokens)),
        options_(std::move(options)) {}

  // So many mails back does one recipient get about one question; then replies that are no answers
  // show in the history only. Two programs that answer each other come to an end by it.
  static constexpr std::size_t kMostMailsBack = 5;

  struct Outcome {
    enum class Kind {
      answered,
      already_answered,  // With the same: there is nothing to say.
      ignored,           // No person wrote it.
      refused,           // Not from whom we asked, or not theirs to answer.
      unclear,           // They are asked again; the question still waits.
      late,              // Settled before; they are told how.
      unknown,           // It belongs to no mail of ours.
    };
    Kind kind = Kind::unknown;
    std::string reason;  // For the log; says nothing of what the mail holds.
  };
  // One mail, in transactions of its own; safe to repeat. `address` is where it came from, for the
  // audit log. Throws StoreError; then the same mail may be taken again.
  Outcome take(const InboundMail& mail, const std::string& address, Time now);

 private:
  struct Asked {
    Delivery post;  // The mail that asked, whichever of those that followed it is replied to.
    Question question;
  };
  std::optional<Asked> find_asked(const InboundMail& mail);
  Outcome answer(const InboundMail& mail, const Asked& asked, const std::string& address, Time now);
  // Both only for a mail that was not seen before.
  void note(const InboundMail& mail, const Asked& asked, const Event& event, Time now);
  void mail_back(const InboundMail& mail, const Asked& asked, const std::string& reason, Time now);

  Database& db_;
  Journal& journal_;
  Answers& answers_;
  Notices& notices_;
  const ReplyTokens tokens_;
  const Options options_;
};
std::string_view to_text(Replies::Outcome::Kind kind);

}  // namespace holdpoint
