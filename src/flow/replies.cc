#include "flow/replies.h"

#include "domain/bad_request.h"
#include "domain/mail_reply.h"
#include "domain/text.h"
#include "store/delivery_store.h"
#include "store/mail_store.h"
#include "store/question_store.h"
#include "store/session_store.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

// The same for every copy of a mail, and for no other mail to the same recipient.
std::string hash_of(const InboundMail& mail, const Delivery& post) {
  const std::string name =
      mail.message_id.empty() ? mail.subject + "\n" + mail.text : "id " + mail.message_id;
  return sha256_hex(post.id.text() + "\n" + mail.from + "\n" + name);
}

}  // namespace

std::string_view to_text(Replies::Outcome::Kind kind) {
  using Kind = Replies::Outcome::Kind;
  switch (kind) {
    case Kind::answered:
      return "answered";
    case Kind::already_answered:
      return "already_answered";
    case Kind::ignored:
      return "ignored";
    case Kind::refused:
      return "refused";
    case Kind::unclear:
      return "unclear";
    case Kind::late:
      return "late";
    case Kind::unknown:
      break;
  }
  return "unknown";
}

std::optional<Replies::Asked> Replies::find_asked(const InboundMail& mail) {
  for (const auto& recipient : mail.recipients) {
    const auto token = find_reply_token(recipient, options_.reply_to);
    const auto id = token ? tokens_.read(*token) : std::nullopt;
    if (!id) continue;
    auto asked = db_.read([&](Transaction& tx) -> std::optional<Asked> {
      auto post = delivery_store::find(tx, *id);
      if (post && post->follows) post = delivery_store::find(tx, *post->follows);
      if (!post || post->channel != "email" || !post->question_id) return std::nullopt;
      auto question = question_store::find(tx, *post->question_id);
      if (!question) return std::nullopt;
      return Asked{std::move(*post), std::move(*question)};
    });
    if (asked) return asked;
  }
  return std::nullopt;
}

Replies::Outcome Replies::take(const InboundMail& mail, const std::string& address, Time now) {
  using Kind = Outcome::Kind;
  const auto asked = find_asked(mail);
  if (!asked) return {Kind::unknown, "it was sent to no address of a mail of ours"};
  if (mail.automatic) {
    const bool bounce = mail.automatic->kind == AutomaticMail::Kind::bounce;
    note(mail, *asked,
         bounce ? events::mail_bounced(asked->post, mail.automatic->why)
                : events::reply_ignored(asked->post, mail.automatic->why),
         now);
    return {Kind::ignored, mail.automatic->why};
  }
  if (mail.from.empty() || mail.from != lower_case(asked->post.destination)) {
    const std::string reason = mail.from.empty()
                                   ? "it names no sender, or several"
                                   : "the question was not sent to " + shorten(mail.from, 200);
    note(mail, *asked, events::reply_refused(asked->post, reason), now);
    return {Kind::refused, reason};
  }
  return answer(mail, *asked, address, now);
}

Replies::Outcome Replies::answer(const InboundMail& mail, const Asked& asked,
                                 const std::string& address, Time now) {
  using Kind = Outcome::Kind;
  const std::string& recipient = asked.post.destination;
  const auto late = [&] {
    mail_back(mail, asked, "the question was settled before", now);
    return Outcome{Kind::late, "the question was settled before"};
  };
  const ReplyReading reading =
      read_reply(asked.question.spec, newest_text(mail.text), options_.limits);
  if (!reading.unclear.empty()) {
    if (is_settled(asked.question.status)) return late();
    mail_back(mail, asked, reading.unclear, now);
    return {Kind::unclear, "it does not say which answer is meant"};
  }
  const Answer answer{{{asked.question.id.text(), reading.values}}, recipient, "email", false};
  const Actor by{recipient, "mail:" + asked.post.id.text(), address};
  try {
    const auto outcome = answers_.answer(asked.question.session_id, answer, by, now);
    if (std::holds_alternative<AnswerAccepted>(outcome)) return {Kind::answered, ""};
    if (std::holds_alternative<AlreadyAnswered>(outcome)) return {Kind::already_answered, ""};
    if (std::holds_alternative<UnknownSession>(outcome)) return {Kind::unknown, "it is gone"};
    if (std::holds_alternative<NotAnAnswerer>(outcome)) {
      mail_back(mail, asked, "your address is not among those that may answer this agent", now);
      return {Kind::refused, "the agent's answerers do not list the sender"};
    }
    return late();
  } catch (const BadRequest& e) {
    mail_back(mail, asked, std::string("it ") + e.what(), now);
    return {Kind::unclear, "it breaks a rule of its question"};
  }
}

void Replies::note(const InboundMail& mail, const Asked& asked, const Event& event, Time now) {
  const std::string hash = hash_of(mail, asked.post);
  const Story told = db_.write([&](Transaction& tx) {
    Story story;
    session_store::lock(tx, asked.post.session_id);
    if (mail_store::receive(tx, hash, now)) story.add(tx, event, now);
    return story;
  });
  journal_.announce(told);
}

void Replies::mail_back(const InboundMail& mail, const Asked& asked, const std::string& reason,
                        Time now) {
  const std::string hash = hash_of(mail, asked.post);
  const Story told = db_.write([&](Transaction& tx) {
    Story story;
    // Replies to one mail go one by one, so that none of them is miscounted.
    session_store::lock(tx, asked.post.session_id);
    if (!mail_store::receive(tx, hash, now)) return story;
    const auto before = delivery_store::following(tx, asked.post.id, "reply_unclear");
    const bool enough = before.size() >= kMostMailsBack;
    story.add(tx, events::reply_unclear(asked.post, !enough), now);
    if (!enough) notices_.mail_back(tx, story, asked.post, reason, now);
    return story;
  });
  journal_.announce(told);
}

}  // namespace holdpoint
