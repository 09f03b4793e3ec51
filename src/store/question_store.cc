#include "store/question_store.h"

#include "store/question_columns.h"

namespace holdpoint::question_store {
namespace {

#define QUESTION_COLUMNS                                                                 \
  "id, session_id, agent_name, ask, position, question, header, options, multi_select, " \
  "allow_other, style, default_choice, context, tool_call_id, on_timeout, created_at, "  \
  "deadline_at, status, selected, answer_text, answered_by, answered_via, settled_at, channels"

Question read_question(const Row& row) {
  Question q;
  q.id = QuestionId(row.string(0));
  q.session_id = SessionId(row.string(1));
  q.agent_name = row.string(2);
  q.ask = row.integer(3);
  q.position = row.integer(4);
  q.spec.question = row.string(5);
  q.spec.header = row.optional_string(6);
  q.spec.options = question_columns::to_options(row.text(7));
  q.spec.multi_select = row.integer(8) != 0;
  q.spec.allow_other = row.integer(9) != 0;
  q.spec.style = row.text(10) == "select" ? Style::select : Style::buttons;
  if (!row.is_null(11)) q.spec.default_choice = question_columns::to_choice(row.text(11));
  q.context = row.string(12);
  q.tool_call_id = row.optional_string(13);
  q.on_timeout = on_timeout_from(row.text(14)).value();
  q.created_at = row.time(15);
  q.deadline_at = row.time(16);
  q.status = question_status_from(row.text(17)).value();
  if (!row.is_null(18)) {
    q.choice = Choice{question_columns::to_labels(row.text(18)), row.optional_string(19)};
  }
  q.answered_by = row.optional_string(20);
  q.answered_via = row.optional_string(21);
  q.settled_at = row.optional_time(22);
  q.channels = question_columns::to_channels(row.text(23));
  return q;
}

template <class... Args>
std::vector<Question> read_all(Transaction& tx, std::string_view sql, const Args&... args) {
  std::vector<Question> questions;
  tx.query(
      sql, [&](const Row& row) { questions.push_back(read_question(row)); }, args...);
  return questions;
}

}  // namespace

void insert(Transaction& tx, const Question& q) {
  std::optional<std::string> default_choice;
  if (q.spec.default_choice) default_choice = question_columns::from_choice(*q.spec.default_choice);
  tx.post(
      "INSERT INTO agent_questions (id, session_id, agent_name, ask, position, question, header, "
      "options, multi_select, allow_other, style, default_choice, context, tool_call_id, "
      "on_timeout, created_at, deadline_at, channels) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
      q.id, q.session_id, q.agent_name, q.ask, q.position, q.spec.question, q.spec.header,
      question_columns::from_options(q.spec.options), q.spec.multi_select, q.spec.allow_other,
      to_text(q.spec.style), default_choice, q.context, q.tool_call_id, to_text(q.on_timeout),
      q.created_at, q.deadline_at, question_columns::from_channels(q.channels));
}

std::optional<Question> find(Transaction& tx, const QuestionId& id) {
  auto found = read_all(tx, "SELECT " QUESTION_COLUMNS " FROM agent_questions WHERE id = $1", id);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<Question> latest_ask(Transaction& tx, const SessionId& session) {
  return read_all(tx,
                  "SELECT " QUESTION_COLUMNS
                  " FROM agent_questions WHERE session_id = $1 AND ask = "
                  "(SELECT MAX(ask) FROM agent_questions WHERE session_id = $1) ORDER BY position",
                  session);
}

std::vector<Question> of_ask(Transaction& tx, const SessionId& session, std::int64_t ask) {
  return read_all(tx,
                  "SELECT " QUESTION_COLUMNS
                  " FROM agent_questions WHERE session_id = $1 AND ask = $2 ORDER BY position",
                  session, ask);
}

std::vector<Question> pending_of(Transaction& tx, const SessionId& session) {
  // Not by their status: SQLite would go through all that is pending anywhere.
  auto questions = latest_ask(tx, session);
  std::erase_if(questions, [](const Question& q) { return is_settled(q.status); });
  return questions;
}

std::vector<Question> list(Transaction& tx, const Filter& filter) {
  std::vector<Question> questions;
  const auto add = [&](const Row& row) { questions.push_back(read_question(row)); };
  const std::string before = filter.before.empty() ? "~" : filter.before;  // "~" sorts last.
  std::optional<std::string> status;
  if (filter.status) status = to_text(*filter.status);
  // One text for each index that can serve it.
  if (filter.session) {
    tx.query("SELECT " QUESTION_COLUMNS
             " FROM agent_questions WHERE session_id = $1 AND id < $2 AND "
             "($3 IS NULL OR status = $3) AND ($4 IS NULL OR agent_name = $4) "
             "ORDER BY id DESC LIMIT $5",
             add, *filter.session, before, status, filter.agent_name, filter.limit);
  } else if (status) {
    tx.query("SELECT " QUESTION_COLUMNS
             " FROM agent_questions WHERE status = $1 AND id < $2 AND "
             "($3 IS NULL OR agent_name = $3) ORDER BY id DESC LIMIT $4",
             add, *status, before, filter.agent_name, filter.limit);
  } else {
    tx.query("SELECT " QUESTION_COLUMNS
             " FROM agent_questions WHERE id < $1 AND ($2 IS NULL OR agent_name = $2) "
             "ORDER BY id DESC LIMIT $3",
             add, before, filter.agent_name, filter.limit);
  }
  return questions;
}

std::vector<Question> list_urgent(Transaction& tx, const Filter& filter, const Urgency& after) {
  // `status` stands in the text for idx_questions_deadline to serve it.
  return read_all(tx,
                  "SELECT " QUESTION_COLUMNS
                  " FROM agent_questions WHERE status = 'pending' AND (deadline_at, id) > ($1, $2) "
                  "AND ($3 IS NULL OR agent_name = $3) AND ($4 IS NULL OR session_id = $4) "
                  "ORDER BY deadline_at, id LIMIT $5",
                  after.deadline_at, after.id, filter.agent_name, filter.session, filter.limit);
}

std::vector<std::pair<std::string, std::int64_t>> count_by_status(Transaction& tx) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  tx.query("SELECT status, COUNT(*) FROM agent_questions GROUP BY status",
           [&](const Row& row) { counts.emplace_back(row.string(0), row.integer(1)); });
  return counts;
}

void each_answered(Transaction& tx, std::int64_t most,
                   const std::function<void(const AnsweredBrief&)>& visit) {
  tx.query(
      "SELECT agent_name, created_at, answered_at FROM agent_questions WHERE status = 'answered' "
      "ORDER BY id DESC LIMIT $1",
      [&](const Row& row) {
        visit({row.text(0), row.time(2) - row.time(1)});
      },
      most);
}

std::optional<Question> settle(Transaction& tx, const QuestionId& id, const Settlement& s,
                               Time now) {
  std::optional<std::string> line, selected, text;
  if (s.choice) {
    line = choice_line(*s.choice);
    selected = question_columns::from_labels(s.choice->selected);
    text = s.choice->text;
  }
  const bool answered = s.status == QuestionStatus::answered;
  std::optional<Question> settled;
  tx.query(
      "UPDATE agent_questions SET status = $1, answer = $2, selected = $3, answer_text = $4, "
      "answered_by = $5, answered_via = $6, answered_at = $7, settled_at = $8 "
      "WHERE id = $9 AND status = 'pending' RETURNING " QUESTION_COLUMNS,
      [&](const Row& row) { settled = read_question(row); }, to_text(s.status), line, selected,
      text, s.by, s.via, answered ? std::optional(now) : std::nullopt, now, id);
  return settled;
}

std::vector<SessionId> overdue(Transaction& tx, Time now, std::int64_t most) {
  std::vector<SessionId> sessions;
  tx.query(
      "SELECT session_id FROM agent_questions WHERE status = 'pending' AND deadline_at <= $1 "
      "ORDER BY deadline_at LIMIT $2",
      [&](const Row& row) {
        SessionId id(row.string(0));
        // The questions of one ask share their deadline and stand together.
        if (sessions.empty() || sessions.back() != id) sessions.push_back(std::move(id));
      },
      now, most);
  return sessions;
}

std::optional<Time> next_deadline(Transaction& tx) {
  std::optional<Time> next;
  tx.query(
      "SELECT deadline_at FROM agent_questions WHERE status = 'pending' ORDER BY deadline_at LIMIT "
      "1",
      [&](const Row& row) { next = row.time(0); });
  return next;
}

}  // namespace holdpoint::question_store
