#include "flow/herald.h"

#include <algorithm>

#include "store/event_store.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

// What was told within this time goes out together. Every word wakes every node, and the database
// for each: where much happens they come seldom, where little happens soon.
constexpr auto kWhenQuiet = 3ms;
constexpr auto kWhenBusy = 20ms;
constexpr double kBusy = 0.05;  // Sessions that share a word with another, a millisecond.
// While word comes through, looking is only a net.
constexpr auto kBetweenLooks = 1s;
constexpr auto kBetweenTouches = 5s;
constexpr auto kWithoutWord = 250ms;

}  // namespace

Herald::Herald(Database& db, Bulletin& bulletin, Journal& journal, std::string node,
               const Clock& clock, Hearers hearers)
    : db_(db),
      bulletin_(bulletin),
      journal_(journal),
      node_(std::move(node)),
      hearers_(std::move(hearers)),
      ear_("hp-ear", 1, 1),
      mouth_("hp-mouth", clock, [this](Time now) { return run_once(now); }) {}

void Herald::start() {
  mouth_.start();
  const bool taken =
      ear_.submit([this] { bulletin_.listen([this](std::string_view text) { hear(text); }); });
  if (!taken) throw std::runtime_error("no thread to listen with");
}

void Herald::stop() {
  bulletin_.stop();
  ear_.stop();
  mouth_.stop();
}

void Herald::tell(const Story& story) {
  if (story.events.empty()) return;
  const bool turn_due = story.turn_due && !hearers_.takes_turns();
  const bool delivery_due = story.delivery_due && !hearers_.takes_deliveries();
  const bool first = word_.with([&](Word& word) {
    const bool empty = word.empty();
    word.turn_due = word.turn_due || turn_due;
    word.delivery_due = word.delivery_due || delivery_due;
    for (const auto& event : story.events) {
      if (event.type == "session_cancelled") {
        word.cancelled.insert(event.session);
      } else if (event.moves) {
        word.touched.insert(event.session);
      } else {
        word.events = true;
      }
    }
    return empty;
  });
  if (first) mouth_.wake();  // Else it knows already.
}

void Herald::tell_credentials() {
  word_.with([](Word& word) { word.credentials = true; });
  mouth_.wake();
}

std::optional<Time> Herald::run_once(Time now) {
  const auto between_looks = bulletin_.is_open() ? Duration{kBetweenLooks} : Duration{kWithoutWord};
  if (now >= looked_at_ + between_looks || now < looked_at_) {
    looked_at_ = now;
    look(now);
  }
  const Time next_look = looked_at_ + between_looks;
  // A clock that was set back holds nothing up.
  const Time next_word = sent_at_ + (pace_ > kBusy ? kWhenBusy : kWhenQuiet);
  if (now < next_word && now >= sent_at_) return std::min(next_look, next_word);
  const Word word = word_.with([](Word& w) { return std::exchange(w, {}); });
  const auto since = std::max<std::int64_t>(1, (now - sent_at_).count());
  const auto shared = word.touched.empty() ? 0 : word.touched.size() - 1;
  const double pace = static_cast<double>(shared) / static_cast<double>(since);
  pace_ += 0.2 * (pace - pace_);
  sent_at_ = now;
  try {
    send(word);
  } catch (const StoreError&) {
    // The others find out by looking.
  }
  return next_look;
}

void Herald::send(const Word& word) {
  std::string head = node_;
  if (word.turn_due) head += " t";
  if (word.delivery_due) head += " d";
  if (word.credentials) head += " c";
  if (word.events) head += " e";
  std::vector<std::string> texts{head};
  const auto add = [&](const std::string& part) {
    if (texts.back().size() + part.size() + 1 > Bulletin::kMaxText) texts.push_back(node_);
    texts.back() += ' ' + part;
  };
  for (const auto& session : word.touched) add(session.text());
  for (const auto& session : word.cancelled) add('!' + session.text());
  if (texts.front() != node_) bulletin_.post(texts);
}

void Herald::hear(std::string_view text) {
  if (text.starts_with(node_)) return;
  auto at = text.find(' ');
  bool events = false;
  while (at != std::string_view::npos) {
    text.remove_prefix(at + 1);
    at = text.find(' ');
    std::string_view part = text.substr(0, at);
    const bool cancelled = part.starts_with('!');
    if (part == "t") hearers_.turns();
    if (part == "d") hearers_.deliveries();
    if (part == "c") hearers_.credentials();
    if (part == "e") events = true;
    if (cancelled) part.remove_prefix(1);
    if (!is_uuid(part)) continue;
    events = true;
    const SessionId session{std::string(part)};
    journal_.touch(session);
    if (cancelled) hearers_.cancelled(session);
  }
  if (events) hearers_.events();
}

void Herald::look(Time now) {
  hearers_.turns();
  hearers_.deliveries();
  hearers_.deadlines();
  const auto last = db_.read([](Transaction& tx) { return event_store::last_seq(tx); });
  const bool happened = std::exchange(seen_, last) != last;
  if (happened) hearers_.events();
  const bool open = bulletin_.is_open();
  const bool time_to = now >= touched_at_ + kBetweenTouches || now < touched_at_;
  if (open ? time_to : happened) {
    touched_at_ = now;
    journal_.touch_all();
    hearers_.credentials();
  }
}

}  // namespace holdpoint
