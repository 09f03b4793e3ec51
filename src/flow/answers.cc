#include "flow/answers.h"

#include <algorithm>

#include "domain/access.h"
#include "domain/bad_request.h"
#include "flow/audit.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {
namespace {

struct View {
  std::optional<Session> session;
  std::vector<Question> questions;  // The latest ask's, and older ones that the answer names.
};

View look(Transaction& tx, const SessionId& id, const Answer& answer) {
  View view{session_store::find(tx, id), {}};
  if (!view.session) return view;
  view.questions = question_store::latest_ask(tx, id);
  for (const auto& entry : answer.values) {
    const std::string& key = entry.first;
    const bool seen = std::any_of(view.questions.begin(), view.questions.end(),
                                  [&](const Question& q) { return q.id.text() == key; });
    if (seen || !is_uuid(key)) continue;
    auto older = question_store::find(tx, QuestionId(key));
    if (older && older->session_id == id) view.questions.push_back(std::move(*older));
  }
  return view;
}

struct Chosen {
  const Question* question;
  Choice choice;
  Named named;
};

bool same_answer(const Question& question, const Choice& choice) {
  return question.status == QuestionStatus::answered && question.choice == choice;
}

// Thrown inside the transaction, so that what it had settled by then is undone.
struct LostRace {
  Question counted;
};

struct Done {
  AnswerOutcome outcome;
  Story story;
};

}  // namespace

AnswerOutcome Answers::answer(const SessionId& id, const Answer& answer, const Actor& by,
                              Time now) {
  // Most of the work needs no write: what is invalid, unknown or settled already is told from a
  // snapshot.
  const View view = db_.read([&](Transaction& tx) { return look(tx, id, answer); });
  if (!view.session) return UnknownSession{};
  const auto agent = agents_.find(view.session->agent_name);
  if (agent && !may_decide(agent->answerers, by)) return NotAnAnswerer{agent->name};
  const bool finished = is_finished(view.session->status);
  std::vector<Chosen> chosen;
  try {
    for (const auto& named : find_named(view.questions, answer)) {
      if (finished && named.question->status != QuestionStatus::answered) {
        return SessionFinished{view.session->status};
      }
      chosen.push_back({named.question, {}, named});
    }
  } catch (const BadRequest&) {
    if (finished) return SessionFinished{view.session->status};
    throw;
  }
  bool any_pending = false;
  for (auto& [question, choice, named] : chosen) {
    choice = choose(question->spec, *named.values, named.field, limits_);
    any_pending = any_pending || !is_settled(question->status);
  }
  for (const auto& [question, choice, named] : chosen) {
    if (is_settled(question->status) && !same_answer(*question, choice)) {
      return AnswerConflict{*question};
    }
  }
  if (!any_pending) return AlreadyAnswered{};

  try {
    Offer offer(journal_.seats, now);
    Done done = db_.write([&](Transaction& tx) {
      Done d;
      d.story.seat = offer.seat();
      // Two answers to one ask at once: the second must see what the first settled, or neither
      // would find the ask complete.
      session_store::lock(tx, id);
      bool won_any = false;
      for (const auto& [asked, choice, named] : chosen) {
        const question_store::Settlement settlement{
            QuestionStatus::answered, choice,
            answer.by.empty() ? std::nullopt : std::optional(answer.by), answer.via};
        if (const auto question = question_store::settle(tx, asked->id, settlement, now)) {
          won_any = true;
          settling_.settled(tx, d.story, *question, events::question_answered(*question), now);
          audit::record(tx, by, "question_answered", "question:" + asked->id.text(),
                        "as " + answer.by + " via " + answer.via, now);
          continue;
        }
        auto counted = question_store::find(tx, asked->id);
        if (!counted) throw StoreError("the question is gone", false);
        if (!same_answer(*counted, choice)) throw LostRace{std::move(*counted)};
      }
      if (!won_any) {
        d.outcome = AlreadyAnswered{};
        return d;
      }
      const auto ask = question_store::latest_ask(tx, id);
      const auto remaining = std::count_if(ask.begin(), ask.end(),
                                           [](const Question& q) { return !is_settled(q.status); });
      d.outcome = AnswerAccepted{remaining};
      if (remaining == 0) settling_.ask_over(tx, d.story, ask, now);
      return d;
    });
    journal_.announce(done.story);
    offer.start(std::move(done.story.claimed));
    return std::move(done.outcome);
  } catch (LostRace& race) {
    return AnswerConflict{std::move(race.counted)};
  }
}

}  // namespace holdpoint
