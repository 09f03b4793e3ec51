#include "flow/notices.h"

#include <algorithm>

#include "net/http_client.h"
#include "store/delivery_store.h"
#include "store/session_store.h"
#include "wire/callback_json.h"

namespace holdpoint {
namespace {

Delivery draft(const SessionId& session, const std::string& agent_name, std::string event,
               std::string body) {
  Delivery delivery;
  delivery.session_id = session;
  delivery.agent_name = agent_name;
  delivery.channel = "url";
  delivery.event = std::move(event);
  delivery.body = std::move(body);
  return delivery;
}

}  // namespace

std::optional<Notices::Destination> Notices::destination_for(const std::string& agent_name,
                                                             std::string_view event) {
  const auto agent = agents_.find(agent_name);
  Destination to;
  if (agent && agent->question_callback) {
    to = {*agent->question_callback, agent->callback_events};
  } else if (options_.callback_url) {
    to = {*options_.callback_url, options_.callback_events};
    if (agent)
      to.events.insert(to.events.end(), agent->callback_events.begin(),
                       agent->callback_events.end());
  } else {
    return std::nullopt;
  }
  const bool wanted = event == "question_pending" ||
                      std::find(to.events.begin(), to.events.end(), event) != to.events.end();
  return wanted ? std::optional(to) : std::nullopt;
}

std::vector<WebhookSecret> Notices::secrets_for(const std::string& agent_name) {
  const auto agent = agents_.find(agent_name);
  const bool own = agent && (agent->question_callback || !agent->callback_secrets.empty());
  return own ? agent->callback_secrets : options_.callback_secrets;
}

void Notices::question_pending(Transaction& tx, Story& story, const Question& q, Time now) {
  const auto to = destination_for(q.agent_name, "question_pending");
  if (!to) return;
  const std::string answer_url = options_.public_url + "/agent/answer/" + q.session_id.text();
  const auto id = DeliveryId::make(now);
  const auto agent = agents_.find(q.agent_name);
  const bool has_link = agent && agent->callback_link;
  const auto answer_page =
      has_link ? std::optional(answer_url + "?token=" + token_mark(id)) : std::nullopt;
  Delivery delivery = draft(q.session_id, q.agent_name, "question_pending",
                            question_pending_json(q, answer_url, answer_page));
  delivery.id = id;
  delivery.question_id = q.id;
  if (has_link) delivery.link_for = host_of(to->url).value_or("");
  owe(tx, story, std::move(delivery), *to, now);
}

void Notices::question_settled(Transaction& tx, Story& story, const Question& q, Time now) {
  const auto to = destination_for(q.agent_name, "question_settled");
  if (!to) return;
  Delivery delivery =
      draft(q.session_id, q.agent_name, "question_settled", question_settled_json(q));
  delivery.question_id = q.id;
  owe(tx, story, std::move(delivery), *to, now);
}

void Notices::session_ended(Transaction& tx, Story& story, const SessionId& id,
                            const std::string& agent_name, SessionStatus status, Time now) {
  const std::string event = "session_" + std::string(to_text(status));
  const auto to = destination_for(agent_name, event);
  if (!to) return;
  const auto session = session_store::find(tx, id);
  if (!session) return;
  owe(tx, story, draft(id, agent_name, event, session_ended_json(event, *session)), *to, now);
}

void Notices::owe(Transaction& tx, Story& story, Delivery delivery, const Destination& to,
                  Time now) {
  if (delivery.id.empty()) delivery.id = DeliveryId::make(now);
  delivery.destination = to.url;
  delivery.host = host_of(to.url).value_or("");
  delivery.created_at = now;
  if (delivery_store::is_disabled(tx, to.url)) {
    delivery.status = DeliveryStatus::dead;
    delivery.last_error = "the destination was disabled by HTTP 410; redeliver enables it again";
    story.add(tx, events::delivery_dead(delivery.id, delivery.session_id, *delivery.last_error),
              now);
  } else {
    delivery.next_attempt_at = now;
    story.delivery_due = true;
  }
  delivery_store::insert(tx, delivery);
}

}  // namespace holdpoint
