#pragma once

#include <string>
#include <vector>

#include "agents/runner.h"
#include "base/ids.h"
#include "base/log.h"
#include "domain/delivery.h"
#include "domain/question.h"
#include "domain/session.h"

namespace holdpoint {

// A state change: a row of the session's history and a line of the log, in the same words. Facts
// never hold payloads, answers or secrets.
struct Event {
  SessionId session;
  std::string type;
  Facts facts;
  Level level = Level::info;
  bool logged = true;  // False: history only.
  bool moves = true;   // False: who waits for the session or its questions need not look again.
};

// All wording of history and log.
namespace events {

// Whether there are events of this type.
bool is_type(std::string_view type);

Event session_started(const SessionId& id, const std::string& agent,
                      const std::optional<SessionId>& parent);
Event trigger_repeated(const SessionId& id, const std::string& agent);
Event ask_joined(const SessionId& id, const std::string& agent);
Event card_posted(const SessionId& id, const std::string& agent,
                  const std::vector<std::string>& channels);
Event turn_started(const SessionId& id, std::int64_t turn, std::int64_t attempt, TurnReason reason);
Event turn_failed(const SessionId& id, std::int64_t turn, std::int64_t attempt,
                  const std::string& reason, std::optional<Duration> retry_in);
Event turn_continued(const SessionId& id, std::int64_t turn);
Event turn_released(const SessionId& id, std::int64_t turn);
// The lease was lost before the turn could write its end; nothing of it was kept.
Event turn_discarded(const SessionId& id, std::int64_t turn, std::int64_t lease);
Event result_deferred(const SessionId& id, std::int64_t turn, std::int64_t messages);
Event agent_output(const SessionId& id, std::int64_t turn, const std::string& line);
Event model_replied(const SessionId& id, std::int64_t turn, const ModelStep& step);
Event tool_ran(const SessionId& id, std::int64_t turn, const ToolStep& step);
// Of the parent: it has started sub-sessions, and one of them has ended.
Event agents_spawned(const SessionId& id, std::int64_t turn,
                     const std::vector<SpawnReply::Start>& starts);
Event sub_session_ended(const SessionId& id, const Session& child);
Event question_asked(const Question& question);
Event ask_refused(const SessionId& id, std::int64_t turn, const std::string& reason);
Event question_answered(const Question& question);
Event question_expired(const Question& question);
Event question_cancelled(const Question& question);
Event session_resumed(const SessionId& id, TurnReason reason);
Event session_completed(const SessionId& id);
Event session_failed(const SessionId& id, const std::string& reason);
Event session_cancelled(const SessionId& id, const std::string& reason);
Event session_retried(const SessionId& id, std::int64_t turn);
Event message_queued(const SessionId& id, const MessageId& message);
Event delivery_sent(const Delivery& delivery, std::optional<std::int64_t> status);
Event delivery_failed(const Delivery& delivery, const std::string& reason,
                      std::optional<Duration> retry_in);
Event delivery_dead(const DeliveryId& id, const SessionId& session, const std::string& reason);
Event delivery_obsolete(const Delivery& delivery);
Event delivery_requeued(const Delivery& delivery);
Event destination_disabled(const SessionId& id, const std::string& host, const std::string& reason);
// A reply by mail that no person wrote, that came from another address than the mail had gone to,
// or that is no answer, or none any more.
Event reply_ignored(const Delivery& post, const std::string& reason);
Event reply_refused(const Delivery& post, const std::string& reason);
Event reply_unclear(const Delivery& post, bool mailed_back);
Event mail_bounced(const Delivery& post, const std::string& reason);

}  // namespace events
}  // namespace holdpoint
