#include "flow/turns.h"

#include <thread>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {

using namespace std::chrono_literals;
using session_store::ClaimedTurn;
using session_store::Commit;

namespace {

constexpr Duration kElsewhere{20};
constexpr Duration kQuiet{50};

}  // namespace

Turns::Turns(Database& db, Journal& journal, TurnEnd& end, Metrics& metrics, Agents& agents,
             Runners runners, const Clock& clock, Options options)
    : db_(db),
      journal_(journal),
      end_(end),
      metrics_(metrics),
      agents_(agents),
      runners_(std::move(runners)),
      clock_(clock),
      options_(std::move(options)),
      workers_("hp-turn", options_.workers, options_.workers),
      claimer_("hp-claimer", clock, [this](Time now) { return run_once(now); }),
      keeper_("hp-keeper", clock, [this](Time now) {
        heartbeat(now);
        return std::optional(now + options_.lease / 3);
      }) {}

void Turns::reclaim(Time now) {
  db_.write([&](Transaction& tx) { session_store::reclaim(tx, now); });
}

void Turns::start() {
  claimer_.start();
  keeper_.start();
}

void Turns::stop(Duration grace) {
  closing_ = true;
  claimer_.stop();
  const auto deadline = std::chrono::steady_clock::now() + grace;
  while (running() > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(20ms);
  }
  stopping_ = true;
  workers_.stop();
  keeper_.stop();
}

std::int64_t Turns::running() {
  return running_.with([](RunningTurns& r) { return static_cast<std::int64_t>(r.size()); });
}

std::vector<ClaimedTurn> Turns::claim(Time now, std::int64_t most) {
  struct Done {
    std::vector<ClaimedTurn> turns;
    Story story;
  };
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    d.turns = session_store::claim(tx, options_.node, now, now + options_.lease, most);
    for (const auto& turn : d.turns) {
      d.story.add(
          tx, events::turn_started(turn.lease.session, turn.turn, turn.attempts, turn.reason), now);
    }
    return d;
  });
  journal_.announce(done.story);
  for (const auto& turn : done.turns) {
    if (turn.reason == TurnReason::answer && turn.attempts == 1) {
      metrics_.resumed(now - turn.due_since);
    }
  }
  return std::move(done.turns);
}

std::optional<Time> Turns::run_once(Time now) {
  const std::int64_t free = static_cast<std::int64_t>(options_.workers) - running() - offered_;
  if (free <= 0) {
    // The next worker that is done wakes us; a place that was offered may come back without a word.
    return offered_ > 0 ? std::optional(now + kElsewhere) : std::nullopt;
  }
  auto turns = claim(now, free);
  const bool any = !turns.empty();
  for (auto& turn : turns) submit(std::move(turn));
  // Where one was due others soon are, and wake us; when the next is due is asked in a quiet
  // moment.
  if (any) return now + kQuiet;
  const auto next = db_.read([](Transaction& tx) { return session_store::next_due(tx); });
  // What is due and was not to be had is in another node's hands.
  return next ? std::optional(std::max(*next, now + kElsewhere)) : next;
}

bool Turns::has_room() {
  return running() + offered_ < static_cast<std::int64_t>(options_.workers) && !closing_;
}

std::optional<session_store::Seat> Turns::take(Time now) {
  if (closing_) return std::nullopt;
  // Counted first: of several that ask at once none may get one too many.
  if (++offered_ + running() > static_cast<std::int64_t>(options_.workers)) {
    --offered_;
    return std::nullopt;
  }
  return session_store::Seat{options_.node, now + options_.lease};
}

void Turns::start(ClaimedTurn turn) {
  if (turn.reason == TurnReason::answer) metrics_.resumed(Duration{0});
  submit(std::move(turn));
  --offered_;
}

void Turns::submit(ClaimedTurn turn) {
  const auto running = std::make_shared<Running>();
  running->lease = turn.lease;
  running_.with([&](RunningTurns& r) { r[turn.lease.session] = running; });
  auto job = [this, running, turn = std::move(turn)]() mutable {
    execute(turn, running);
    const bool was_full = running_.with([&](RunningTurns& r) {
      const bool full = r.size() >= options_.workers;
      const auto it = r.find(turn.lease.session);
      // A later claim of the same session may have taken the place.
      if (it != r.end() && it->second == running) r.erase(it);
      return full;
    });
    if (was_full) claimer_.wake();
  };
  if (!workers_.submit(std::move(job))) {
    running_.with([&](RunningTurns& r) { r.erase(running->lease.session); });
  }
}

void Turns::heartbeat(Time now) {
  const auto all = running_.with([](RunningTurns& r) {
    std::vector<std::shared_ptr<Running>> turns;
    for (const auto& [session, running] : r) turns.push_back(running);
    return turns;
  });
  if (all.empty()) return;
  const auto lost = db_.write([&](Transaction& tx) {
    std::vector<std::shared_ptr<Running>> gone;
    for (const auto& running : all) {
      if (session_store::extend(tx, running->lease, now + options_.lease) == Commit::lease_lost) {
        gone.push_back(running);
      }
    }
    return gone;
  });
  for (const auto& running : lost) running->abandoned = true;
}

void Turns::abandon(const SessionId& session) {
  running_.with([&](RunningTurns& r) {
    const auto it = r.find(session);
    if (it != r.end()) it->second->abandoned = true;
  });
}

void Turns::run(ClaimedTurn turn) {
  const auto running = std::make_shared<Running>();
  running->lease = turn.lease;
  execute(turn, running);
}

void Turns::execute(ClaimedTurn& turn, const std::shared_ptr<Running>& running) {
  std::optional<TurnFailed> failure;
  try {
    const auto agent = agents_.find(turn.agent_name);
    const auto runner = agent ? runners_.find(agent->runner) : runners_.end();
    if (runner == runners_.end()) {
      throw TurnFailed("the agent \"" + turn.agent_name + "\" is not defined, or cannot be run",
                       true);
    }
    const auto most = std::max(options_.max_attempts, runner->second->max_attempts(*agent));
    if (turn.attempts > most) {
      // Counted at claim, so a turn that takes the process down with it ends here instead of
      // looping.
      throw TurnFailed("it was started " + std::to_string(most) + " times and never came to an end",
                       false);
    }
    TurnContext context;
    context.timeout = options_.turn_timeout;
    context.max_reply_bytes = options_.max_reply_bytes;
    context.limits = end_.limits();
    context.ask = end_.ask_defaults();
    context.has_parent = turn.parent_id.has_value();
    context.attempt = turn.attempts;
    context.checkpoint = [&](const Checkpoint& step) {
      persist(*running, [&] { checkpoint(turn, step); });
      context.attempt = turn.attempts;
    };
    context.cancelled = [this, &running] { return running->abandoned || stopping_; };
    context.on_output = [&](std::vector<std::string> lines) {
      record_output(turn, std::move(lines));
    };
    // These may be large, and nobody else reads them.
    const TurnRequest request{turn.lease.session,
                              turn.agent_name,
                              turn.turn,
                              turn.reason,
                              std::move(turn.payload),
                              std::move(turn.state),
                              std::move(turn.resume),
                              std::move(turn.messages)};
    const std::string text = runner->second->run(*agent, request, context);
    persist(*running, [&] { reply(turn, *agent, text); });
    return;
  } catch (const TurnFailed& e) {
    failure = e;
  } catch (const BadRequest& e) {
    failure.emplace("the agent's reply is refused: " + e.field() + " " + e.what(), true);
  } catch (const std::exception& e) {
    failure.emplace(std::string("the turn could not be run: ") + e.what(), true);
  }
  if (running->abandoned) return;
  try {
    persist(*running, [&] {
      if (stopping_) {
        end_.release(turn, clock_.now());
      } else {
        end_.fail(turn, *failure, random_fraction(), clock_.now());
      }
    });
  } catch (const std::exception& e) {
    // The lease runs out and the turn is claimed again.
    log(Level::error, "turn_not_recorded",
        {{"session", turn.lease.session.text()}, {"reason", e.what()}});
  }
}

template <class Write>
void Turns::persist(const Running& running, Write write) {
  while (true) {
    try {
      return write();
    } catch (const StoreError& e) {
      if (!e.retryable() || running.abandoned || stopping_) throw;
    }
    // Not under any lock; the store's own trouble is what takes the time here.
    for (int i = 0; i < 10 && !running.abandoned && !stopping_; ++i) {
      std::this_thread::sleep_for(100ms);
    }
  }
}

void Turns::reply(const ClaimedTurn& turn, const AgentDefinition& agent, const std::string& text) {
  const TurnReply parsed = parse_turn_reply(text, end_.limits());
  const Time now = clock_.now();
  if (const auto* ask = std::get_if<AskReply>(&parsed)) {
    end_.ask(turn, agent, *ask, now);
  } else if (const auto* result = std::get_if<ResultReply>(&parsed)) {
    end_.result(turn, *result, now);
  } else if (const auto* carry_on = std::get_if<ContinueReply>(&parsed)) {
    end_.carry_on(turn, *carry_on, now);
  } else if (const auto* spawn = std::get_if<SpawnReply>(&parsed)) {
    end_.spawn(turn, agent, *spawn, now);
  } else {
    const auto& error = std::get<ErrorReply>(parsed);
    end_.fail(turn, TurnFailed(error.error, error.retry), random_fraction(), now);
  }
}

void Turns::checkpoint(ClaimedTurn& turn, const Checkpoint& step) {
  const auto* model = std::get_if<ModelStep>(&step.done);
  const ModelSpent spent = model ? model->spent : ModelSpent{};
  const Time now = clock_.now();
  const SessionId& id = turn.lease.session;
  const auto story = db_.write([&](Transaction& tx) -> std::optional<Story> {
    if (session_store::checkpoint(tx, turn.lease, step.state, spent, now) == Commit::lease_lost) {
      return std::nullopt;
    }
    Story s;
    s.add(tx,
          model ? events::model_replied(id, turn.turn, *model)
                : events::tool_ran(id, turn.turn, std::get<ToolStep>(step.done)),
          now);
    return s;
  });
  if (!story) throw TurnFailed("its lease was lost", true);
  turn.attempts = 1;
  journal_.announce(*story);
  if (model) metrics_.model_replied(model->model, spent.input_tokens, spent.output_tokens);
}

void Turns::record_output(const ClaimedTurn& turn, std::vector<std::string> lines) {
  try {
    const Time now = clock_.now();
    const Story story = db_.write([&](Transaction& tx) {
      Story s;
      session_store::lock(tx, turn.lease.session);
      for (const auto& line : lines) {
        s.add(tx, events::agent_output(turn.lease.session, turn.turn, line), now);
      }
      return s;
    });
    journal_.announce(story);
  } catch (const StoreError& e) {
    log(Level::warning, "agent_output_lost",
        {{"session", turn.lease.session.text()}, {"reason", e.what()}});
  }
}

}  // namespace holdpoint
