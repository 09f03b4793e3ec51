#include "cli/waiting.h"

#include <algorithm>

#include "base/ids.h"
#include "cli/ask_line.h"
#include "wire/form.h"

namespace holdpoint::cli {

using namespace std::chrono_literals;

namespace {

constexpr auto kPoll = 55s;

Duration pause_after(int failures, std::optional<Duration> retry_after) {
  const Duration longest = std::min<Duration>(5s, 200ms * (1 << std::min(failures, 10)));
  // Spread, so that those whom a restart has thrown out do not come back all at once.
  const auto pause = Duration{static_cast<std::int64_t>(static_cast<double>(longest.count()) *
                                                        (1 - random_fraction() / 4))};
  return std::max(pause, retry_after.value_or(Duration{0}));
}

// The elements of a list in an object, as they are written.
std::vector<std::string> texts_in(const std::string& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const auto& [member, value] : members_of(object)) {
    if (member != name) continue;
    for (const auto text : elements_of(value)) texts.emplace_back(text);
  }
  return texts;
}

bool is_pending(const Json& question) { return question.at("status") == "pending"; }

Waiting::End end_of(const std::vector<Json>& questions) {
  const auto any = [&](const char* status) {
    return std::any_of(questions.begin(), questions.end(),
                       [&](const Json& question) { return question.at("status") == status; });
  };
  if (any("cancelled")) return {exits::kCancelled, "the question was cancelled"};
  if (any("timed_out")) return {exits::kTimedOut, "nobody answered in time"};
  if (any("defaulted")) return {exits::kAnswered, "nobody answered in time; the default counts"};
  return {exits::kAnswered, ""};
}

// What was refused, by the name of what was typed.
std::string complaint_of(const CallFailed& failed) {
  const std::string what = failed.what(), field = failed.field();
  if (field.empty()) return what;
  return option_of(field) + ": " +
         (what.starts_with(field + ": ") ? what.substr(field.size() + 2) : what);
}

}  // namespace

Waiting::Seen Waiting::seen() {
  return seen_.with([](const Seen& seen) { return seen; });
}

std::optional<Time> Waiting::run_once(Time now) {
  if (!began_) began_ = now;
  std::optional<Time> next;
  try {
    next = step(now);
    reached_ = true;
    failures_ = 0;
    seen_.with([](Seen& seen) { seen.away.clear(); });
  } catch (const CallFailed& failed) {
    next = fail(failed, now);
  } catch (const std::exception& e) {
    // A 2xx that is not what our server would say.
    seen_.with([&](Seen& seen) {
      seen.end =
          End{exits::kFailed, "what answered is no Holdpoint server, or one of another version: " +
                                  std::string(e.what())};
    });
  }
  changed_();
  return next;
}

std::optional<Time> Waiting::step(Time now) {
  // One that says at once that nothing has changed is not asked again at once.
  Time next = now;
  if (known_) {
    const bool looked = failures_ > 0;
    if (poll() && !looked) next = now + 1s;
  } else if (start_.body.empty()) {
    find();
  } else {
    ask();
  }
  return seen_.with([&](Seen& seen) -> std::optional<Time> {
    if (seen.end) return std::nullopt;
    if (start_.detach) {
      seen.end = End{exits::kAnswered, ""};
    } else if (std::none_of(seen.questions.begin(), seen.questions.end(), is_pending)) {
      seen.end = end_of(seen.questions);
    }
    return seen.end ? std::nullopt : std::optional<Time>(next);
  });
}

void Waiting::ask() { keep(texts_in(server_.post("/agent/ask", start_.body).text, "questions")); }

void Waiting::find() {
  try {
    keep({server_.get("/agent/questions/" + escape_url(start_.id)).text});
  } catch (const CallFailed& failed) {
    if (failed.code() != "unknown_question") throw;
    find_by_session();
  }
}

void Waiting::find_by_session() {
  const Reply reply = server_.get("/agent/questions?limit=500&session=" + escape_url(start_.id));
  // The newest come first, and so does the last ask of a session that has asked more than once.
  std::vector<std::string> texts;
  for (auto& text : texts_in(reply.text, "questions")) {
    const bool same =
        texts.empty() || read_json(text).at("ask") == read_json(texts.front()).at("ask");
    if (same) texts.push_back(std::move(text));
  }
  if (texts.empty()) {
    seen_.with([&](Seen& seen) {
      seen.end = End{exits::kRefused, "there is no question and no session " + start_.id};
    });
    return;
  }
  std::sort(texts.begin(), texts.end(), [](const std::string& a, const std::string& b) {
    return read_json(a).at("position") < read_json(b).at("position");
  });
  keep(std::move(texts));
}

void Waiting::keep(std::vector<std::string> texts) {
  std::vector<Json> questions;
  for (const auto& text : texts) questions.push_back(parse_json(text, "question"));
  if (questions.empty()) throw std::runtime_error("it names no question");
  for (const auto& question : questions) {
    question.at("id").get_ref<const std::string&>();
    question.at("status").get_ref<const std::string&>();
  }
  seen_.with([&](Seen& seen) {
    seen.questions = std::move(questions);
    seen.texts = std::move(texts);
  });
  known_ = true;
}

bool Waiting::poll() {
  std::size_t place = 0;
  std::string id;
  seen_.with([&](const Seen& seen) {
    while (!is_pending(seen.questions.at(place))) ++place;
    id = seen.questions[place].at("id").get<std::string>();
  });
  // After an outage a look first: a long poll would not tell for a while that the server is back.
  const auto longest = failures_ > 0 ? 0s : kPoll;
  Reply reply = server_.get(
      "/agent/questions/" + escape_url(id) + "?wait=" + std::to_string(longest.count()), longest);
  const bool pending = is_pending(reply.body);
  seen_.with([&](Seen& seen) {
    seen.questions[place] = std::move(reply.body);
    seen.texts[place] = std::move(reply.text);
  });
  return pending;
}

Time Waiting::give_up_at(const Seen& seen) const {
  if (!reached_) return began_.value_or(Time{}) + start_.connect_timeout;
  Time last{};
  for (const auto& question : seen.questions) {
    const auto deadline = parse_iso(question.value("expires_at", ""));
    last = std::max(last, deadline.value_or(Time::max() - kMargin));
  }
  // Reached, but not asked yet: it is asked when the server can.
  return seen.questions.empty() ? Time::max() : last + kMargin;
}

std::optional<Time> Waiting::fail(const CallFailed& failed, Time now) {
  reached_ = reached_ || failed.from_holdpoint();
  // Whatever stands in front of a server that was there may say anything while that is away.
  const bool in_front = reached_ && !failed.from_holdpoint() && failed.status != 0;
  const bool again = failed.passes() || in_front;
  return seen_.with([&](Seen& seen) -> std::optional<Time> {
    if (!again) {
      const bool bad_address = failed.status == 0;
      const bool refused = !known_ && failed.from_holdpoint() && failed.code() != "unknown_path" &&
                           (failed.status == 400 || failed.status == 404 || failed.status == 413 ||
                            failed.status == 422);
      seen.end =
          End{refused || bad_address ? exits::kRefused : exits::kFailed, complaint_of(failed)};
      return std::nullopt;
    }
    const Time last = give_up_at(seen);
    if (now >= last) {
      seen.end = End{exits::kFailed, std::string("given up: ") + failed.what()};
      return std::nullopt;
    }
    if (seen.away.empty()) ++seen.outages;
    seen.away = failed.what();
    const Duration pause = pause_after(failures_++, failed.retry_after);
    return last - now < pause ? last : now + pause;
  });
}

}  // namespace holdpoint::cli
