#include "flow/courier.h"

#include <algorithm>
#include <thread>

#include "domain/retry.h"
#include "flow/audit.h"
#include "flow/links.h"
#include "store/delivery_store.h"
#include "store/question_store.h"
#include "store/session_store.h"
#include "wire/card_json.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

constexpr Duration kElsewhere{20};
// Of a message that is put off again and again by a receiver that is too busy.
constexpr std::int64_t kMostRests = 50;

// `slack.com:443#C1` is one of the hosts of `slack.com:443`.
std::string platform_of(const std::string& host) { return host.substr(0, host.find('#')); }

bool all_settled(const std::vector<Question>& questions) {
  return count_settled(questions) == questions.size();
}

// A callback goes out once in any case: programs count on it. People need not hear of what is over.
bool is_obsolete(const Outgoing& message) {
  const Delivery& delivery = message.delivery;
  if (delivery.event == "question_pending") {
    return (delivery.channel != "url" || delivery.attempts > 1) && all_settled(message.questions);
  }
  return delivery.event == "question_settled" && can_be_edited(delivery.channel) &&
         !message.message_ref;
}

std::vector<Question> questions_of(Transaction& tx, const Delivery& delivery) {
  if (delivery.ask) return question_store::of_ask(tx, delivery.session_id, *delivery.ask);
  std::vector<Question> questions;
  if (!delivery.question_id) return questions;
  if (auto question = question_store::find(tx, *delivery.question_id)) {
    questions.push_back(std::move(*question));
  }
  return questions;
}

}  // namespace

Courier::Courier(Database& db, Journal& journal, Notices& notices, Metrics& metrics,
                 Channels channels, const Clock& clock, Options options)
    : db_(db),
      journal_(journal),
      notices_(notices),
      metrics_(metrics),
      channels_(std::move(channels)),
      clock_(clock),
      options_(std::move(options)),
      workers_("hp-courier", options_.workers, 100'000),
      loop_("hp-outbox", clock, [this](Time now) { return run_once(now); }) {}

void Courier::reclaim(Time now) {
  db_.write([&](Transaction& tx) { delivery_store::reclaim(tx, now); });
}

void Courier::stop() {
  stopping_ = true;
  loop_.stop();
  workers_.stop();
}

std::size_t Courier::Traffic::busy(const std::string& host) const {
  const auto it = in_flight.find(host);
  return it == in_flight.end() ? 0 : it->second;
}

std::optional<Time> Courier::Traffic::rests_until(const std::string& host, Time now) const {
  std::optional<Time> until;
  for (const auto& name : {host, platform_of(host)}) {
    const auto it = resting.find(name);
    if (it != resting.end() && it->second > std::max(now, until.value_or(now))) until = it->second;
  }
  return until;
}

std::size_t Courier::free_workers(const Traffic& traffic) const {
  std::size_t busy = 0;
  for (const auto& [host, count] : traffic.in_flight) busy += count;
  return options_.workers - std::min(busy, options_.workers);
}

std::vector<Delivery> Courier::claim(Time now) {
  const auto hosts = db_.read([](Transaction& tx) { return delivery_store::owed_hosts(tx); });
  std::vector<std::pair<std::string, std::size_t>> room;
  traffic_.with([&](Traffic& traffic) {
    std::erase_if(traffic.resting, [&](const auto& rest) { return rest.second <= now; });
    std::size_t free = free_workers(traffic);
    for (const auto& owed : hosts) {
      const std::size_t busy = traffic.busy(owed.host);
      if (owed.next_attempt_at > now || busy >= options_.per_host || free == 0) continue;
      if (traffic.rests_until(owed.host, now)) continue;
      room.emplace_back(owed.host, std::min(options_.per_host - busy, free));
      free -= room.back().second;
    }
  });
  if (room.empty()) return {};
  auto claimed = db_.write([&](Transaction& tx) {
    std::vector<Delivery> all;
    for (const auto& [host, most] : room) {
      for (auto& delivery : delivery_store::claim(tx, host, now, now + options_.lease,
                                                  static_cast<std::int64_t>(most))) {
        if (delivery.link_for) links::put_token(tx, delivery, now);
        all.push_back(std::move(delivery));
      }
    }
    return all;
  });
  traffic_.with([&](Traffic& traffic) {
    for (const auto& delivery : claimed) ++traffic.in_flight[delivery.host];
  });
  return claimed;
}

std::optional<Time> Courier::run_once(Time now) {
  for (auto& delivery : claim(now)) {
    // Refused only while stopping.
    if (!workers_.submit([this, delivery] { attempt(delivery); })) attempt(delivery);
  }
  // When hosts or workers have no room, the attempt that ends first wakes us. What is due and was
  // not to be had is in another node's hands.
  std::optional<Time> next;
  const auto hosts = db_.read([](Transaction& tx) { return delivery_store::owed_hosts(tx); });
  traffic_.with([&](Traffic& traffic) {
    if (free_workers(traffic) == 0) return;
    for (const auto& owed : hosts) {
      if (traffic.busy(owed.host) >= options_.per_host) continue;
      const Time rested = traffic.rests_until(owed.host, now).value_or(now + kElsewhere);
      const Time due = std::max(owed.next_attempt_at, rested);
      if (!next || due < *next) next = due;
    }
  });
  return next;
}

void Courier::attempt(const Delivery& delivery) {
  try {
    if (stopping_) {
      give_back(delivery);
    } else if (const Outgoing message = compose(delivery); is_obsolete(message)) {
      drop(delivery);
    } else if (const SendOutcome outcome = send(message);
               stopping_ && outcome.kind == SendOutcome::Kind::failed) {
      give_back(delivery);  // Broken off is not failed.
    } else {
      record_patiently(message, outcome);
    }
  } catch (const std::exception& e) {
    // Sent or not, its outcome is not on record: it goes out again once the claim's lease is over.
    log(Level::error, "delivery_not_recorded",
        {{"delivery", delivery.id.text()}, {"reason", e.what()}});
  }
  traffic_.with([&](Traffic& traffic) {
    const auto it = traffic.in_flight.find(delivery.host);
    if (it != traffic.in_flight.end() && --it->second == 0) traffic.in_flight.erase(it);
  });
  loop_.wake();
}

Outgoing Courier::compose(const Delivery& delivery) {
  Outgoing message{delivery, {}, false, {}};
  // Its body is ready; only a repeat may have become pointless.
  if (delivery.channel == "url" && delivery.attempts == 1) return message;
  if (delivery.event == "card_posted") {
    message.card = read_card_posted(delivery.body);
    return message;
  }
  struct Found {
    std::vector<Question> questions;
    std::optional<std::string> message_ref;
    std::size_t asked_together = 1;
  };
  Found found = db_.read([&](Transaction& tx) {
    Found f{questions_of(tx, delivery), {}, 1};
    f.asked_together = f.questions.size();
    if (!delivery.ask && f.questions.size() == 1) {
      const Question& one = f.questions.front();
      f.asked_together = question_store::of_ask(tx, one.session_id, one.ask).size();
    }
    if (delivery.follows) {
      if (auto post = delivery_store::find(tx, *delivery.follows)) {
        f.message_ref = std::move(post->message_ref);
      }
    }
    return f;
  });
  message.questions = std::move(found.questions);
  message.message_ref = std::move(found.message_ref);
  message.asked_together = found.asked_together;
  message.may_cancel = options_.may_cancel && options_.may_cancel(delivery.agent_name);
  return message;
}

SendOutcome Courier::send(const Outgoing& message) {
  const auto channel = channels_.find(message.delivery.channel);
  if (channel == channels_.end()) {
    SendOutcome outcome;
    outcome.error = "the channel \"" + message.delivery.channel + "\" is not set up";
    return outcome;
  }
  return channel->second->send(message, clock_.now(), [this] { return stopping_.load(); });
}

void Courier::drop(const Delivery& delivery) {
  const Time now = clock_.now();
  journal_.announce(db_.write([&](Transaction& tx) {
    Story story;
    session_store::lock(tx, delivery.session_id);
    if (delivery_store::record(tx, delivery, {DeliveryStatus::obsolete, {}, {}, {}, {}}, now)) {
      story.add(tx, events::delivery_obsolete(delivery), now);
    }
    return story;
  }));
}

bool Courier::has_room() {
  return !stopping_ && traffic_.with([&](Traffic& traffic) { return free_workers(traffic) > 0; });
}

void Courier::record_patiently(const Outgoing& message, const SendOutcome& outcome) {
  const Time claim_ends = clock_.now() + options_.lease / 2;
  while (true) {
    try {
      return record(message, outcome, clock_.now());
    } catch (const StoreError& e) {
      if (!e.retryable() || stopping_ || clock_.now() > claim_ends) throw;
    }
    for (int i = 0; i < 10 && !stopping_; ++i) std::this_thread::sleep_for(100ms);
  }
}

void Courier::give_back(const Delivery& delivery) {
  const Time now = clock_.now();
  db_.write([&](Transaction& tx) { delivery_store::release(tx, delivery, now); });
}

void Courier::catch_up(Transaction& tx, Story& story, const Outgoing& sent, Time now) {
  const Delivery& delivery = sent.delivery;
  if (delivery.channel == "url") return;
  const auto questions = questions_of(tx, delivery);
  if (count_settled(questions) == count_settled(sent.questions)) return;
  if (!delivery.follows) {
    notices_.settle_message(tx, story, delivery, questions, now);
  } else if (const auto post = delivery_store::find(tx, *delivery.follows)) {
    notices_.settle_message(tx, story, *post, questions, now);
  }
}

void Courier::record(const Outgoing& message, const SendOutcome& outcome, Time now) {
  const Delivery& delivery = message.delivery;
  delivery_store::Attempt attempt;
  attempt.http_status = outcome.http_status;
  if (!outcome.error.empty()) attempt.error = outcome.error;
  attempt.message_ref = outcome.message_ref;
  std::optional<Duration> wait;
  if (outcome.rest) {
    traffic_.with([&](Traffic& traffic) {
      auto& until = traffic.resting[outcome.rest_all ? platform_of(delivery.host) : delivery.host];
      until = std::max(until, now + *outcome.rest);
    });
  }
  if (outcome.kind == SendOutcome::Kind::delivered) {
    attempt.status = DeliveryStatus::delivered;
  } else {
    if (outcome.kind == SendOutcome::Kind::failed) {
      // Who is too busy says when; that is no failure of the message's own.
      wait = outcome.rest && delivery.attempts < kMostRests
                 ? outcome.rest
                 : delivery_backoff(delivery.attempts, random_fraction(), outcome.retry_after);
    }
    attempt.status = wait ? DeliveryStatus::pending : DeliveryStatus::dead;
    if (wait) attempt.next_attempt_at = now + *wait;
  }
  const bool gone = outcome.kind == SendOutcome::Kind::gone;
  const std::string reason = "the receiver wants no more: " + outcome.error;
  const Story told = db_.write([&](Transaction& tx) {
    Story story;
    // Before any other row, so that several attempts that hear it at once go one by one.
    const bool banned = gone && delivery_store::ban(tx, delivery.destination, reason, now);
    session_store::lock(tx, delivery.session_id);
    if (banned) {
      story.add(tx, events::destination_disabled(delivery.session_id, delivery.host, reason), now);
    }
    if (!delivery_store::record(tx, delivery, attempt, now)) return story;
    if (attempt.status == DeliveryStatus::delivered) {
      story.add(tx, events::delivery_sent(delivery, outcome.http_status), now);
      catch_up(tx, story, message, now);
      return story;
    }
    story.add(tx, events::delivery_failed(delivery, outcome.error, wait), now);
    if (attempt.status == DeliveryStatus::dead) {
      story.add(tx, events::delivery_dead(delivery.id, delivery.session_id, outcome.error), now);
    }
    if (gone) {
      for (const auto& [id, session] :
           delivery_store::kill_owed(tx, delivery.destination, reason)) {
        story.add(tx, events::delivery_dead(id, session, reason), now);
      }
    }
    return story;
  });
  journal_.announce(told);
  metrics_.delivery_attempted(attempt.status == DeliveryStatus::delivered ? "delivered"
                              : attempt.status == DeliveryStatus::dead    ? "dead"
                                                                          : "failed");
}

Courier::Redelivery Courier::redeliver(const DeliveryId& id, const Actor& by, Time now) {
  struct Done {
    Redelivery result = Redelivery::done;
    Story story;
  };
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    const auto delivery = delivery_store::find(tx, id);
    if (delivery) session_store::lock(tx, delivery->session_id);
    if (!delivery) {
      d.result = Redelivery::unknown;
    } else if (!delivery_store::redeliver(tx, id, now)) {
      d.result = Redelivery::still_pending;
    } else {
      delivery_store::enable(tx, delivery->destination);
      d.story.add(tx, events::delivery_requeued(*delivery), now);
      d.story.delivery_due = true;
      audit::record(tx, by, "delivery_requeued", "delivery:" + id.text(), "", now);
    }
    return d;
  });
  journal_.announce(done.story);
  return done.result;
}

}  // namespace holdpoint
