#include "flow/sub_sessions.h"

namespace holdpoint {

void SubSessions::lock_parent(Transaction& tx, const std::optional<SessionId>& parent) {
  if (parent) session_store::lock(tx, *parent);
}

void SubSessions::start(Transaction& tx, Story& story, const SessionId& parent, std::int64_t turn,
                        const SpawnReply& reply, Time now) {
  for (const auto& start : reply.starts) {
    session_store::NewSession child;
    child.id = SessionId::make(now);
    child.agent_name = start.agent_name;
    child.payload = start.payload;
    child.parent_id = parent;
    child.spawned_by = turn;
    child.spawn_call = reply.tool_call_id;
    if (!session_store::insert(tx, child, now)) {
      throw StoreError("a sub-session could not be inserted", true);
    }
    story.add(tx, events::session_started(child.id, child.agent_name, parent), now);
  }
  story.add(tx, events::agents_spawned(parent, turn, reply.starts), now);
  story.turn_due = true;
}

void SubSessions::ended(Transaction& tx, Story& story, const SessionId& id, Time now) {
  const auto spawned = session_store::find_spawned(tx, id);
  if (!spawned) return;
  if (const auto child = session_store::find(tx, id)) {
    story.add(tx, events::sub_session_ended(spawned->parent_id, *child), now);
  }
  if (!session_store::awaits_agents(tx, spawned->parent_id, spawned->turn)) return;
  std::vector<SubResult> results;
  for (auto& child : session_store::spawned_by(tx, spawned->parent_id, spawned->turn)) {
    results.push_back({child.id, child.agent_name, child.status, std::move(child.result),
                       std::move(child.error)});
  }
  session_store::resume_parent(tx, spawned->parent_id, spawn_resume_json(spawned->call, results),
                               now);
  story.add(tx, events::session_resumed(spawned->parent_id, TurnReason::agents), now);
  story.turn_due = true;
}

std::vector<SessionId> SubSessions::cancel(Transaction& tx, Story& story, const SessionId& parent,
                                           std::int64_t turn, Time now) {
  static const std::string kReason = "the session that had started it was cancelled";
  std::vector<SessionId> cancelled;
  for (const auto& child : session_store::spawned_by(tx, parent, turn)) {
    if (!session_store::cancel_running(tx, child.id, kReason, now)) continue;
    cancelled.push_back(child.id);
    story.add(tx, events::session_cancelled(child.id, kReason), now);
    notices_.session_ended(tx, story, child.id, child.agent_name, SessionStatus::cancelled, now);
  }
  return cancelled;
}

}  // namespace holdpoint
