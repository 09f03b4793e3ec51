#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/question.h"
#include "store/database.h"

// The rows of agent_questions. Each function is one step of the caller's transaction.
namespace holdpoint::question_store {

void insert(Transaction& tx, const Question& question);

std::optional<Question> find(Transaction& tx, const QuestionId& id);
// The questions of the session's latest ask, in their order.
std::vector<Question> latest_ask(Transaction& tx, const SessionId& session);
// The questions that the given turn asked, in their order.
std::vector<Question> of_ask(Transaction& tx, const SessionId& session, std::int64_t ask);
std::vector<Question> pending_of(Transaction& tx, const SessionId& session);

struct Filter {
  std::optional<QuestionStatus> status;
  std::optional<std::string> agent_name;
  std::optional<SessionId> session;
  std::string before;  // Questions older than this id; empty: from the newest.
  std::int64_t limit = 50;
};
// The newest first.
std::vector<Question> list(Transaction& tx, const Filter& filter);

// A question's place among those that are the most urgent first.
struct Urgency {
  Time deadline_at;
  QuestionId id;
};
// Pending questions, the earliest deadline first: those after `after`. Of `filter` neither `status`
// nor `before` count.
std::vector<Question> list_urgent(Transaction& tx, const Filter& filter, const Urgency& after);
std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx);
// What figures are made of; valid only while the visitor runs. The newest questions first that were
// answered, `most` of them.
struct AnsweredBrief {
  std::string_view agent_name;
  Duration took;
};
void each_answered(Transaction& tx, std::int64_t most,
                   const std::function<void(const AnsweredBrief&)>& visit);

// How a question ends. The update happens only while it is pending: this one statement decides
// every race.
struct Settlement {
  QuestionStatus status = QuestionStatus::answered;
  std::optional<Choice> choice;
  std::optional<std::string> by;
  std::optional<std::string> via;
};
// The question as it is then; nothing if it was not pending any more.
[[nodiscard]] std::optional<Question> settle(Transaction& tx, const QuestionId& id,
                                             const Settlement& settlement, Time now);

// Sessions whose ask has pending questions past their deadline, the longest overdue first.
std::vector<SessionId> overdue(Transaction& tx, Time now, std::int64_t most);
std::optional<Time> next_deadline(Transaction& tx);

}  // namespace holdpoint::question_store
