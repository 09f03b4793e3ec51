#include "flow/views.h"

namespace holdpoint {

std::optional<Views::SessionView> Views::session(const SessionId& id, Until until,
                                                 Duration longest) {
  const auto look = [&] {
    return db_.read([&](Transaction& tx) { return session_store::find(tx, id); });
  };
  const auto satisfied = [&](const std::optional<Session>& session) {
    if (!session || is_finished(session->status)) return true;
    return until == Until::settled && session->status != SessionStatus::running;
  };
  const auto deadline = std::chrono::steady_clock::now() + longest;
  const bool waits = longest > Duration{0};
  std::optional<Journal::Watch> watch;
  if (waits) watch.emplace(journal_, id);
  while (true) {
    auto session = look();
    while (waits && !satisfied(session) && watch->wait_until(deadline)) session = look();
    if (!session) return std::nullopt;
    SessionView view{std::move(*session), {}};
    if (view.session.status != SessionStatus::pending_input) return view;
    view.pending = db_.read([&](Transaction& tx) { return question_store::pending_of(tx, id); });
    // While one is pending the session is parked as it was seen; else it has gone on since.
    if (!view.pending.empty()) return view;
  }
}

std::optional<Views::RecordView> Views::record(const SessionId& id) {
  constexpr std::int64_t kMost = 200;
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  return db_.read([&](Transaction& tx) -> std::optional<RecordView> {
    auto session = session_store::find(tx, id);
    auto record = session_store::find_record(tx, id, kMost, kBytes);
    if (!session || !record) return std::nullopt;
    return RecordView{std::move(*session), std::move(*record)};
  });
}

std::optional<Question> Views::question(const QuestionId& id, Duration longest) {
  const auto look = [&] {
    return db_.read([&](Transaction& tx) { return question_store::find(tx, id); });
  };
  auto question = look();
  if (!question || is_settled(question->status) || longest <= Duration{0}) return question;
  const auto deadline = std::chrono::steady_clock::now() + longest;
  Journal::Watch watch(journal_, question->session_id);
  question = look();
  while (question && !is_settled(question->status) && watch.wait_until(deadline)) question = look();
  return question;
}

std::optional<Views::AskView> Views::ask(const SessionId& id, Duration longest) {
  if (longest > Duration{0} && !session(id, Until::finished, longest)) return std::nullopt;
  return db_.read([&](Transaction& tx) -> std::optional<AskView> {
    auto session = session_store::find(tx, id);
    auto record = session_store::find_record(tx, id, 0, 0);
    if (!session || !record || session->questions_asked == 0) return std::nullopt;
    return AskView{std::move(*session), question_store::latest_ask(tx, id),
                   std::move(record->payload)};
  });
}

std::optional<SessionId> Views::session_of_key(const std::string& agent_name,
                                               const std::string& key) {
  return db_.read([&](Transaction& tx) -> std::optional<SessionId> {
    auto found = session_store::find_by_key(tx, agent_name, key);
    if (!found) found = session_store::find_joined(tx, agent_name, key);
    return found ? std::optional(found->id) : std::nullopt;
  });
}

std::optional<SessionId> Views::session_made_by(const std::string& agent_name,
                                                const std::string& key) {
  return db_.read([&](Transaction& tx) -> std::optional<SessionId> {
    const auto found = session_store::find_by_key(tx, agent_name, key);
    return found ? std::optional(found->id) : std::nullopt;
  });
}

std::vector<Question> Views::ask_of(const Question& question) {
  return db_.read([&](Transaction& tx) {
    return question_store::of_ask(tx, question.session_id, question.ask);
  });
}

std::vector<Session> Views::sessions(const session_store::Filter& filter) {
  return db_.read([&](Transaction& tx) { return session_store::list(tx, filter); });
}

std::vector<Question> Views::questions(const question_store::Filter& filter) {
  return db_.read([&](Transaction& tx) { return question_store::list(tx, filter); });
}

std::vector<Question> Views::urgent_questions(const question_store::Filter& filter,
                                              const question_store::Urgency& after) {
  return db_.read([&](Transaction& tx) { return question_store::list_urgent(tx, filter, after); });
}

std::vector<Delivery> Views::deliveries(const delivery_store::Filter& filter) {
  return db_.read([&](Transaction& tx) { return delivery_store::list(tx, filter); });
}

std::optional<std::vector<event_store::StoredEvent>> Views::events(const SessionId& id,
                                                                   std::int64_t after,
                                                                   std::int64_t limit) {
  using Events = std::vector<event_store::StoredEvent>;
  return db_.read([&](Transaction& tx) -> std::optional<Events> {
    if (!session_store::find(tx, id)) return std::nullopt;
    return event_store::after(tx, id, after, limit);
  });
}

Metrics::Gauges Views::gauges(Time now) {
  return db_.read([&](Transaction& tx) {
    Metrics::Gauges gauges;
    gauges.sessions = session_store::count_by_status(tx);
    gauges.questions = question_store::count_by_status(tx);
    gauges.deliveries = delivery_store::count_by_status(tx);
    gauges.turns_due = session_store::count_due(tx, now);
    return gauges;
  });
}

}  // namespace holdpoint
