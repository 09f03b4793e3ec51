#include "flow/reply_inbox.h"

#include <algorithm>

#include "base/log.h"

namespace holdpoint {

ReplyInbox::ReplyInbox(Open open, Replies& replies, const Clock& clock, std::string address)
    : open_(std::move(open)),
      replies_(replies),
      clock_(clock),
      address_(std::move(address)),
      loop_("mailbox", clock, [this](Time now) { return run_once(now); }) {}

void ReplyInbox::stop() {
  stopping_ = true;
  loop_.stop();
  client_.reset();
}

Duration ReplyInbox::back_off() {
  const Duration wait = std::min(kMostBackoff, Duration{1000} * (1 << std::min(failures_, 6)));
  ++failures_;
  return wait;
}

std::optional<Time> ReplyInbox::run_once(Time now) {
  const auto fail = [&](const char* event, const char* reason) -> std::optional<Time> {
    if (stopping_) return std::nullopt;
    const Duration wait = back_off();
    log(Level::warning, event,
        {{"reason", reason}, {"retry_in_ms", static_cast<std::int64_t>(wait.count())}});
    return clock_.now() + wait;
  };
  if (stopping_) return std::nullopt;
  try {
    if (!client_) {
      client_ = open_([this] { return stopping_.load(); });
      connected_ = true;
      log(Level::info, "mailbox_opened", {{"server", address_}});
    }
    take_unseen();
    failures_ = 0;
    if (!client_->can_wait()) return now + kPoll;
    client_->wait_for_mail(kWait);
    if (stopping_) return std::nullopt;
    return now;
  } catch (const ImapError& e) {
    client_.reset();
    connected_ = false;
    return fail("mailbox_lost", e.what());
  } catch (const StoreError& e) {
    return fail("mail_not_taken", e.what());
  }
}

void ReplyInbox::take_unseen() {
  for (const auto uid : client_->unseen()) {
    if (stopping_) return;
    take(uid);
    client_->mark_seen(uid);
  }
}

void ReplyInbox::take(ImapClient::Uid uid) {
  const auto fetched = client_->fetch(uid);
  const auto number = static_cast<std::int64_t>(uid);
  if (fetched.kind == ImapClient::Fetched::Kind::gone) return;
  if (fetched.kind == ImapClient::Fetched::Kind::too_large) {
    log(Level::warning, "mail_skipped", {{"uid", number}, {"reason", "it is too large"}});
    return;
  }
  try {
    const auto outcome = replies_.take(read_mail(fetched.mail), address_, clock_.now());
    Facts facts{{"uid", number}, {"outcome", to_text(outcome.kind)}};
    if (!outcome.reason.empty()) facts.emplace_back("reason", outcome.reason);
    log(Level::info, "mail_taken", facts);
  } catch (const StoreError&) {
    throw;
  } catch (const std::exception& e) {
    // Tried again it would stand in the way of all others for ever.
    log(Level::error, "mail_skipped", {{"uid", number}, {"reason", e.what()}});
  }
}

}  // namespace holdpoint
