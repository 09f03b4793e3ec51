#include "flow/notices.h"

#include <algorithm>
#include <set>

#include "net/http_client.h"
#include "store/delivery_store.h"
#include "store/question_store.h"
#include "store/session_store.h"
#include "wire/callback_json.h"
#include "wire/card_json.h"

namespace holdpoint {
namespace {

Delivery draft(const SessionId& session, const std::string& agent_name, std::string event,
               std::string body) {
  Delivery delivery;
  delivery.session_id = session;
  delivery.agent_name = agent_name;
  delivery.event = std::move(event);
  delivery.body = std::move(body);
  return delivery;
}

Delivery draft(const Question& q, std::string event, std::string body) {
  Delivery delivery = draft(q.session_id, q.agent_name, std::move(event), std::move(body));
  delivery.question_id = q.id;
  return delivery;
}

Address url_address(const std::string& url) { return {"url", url, host_of(url).value_or("")}; }

// What comes after a message, about the same.
Delivery after(const Delivery& post, std::string event, std::string body) {
  Delivery delivery = draft(post.session_id, post.agent_name, std::move(event), std::move(body));
  delivery.question_id = post.question_id;
  delivery.ask = post.ask;
  delivery.follows = post.id;
  return delivery;
}

Address same_address(const Delivery& post) { return {post.channel, post.destination, post.host}; }

bool decided_by_reader(const Delivery& mail, const Question& question) {
  return mail.channel == "email" && question.answered_via == "email" &&
         question.answered_by == mail.destination;
}

// An agent that says where its questions go has the settings' callback only if it says so.
bool wants_url(const AgentDefinition* agent, std::string_view event) {
  const bool to_people = event.starts_with("question_") || event == "card_posted";
  if (!agent || agent->channels.empty() || !to_people) return true;
  return std::any_of(agent->channels.begin(), agent->channels.end(),
                     [](const Target& target) { return target.channel == "url"; });
}

}  // namespace

std::optional<Notices::Destination> Notices::destination_for(const std::string& agent_name,
                                                             std::string_view event) {
  const auto agent = agents_.find(agent_name);
  Destination to;
  if (agent && agent->question_callback) {
    to = {*agent->question_callback, agent->callback_events};
  } else if (options_.callback_url && wants_url(agent.get(), event)) {
    to = {*options_.callback_url, options_.callback_events};
    if (agent)
      to.events.insert(to.events.end(), agent->callback_events.begin(),
                       agent->callback_events.end());
  } else {
    return std::nullopt;
  }
  // What is meant for people needs no opting in where people read it.
  const bool wanted = event == "question_pending" ||
                      (event == "card_posted" && options_.addresses.is_slack_webhook(to.url)) ||
                      std::find(to.events.begin(), to.events.end(), event) != to.events.end();
  return wanted ? std::optional(to) : std::nullopt;
}

std::vector<WebhookSecret> Notices::secrets_for(const std::string& agent_name) {
  const auto agent = agents_.find(agent_name);
  const bool own = agent && (agent->question_callback || !agent->callback_secrets.empty());
  return own ? agent->callback_secrets : options_.callback_secrets;
}

std::vector<Address> Notices::addresses_for(const std::string& agent_name,
                                            const std::vector<Target>& added) {
  return options_.addresses.of_ask(agents_.find(agent_name).get(), added);
}

std::vector<std::string> Notices::channels_of(const std::string& agent_name,
                                              const std::vector<Address>& to,
                                              std::string_view event) {
  std::set<std::string> channels;
  if (const auto callback = destination_for(agent_name, event)) {
    channels.insert(options_.addresses.is_slack_webhook(callback->url) ? "slack" : "url");
  }
  for (const auto& address : to) channels.insert(address.channel);
  return {channels.begin(), channels.end()};
}

std::vector<std::string> Notices::targets_of(const AgentDefinition& agent) const {
  std::vector<std::string> targets;
  for (const auto& address : options_.addresses.of_ask(&agent, {})) {
    targets.push_back(Target{address.channel, address.to}.text());
  }
  return targets;
}

bool Notices::has_callback(const std::string& agent_name) {
  return destination_for(agent_name, "question_pending").has_value();
}

void Notices::asked(Transaction& tx, Story& story, const std::vector<Question>& ask,
                    const std::vector<Address>& to, Time now) {
  const Question& first = ask.front();
  const auto whole = [&] {
    Delivery delivery = draft(first, "question_pending", "");
    delivery.ask = first.ask;
    return delivery;
  };
  if (const auto callback = destination_for(first.agent_name, "question_pending")) {
    if (options_.addresses.is_slack_webhook(callback->url)) {
      Delivery delivery = whole();
      // Whoever sees the message may answer, unless the agent lists who may: they log in.
      const auto agent = agents_.find(first.agent_name);
      if (!agent || agent->answerers.empty()) delivery.link_for = "slack";
      Address address = url_address(callback->url);
      address.channel = "slack-webhook";
      owe(tx, story, std::move(delivery), address, now);
    } else {
      for (const auto& question : ask) call_back(tx, story, question, *callback, now);
    }
  }
  for (const auto& address : to) {
    if (address.channel != "email") {
      owe(tx, story, whole(), address, now);
      continue;
    }
    for (const auto& question : ask) {
      Delivery mail = draft(question, "question_pending", "");
      mail.link_for = address.to;
      owe(tx, story, std::move(mail), address, now);
    }
  }
}

void Notices::call_back(Transaction& tx, Story& story, const Question& q, const Destination& to,
                        Time now) {
  const std::string answer_url = options_.public_url + "/agent/answer/" + q.session_id.text();
  const auto id = DeliveryId::make(now);
  const auto agent = agents_.find(q.agent_name);
  const bool has_link = agent && agent->callback_link;
  const auto answer_page =
      has_link ? std::optional(answer_url + "?token=" + token_mark(id)) : std::nullopt;
  Delivery delivery =
      draft(q, "question_pending", question_pending_json(q, answer_url, answer_page));
  delivery.id = id;
  if (has_link) delivery.link_for = host_of(to.url).value_or("");
  owe(tx, story, std::move(delivery), url_address(to.url), now);
}

void Notices::card_posted(Transaction& tx, Story& story, const SessionId& session,
                          const std::string& agent_name, const Card& card,
                          const std::vector<Address>& to, Time now) {
  std::vector<Address> all = to;
  if (const auto callback = destination_for(agent_name, "card_posted")) {
    all.insert(all.begin(), url_address(callback->url));
    if (options_.addresses.is_slack_webhook(callback->url)) all.front().channel = "slack-webhook";
  }
  for (const auto& address : all) {
    owe(tx, story,
        draft(session, agent_name, "card_posted", card_posted_json(session, agent_name, card)),
        address, now);
  }
}

void Notices::question_settled(Transaction& tx, Story& story, const Question& q, Time now) {
  // Most deployments have callbacks alone, and an answer's path is not to pay for more.
  const auto callback = destination_for(q.agent_name, "question_pending");
  const bool webhook = callback && options_.addresses.is_slack_webhook(callback->url);
  if (webhook || options_.addresses.any()) {
    for (const auto& post : delivery_store::posts_about(tx, q)) {
      const auto questions =
          post.ask ? question_store::of_ask(tx, q.session_id, *post.ask) : std::vector<Question>{q};
      settle_message(tx, story, post, questions, now);
    }
  }
  const auto to = destination_for(q.agent_name, "question_settled");
  if (!to || options_.addresses.is_slack_webhook(to->url)) return;
  owe(tx, story, draft(q, "question_settled", question_settled_json(q)), url_address(to->url), now);
}

void Notices::settle_message(Transaction& tx, Story& story, const Delivery& post,
                             const std::vector<Question>& questions, Time now) {
  const std::size_t settled = count_settled(questions);
  const bool editable = can_be_edited(post.channel);
  if (settled == 0 || (settled < questions.size() && !editable)) return;
  if (decided_by_reader(post, questions.front())) return;
  const auto before = delivery_store::following(tx, post.id, "question_settled");
  if (before.empty()) {
    owe(tx, story, after(post, "question_settled", ""), same_address(post), now);
  } else if (editable && delivery_store::redeliver(tx, before.front().id, now)) {
    story.delivery_due = true;
  }
}

void Notices::mail_back(Transaction& tx, Story& story, const Delivery& original,
                        const std::string& reason, Time now) {
  owe(tx, story, after(original, "reply_unclear", reason), same_address(original), now);
}

void Notices::session_ended(Transaction& tx, Story& story, const SessionId& id,
                            const std::string& agent_name, SessionStatus status, Time now) {
  const std::string event = "session_" + std::string(to_text(status));
  const auto to = destination_for(agent_name, event);
  if (!to || options_.addresses.is_slack_webhook(to->url)) return;
  const auto session = session_store::find(tx, id);
  if (!session) return;
  owe(tx, story, draft(id, agent_name, event, session_ended_json(event, *session)),
      url_address(to->url), now);
}

void Notices::owe(Transaction& tx, Story& story, Delivery delivery, const Address& to, Time now) {
  if (delivery.id.empty()) delivery.id = DeliveryId::make(now);
  delivery.channel = to.channel;
  delivery.destination = to.to;
  delivery.host = to.host;
  delivery.created_at = now;
  if (delivery_store::is_disabled(tx, to.to)) {
    delivery.status = DeliveryStatus::dead;
    delivery.last_error =
        "the destination was disabled by its receiver; redeliver enables it again";
    story.add(tx, events::delivery_dead(delivery.id, delivery.session_id, *delivery.last_error),
              now);
  } else {
    delivery.next_attempt_at = now;
    story.delivery_due = true;
  }
  delivery_store::insert(tx, delivery);
}

std::set<std::string> Notices::platforms() {
  const auto names = options_.addresses.platforms();
  std::set<std::string> all(names.begin(), names.end());
  const auto add = [&](const std::optional<std::string>& callback) {
    if (callback) all.insert(options_.addresses.is_slack_webhook(*callback) ? "slack" : "url");
  };
  add(options_.callback_url);
  for (const auto& name : agents_.names()) {
    if (const auto agent = agents_.find(name)) add(agent->question_callback);
  }
  return all;
}

}  // namespace holdpoint
