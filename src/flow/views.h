#pragma once

#include <optional>
#include <vector>

#include "flow/journal.h"
#include "flow/metrics.h"
#include "store/delivery_store.h"
#include "store/event_store.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {

// What can be seen, without changing anything; and waiting until it changes.
class Views {
 public:
  Views(Database& db, Journal& journal) : db_(db), journal_(journal) {}

  struct SessionView {
    Session session;
    std::vector<Question> pending;
  };
  enum class Until { settled, finished };

  // Waits up to `longest` while the session runs a turn (`settled`), or until it has ended
  // (`finished`). Nothing if there is none.
  std::optional<SessionView> session(const SessionId& id, Until until, Duration longest);
  struct RecordView {
    Session session;
    SessionRecord record;
  };
  // At most 200 messages, about 1 MiB of them, and 200 children. Nothing if there is no such
  // session.
  std::optional<RecordView> record(const SessionId& id);

  // Waits up to `longest` until the question is settled.
  std::optional<Question> question(const QuestionId& id, Duration longest);

  // An ask from outside: the session that it is, what was asked last, and the asker's own data.
  struct AskView {
    Session session;
    std::vector<Question> questions;
    std::string payload;
  };
  // Waits up to `longest` until the session has ended. Nothing if there is no such session, or if
  // it has asked nothing.
  std::optional<AskView> ask(const SessionId& id, Duration longest);
  // The session that this key's ask became or joined.
  std::optional<SessionId> session_of_key(const std::string& agent_name, const std::string& key);
  // Only the one that it became.
  std::optional<SessionId> session_made_by(const std::string& agent_name, const std::string& key);

  // All questions of the ask that this one belongs to, in their order.
  std::vector<Question> ask_of(const Question& question);

  std::vector<Session> sessions(const session_store::Filter& filter);
  std::vector<Question> questions(const question_store::Filter& filter);
  std::vector<Question> urgent_questions(const question_store::Filter& filter,
                                         const question_store::Urgency& after);
  std::vector<Delivery> deliveries(const delivery_store::Filter& filter);
  // Nothing if there is no such session.
  std::optional<std::vector<event_store::StoredEvent>> events(const SessionId& id,
                                                              std::int64_t after,
                                                              std::int64_t limit);
  Metrics::Gauges gauges(Time now);
  // The server stops: nothing waits any more.
  bool is_closing() { return journal_.is_closed(); }

 private:
  Database& db_;
  Journal& journal_;
};

}  // namespace holdpoint
