#include "flow/expiry.h"

#include "domain/answer.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {
namespace {

// Sessions expired in one transaction: enough to share a sync, few enough not to hold up answers.
constexpr std::int64_t kBatch = 100;
constexpr Duration kSoon{20};

question_store::Settlement settlement_for(const Question& question) {
  if (question.on_timeout == OnTimeout::use_default) {
    return {QuestionStatus::defaulted, question.spec.default_choice, std::nullopt, std::nullopt};
  }
  return {QuestionStatus::timed_out, std::nullopt, std::nullopt, std::nullopt};
}

}  // namespace

Expiry::Expiry(Database& db, Journal& journal, Settling& settling, const Clock& clock)
    : db_(db),
      journal_(journal),
      settling_(settling),
      loop_("hp-expiry", clock, [this](Time now) { return run_once(now); }) {}

void Expiry::note_deadline(Time deadline) {
  if (deadline < sleeps_until_.load()) loop_.wake();
}

std::optional<Time> Expiry::run_once(Time now) {
  // Until the next deadline is known, every new one wakes the loop again.
  sleeps_until_ = Time::max();
  while (true) {
    const auto overdue =
        db_.read([&](Transaction& tx) { return question_store::overdue(tx, now, kBatch); });
    if (overdue.empty()) break;
    const Story story = db_.write([&](Transaction& tx) { return expire(tx, overdue, now); });
    journal_.announce(story);
    // Other steps have them all in hand, answers or another node's expiry: look again soon.
    if (story.events.empty()) return now + kSoon;
  }
  const auto next = db_.read([](Transaction& tx) { return question_store::next_deadline(tx); });
  sleeps_until_ = next.value_or(Time::max());
  return next;
}

Story Expiry::expire(Transaction& tx, const std::vector<SessionId>& sessions, Time now) {
  Story story;
  for (const auto& session : sessions) {
    bool any = false;
    if (!session_store::lock_if_free(tx, session)) continue;
    for (const auto& question : question_store::pending_of(tx, session)) {
      // An answer may have come since the look, or the question may belong to a later ask.
      if (question.deadline_at > now) continue;
      const auto settled = question_store::settle(tx, question.id, settlement_for(question), now);
      if (!settled) continue;
      any = true;
      settling_.settled(tx, story, *settled, events::question_expired(*settled), now);
    }
    if (any) settling_.ask_over(tx, story, question_store::latest_ask(tx, session), now);
  }
  return story;
}

}  // namespace holdpoint
