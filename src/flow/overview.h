#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/answer_times.h"
#include "flow/notices.h"
#include "store/database.h"

namespace holdpoint {

// How agents and channels fare, for those who run the server. Looks at the newest rows only, so
// that it takes the same time however many there are.
class Overview {
 public:
  static constexpr std::int64_t kSessions = 10'000;
  static constexpr std::int64_t kAnswers = 10'000;
  static constexpr std::int64_t kDeliveries = 10'000;

  // Whether the connection that a platform's answers come by is there; nothing if they come by
  // none. From any thread.
  using Connected = std::function<std::optional<bool>(std::string_view platform)>;
  Overview(Database& db, Notices& notices, Connected connected)
      : db_(db), notices_(notices), connected_(std::move(connected)) {}

  struct Agent {
    std::string name;
    std::int64_t sessions = 0;
    std::int64_t asked = 0;  // Sessions that asked something.
    std::int64_t questions = 0;
    std::int64_t failed = 0;
    std::int64_t answered = 0;  // Questions.
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::optional<std::int64_t> cost_micros;  // Of those whose price is known.
    AnswerTimes times;
  };
  struct Channel {
    std::string name;
    bool set_up = false;
    std::int64_t delivered = 0;
    std::int64_t retrying = 0;  // Owed, and has failed before.
    std::int64_t dead = 0;
    std::optional<Time> last_delivered_at;
    // Of the newest delivery that has failed and not arrived since. `last_error_at` is when it was
    // first owed: its row does not keep when it was tried.
    std::optional<std::string> last_error;
    std::optional<Time> last_error_at;
    std::optional<bool> connected;
  };
  struct Report {
    std::vector<Agent> agents;      // That have sessions or answers, by name.
    std::vector<Channel> channels;  // All there can be.
  };
  Report look();

 private:
  Database& db_;
  Notices& notices_;
  const Connected connected_;
};

}  // namespace holdpoint
