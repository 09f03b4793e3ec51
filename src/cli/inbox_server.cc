#include "cli/inbox_server.h"

#include <algorithm>
#include <utility>

#include "wire/form.h"
#include "wire/json_writer.h"

namespace holdpoint::cli {

using namespace std::chrono_literals;

namespace {

constexpr auto kRetry = 1s;
constexpr auto kLook = 5s;       // How often, where it may not follow.
constexpr auto kSilence = 50s;   // The server says something every 15 s.
constexpr auto kGather = 150ms;  // What happens in quick succession is looked at once.

constexpr const char* kEvents =
    "/agent/events?types=question_asked,question_answered,question_expired,question_cancelled";

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string joined(const Json& answer) {
  return answer.is_array()    ? joined(answer.get<std::vector<std::string>>())
         : answer.is_string() ? answer.get<std::string>()
                              : "nothing";
}

}  // namespace

InboxServer::InboxServer(const Whereabouts& where, std::string by, std::function<void()> changed)
    : by_(std::move(by)),
      changed_(std::move(changed)),
      client_(where.server, where.key, [this] { return stopping_.load(); }),
      // Which event it was does not matter: the list says how things are.
      events_([this](const std::string&) { list_.wake(); }),
      list_("hp-list", clock_, [this](Time now) { return list_once(now); }),
      follow_("hp-follow", clock_, [this](Time now) { return follow_once(now); }),
      send_("hp-send", clock_, [this](Time now) { return send_once(now); }) {}

void InboxServer::start() {
  list_.start();
  follow_.start();
  send_.start();
}

void InboxServer::stop() {
  stopping_ = true;
  follow_.stop();
  list_.stop();
  send_.stop();
}

void InboxServer::send(SendAnswer answer) { add(std::move(answer)); }

void InboxServer::send(CancelSession cancel) { add(std::move(cancel)); }

void InboxServer::look_up(std::string question) { add(std::move(question)); }

void InboxServer::look_again() { list_.wake(); }

void InboxServer::add(Task task) {
  shared_.with([&](Shared& shared) { shared.tasks.push_back(std::move(task)); });
  send_.wake();
}

InboxServer::News InboxServer::take() {
  return shared_.with([](Shared& shared) { return std::exchange(shared.news, {}); });
}

std::string InboxServer::away() {
  return shared_.with([](const Shared& shared) { return shared.away; });
}

void InboxServer::set_away(const std::string& why) {
  if (why.empty()) reached_ = true;
  const auto before = shared_.with([&](Shared& shared) { return std::exchange(shared.away, why); });
  if (before != why) changed_();
}

void InboxServer::refuse(const CallFailed& failed) {
  shared_.with([&](Shared& shared) { shared.news.refused = failed.what(); });
  changed_();
}

std::optional<Time> InboxServer::list_once(Time now) {
  if (now < listed_at_ + kGather && now >= listed_at_) return listed_at_ + kGather;
  listed_at_ = now;
  try {
    const Reply reply = client_.get("/agent/questions?status=pending&order=urgent&limit=200");
    Pending pending;
    for (const auto& question : reply.body.at("questions")) pending.questions.push_back(question);
    pending.more = !reply.body.at("next_cursor").is_null();
    shared_.with([&](Shared& shared) { shared.news.pending = std::move(pending); });
    set_away("");
    changed_();
  } catch (const CallFailed& failed) {
    // Whatever stands in front of a server that was there may say anything while that is away.
    const bool in_front = reached_ && !failed.from_holdpoint() && failed.status != 0;
    if (!failed.passes() && !in_front) {
      refuse(failed);
      return std::nullopt;
    }
    set_away(failed.what());
    return now + kRetry;
  } catch (const Json::exception&) {
    refuse(CallFailed("what answered is no Holdpoint server, or one of another version"));
    return std::nullopt;
  }
  return follows_ ? std::nullopt : std::optional<Time>(now + kLook);
}

std::optional<Time> InboxServer::follow_once(Time now) {
  events_.begin();
  bool first = true;
  try {
    client_.follow(kEvents, events_.last_id(), kSilence, [&](std::string_view piece) {
      // What happened before the stream stood is in the list that is asked for now.
      if (std::exchange(first, false)) list_.wake();
      events_.feed(piece);
    });
  } catch (const CallFailed& failed) {
    if (failed.status == 403) {
      follows_ = false;
      list_.wake();
      return std::nullopt;
    }
  }
  list_.wake();
  return now + kRetry;
}

std::optional<Time> InboxServer::send_once(Time now) {
  while (!stopping_) {
    const auto task = shared_.with([](const Shared& shared) {
      return shared.tasks.empty() ? std::nullopt : std::optional<Task>(shared.tasks.front());
    });
    if (!task) return std::nullopt;
    try {
      run(*task);
    } catch (const CallFailed& failed) {
      if (failed.passes()) {
        set_away(failed.what());
        return now + std::max<Duration>(kRetry, failed.retry_after.value_or(0ms));
      }
      // A look that fails tells nothing.
    }
    shared_.with([](Shared& shared) { shared.tasks.pop_front(); });
    changed_();
    list_.wake();
  }
  return std::nullopt;
}

void InboxServer::run(const Task& task) {
  if (const auto* question = std::get_if<std::string>(&task)) {
    Json found = client_.get("/agent/questions/" + escape_url(*question)).body;
    shared_.with([&](Shared& shared) { shared.news.looked_up.push_back(std::move(found)); });
    return;
  }
  const auto* given = std::get_if<SendAnswer>(&task);
  Outcome outcome = given ? answer(*given) : cancel(std::get<CancelSession>(task));
  shared_.with([&](Shared& shared) { shared.news.outcomes.push_back(std::move(outcome)); });
}

// The same answer again is no other answer, so one whose response was lost may be sent again.
InboxServer::Outcome InboxServer::answer(const SendAnswer& given) {
  JsonWriter out;
  out.begin_object().member("question_id", given.question);
  if (!by_.empty()) out.member("answered_by", by_);
  out.key("answer");
  if (given.values.size() == 1) {
    out.value(given.values.front());
  } else {
    out.begin_array();
    for (const auto& value : given.values) out.value(value);
    out.end_array();
  }
  out.end_object();
  try {
    client_.post("/agent/answer/" + escape_url(given.session), out.take());
    return {given.question, true, "Answered: " + joined(given.values)};
  } catch (const CallFailed& failed) {
    if (failed.passes()) throw;
    if (failed.status == 404) return {given.question, true, failed.what()};
    if (failed.status != 409) return {given.question, false, failed.what()};
    const std::string outcome = failed.body.value("outcome", "");
    if (outcome != "answered") return {given.question, true, failed.what()};
    const Json by = failed.body.value("answered_by", Json());
    return {given.question, true,
            (by.is_string() ? by.get<std::string>() : std::string("Somebody else")) +
                " was first: " + joined(failed.body.value("answer", Json()))};
  }
}

InboxServer::Outcome InboxServer::cancel(const CancelSession& given) {
  try {
    client_.post("/agent/session/" + escape_url(given.session) + "/cancel", "{}");
    return {given.question, true, "Cancelled."};
  } catch (const CallFailed& failed) {
    if (failed.passes()) throw;
    return {given.question, failed.status == 409 || failed.status == 404, failed.what()};
  }
}

}  // namespace holdpoint::cli
