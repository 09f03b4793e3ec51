#include "flow/courier.h"

#include <algorithm>
#include <thread>

#include "domain/retry.h"
#include "flow/audit.h"
#include "flow/links.h"
#include "store/delivery_store.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

constexpr Duration kElsewhere{20};

}  // namespace

Courier::Courier(Database& db, Journal& journal, Metrics& metrics, Channels channels,
                 const Clock& clock, Options options)
    : db_(db),
      journal_(journal),
      metrics_(metrics),
      channels_(std::move(channels)),
      clock_(clock),
      options_(options),
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

std::size_t Courier::free_workers(const InFlight& in_flight) const {
  std::size_t busy = 0;
  for (const auto& [host, count] : in_flight) busy += count;
  return options_.workers - std::min(busy, options_.workers);
}

std::vector<Delivery> Courier::claim(Time now) {
  const auto hosts = db_.read([](Transaction& tx) { return delivery_store::owed_hosts(tx); });
  std::vector<std::pair<std::string, std::size_t>> room;
  in_flight_.with([&](InFlight& in_flight) {
    std::size_t free = free_workers(in_flight);
    for (const auto& owed : hosts) {
      const std::size_t busy = in_flight.count(owed.host) ? in_flight[owed.host] : 0;
      if (owed.next_attempt_at > now || busy >= options_.per_host || free == 0) continue;
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
  in_flight_.with([&](InFlight& in_flight) {
    for (const auto& delivery : claimed) ++in_flight[delivery.host];
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
  in_flight_.with([&](InFlight& in_flight) {
    if (free_workers(in_flight) == 0) return;
    for (const auto& owed : hosts) {
      const auto it = in_flight.find(owed.host);
      if (it != in_flight.end() && it->second >= options_.per_host) continue;
      const Time due = std::max(owed.next_attempt_at, now + kElsewhere);
      if (!next || due < *next) next = due;
    }
  });
  return next;
}

void Courier::attempt(const Delivery& delivery) {
  try {
    if (stopping_) {
      give_back(delivery);
    } else if (delivery.attempts > 1 && settled_meanwhile(delivery)) {
      const Time now = clock_.now();
      journal_.announce(db_.write([&](Transaction& tx) {
        Story story;
        session_store::lock(tx, delivery.session_id);
        if (delivery_store::record(tx, delivery, {DeliveryStatus::obsolete, {}, {}, {}}, now)) {
          story.add(tx, events::delivery_obsolete(delivery), now);
        }
        return story;
      }));
    } else {
      const auto channel = channels_.find(delivery.channel);
      SendOutcome outcome;
      outcome.error = "there is no channel \"" + delivery.channel + "\"";
      if (channel != channels_.end()) {
        outcome = channel->second->send({delivery, {}, false, {}}, clock_.now(),
                                        [this] { return stopping_.load(); });
      }
      // Broken off is not failed.
      if (stopping_ && outcome.kind == SendOutcome::Kind::failed) {
        give_back(delivery);
      } else {
        record_patiently(delivery, outcome);
      }
    }
  } catch (const std::exception& e) {
    // Sent or not, its outcome is not on record: it goes out again once the claim's lease is over.
    log(Level::error, "delivery_not_recorded",
        {{"delivery", delivery.id.text()}, {"reason", e.what()}});
  }
  in_flight_.with([&](InFlight& in_flight) {
    const auto it = in_flight.find(delivery.host);
    if (it != in_flight.end() && --it->second == 0) in_flight.erase(it);
  });
  loop_.wake();
}

bool Courier::has_room() {
  return !stopping_ &&
         in_flight_.with([&](InFlight& in_flight) { return free_workers(in_flight) > 0; });
}

void Courier::record_patiently(const Delivery& delivery, const SendOutcome& outcome) {
  const Time claim_ends = clock_.now() + options_.lease / 2;
  while (true) {
    try {
      return record(delivery, outcome, clock_.now());
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

bool Courier::settled_meanwhile(const Delivery& delivery) {
  if (delivery.event != "question_pending" || !delivery.question_id) return false;
  const auto question =
      db_.read([&](Transaction& tx) { return question_store::find(tx, *delivery.question_id); });
  return !question || is_settled(question->status);
}

void Courier::record(const Delivery& delivery, const SendOutcome& outcome, Time now) {
  delivery_store::Attempt attempt;
  attempt.http_status = outcome.http_status;
  if (!outcome.error.empty()) attempt.error = outcome.error;
  std::optional<Duration> wait;
  if (outcome.kind == SendOutcome::Kind::delivered) {
    attempt.status = DeliveryStatus::delivered;
  } else {
    if (outcome.kind == SendOutcome::Kind::failed) {
      wait = delivery_backoff(delivery.attempts, random_fraction(), outcome.retry_after);
    }
    attempt.status = wait ? DeliveryStatus::pending : DeliveryStatus::dead;
    if (wait) attempt.next_attempt_at = now + *wait;
  }
  const bool gone = outcome.kind == SendOutcome::Kind::gone;
  const std::string reason = "the receiver answered HTTP 410";
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
