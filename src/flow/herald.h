#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "base/guarded.h"
#include "base/loop.h"
#include "flow/journal.h"

namespace holdpoint {

// Tells the other nodes what was committed here, and those who wait here what others committed.
// Word travels by the database's bulletin; what got lost on the way is found by looking every so
// often, and often where nothing gets through.
class Herald {
 public:
  // Who looks for work, or for what changed, when word comes. All are set before the start.
  struct Hearers {
    std::function<void()> turns;
    std::function<void()> deliveries;
    std::function<void()> deadlines;
    std::function<void()> events;
    std::function<void()> credentials;
    std::function<void(const SessionId&)> cancelled;
    // Whether this node takes what it made due by itself, so that the others need not look.
    std::function<bool()> takes_turns;
    std::function<bool()> takes_deliveries;
  };
  Herald(Database& db, Bulletin& bulletin, Journal& journal, std::string node, const Clock& clock,
         Hearers hearers);
  ~Herald() { stop(); }

  void start();
  void stop();

  // After a commit.
  void tell(const Story& story);
  void tell_credentials();

  // Sends what was told since the last time, and looks when it is time to; returns when to go on.
  std::optional<Time> run_once(Time now);
  // A text of the bulletin.
  void hear(std::string_view text);

 private:
  // What is to be said.
  struct Word {
    bool turn_due = false;
    bool delivery_due = false;
    bool credentials = false;
    bool events = false;  // Such as move nobody who waits.
    std::unordered_set<SessionId> touched;
    std::unordered_set<SessionId> cancelled;
    bool empty() const {
      return !turn_due && !delivery_due && !credentials && !events && touched.empty() &&
             cancelled.empty();
    }
  };
  void send(const Word& word);
  void look(Time now);

  Database& db_;
  Bulletin& bulletin_;
  Journal& journal_;
  const std::string node_;
  const Hearers hearers_;
  Guarded<Word> word_;
  Time sent_at_{};
  double pace_ = 0;  // Sessions that shared a word with another lately, a millisecond.
  Time looked_at_{};
  Time touched_at_{};
  std::int64_t seen_ = -1;  // The newest event at the last look.
  Pool ear_;
  Loop mouth_;
};

}  // namespace holdpoint
