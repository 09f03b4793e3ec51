#include "flow/links.h"

#include "domain/access.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "flow/audit.h"
#include "store/question_store.h"
#include "store/session_store.h"
#include "wire/digest.h"
#include "wire/token.h"

namespace holdpoint {

std::optional<std::string> Links::make(const QuestionId& id, const std::string& recipient,
                                       const Actor& by, Time now) {
  if (is_blank(recipient) || count_chars(recipient) > 200 || !is_clean_utf8(recipient)) {
    throw BadRequest("recipient", "must have 1 to 200 characters");
  }
  const std::string token = new_token();
  const bool made = db_.write([&](Transaction& tx) {
    const auto question = question_store::find(tx, id);
    if (!question) return false;
    if (is_settled(question->status)) {
      throw BadRequest("question", "is " + std::string(to_text(question->status)) + " already");
    }
    const auto agent = agents_.find(question->agent_name);
    if (agent && !may_decide(agent->answerers, {recipient, "link", ""})) {
      throw BadRequest("recipient", "is not among the answerers of " + question->agent_name);
    }
    link_store::insert(
        tx, {sha256_hex(token), question->id, question->session_id, "link", recipient, now});
    audit::record(tx, by, "link_made", "question:" + id.text(), "for " + recipient, now);
    return true;
  });
  return made ? std::optional(token) : std::nullopt;
}

std::optional<Links::Opened> Links::open(const SessionId& session, const std::string& token) {
  if (!is_token(token)) return std::nullopt;
  return db_.read([&](Transaction& tx) -> std::optional<Opened> {
    const auto link = link_store::find(tx, sha256_hex(token));
    if (!link || link->session_id != session) return std::nullopt;
    auto question = question_store::find(tx, link->question_id);
    if (!question) return std::nullopt;
    return Opened{std::move(*question),
                  link->channel,
                  {link->recipient, "link:" + link->token_hash.substr(0, 16), ""}};
  });
}

void links::put_token(Transaction& tx, Delivery& delivery, Time now) {
  if (!delivery.question_id || !delivery.link_for) return;
  const auto make = [&](const QuestionId& question) {
    std::string token = new_token();
    link_store::insert(tx, {sha256_hex(token), question, delivery.session_id, delivery.channel,
                            *delivery.link_for, now});
    return token;
  };
  if (delivery.channel == "url") {
    const std::string mark = token_mark(delivery.id);
    const auto at = delivery.body.find(mark);
    if (at != std::string::npos) {
      delivery.body.replace(at, mark.size(), make(*delivery.question_id));
    }
  } else if (delivery.ask) {
    for (const auto& question : question_store::of_ask(tx, delivery.session_id, *delivery.ask)) {
      delivery.tokens.push_back(make(question.id));
    }
  } else {
    delivery.tokens.push_back(make(*delivery.question_id));
  }
}

}  // namespace holdpoint
