#include "cli/ask_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/clock.h"
#include "base/ids.h"
#include "base/loop.h"
#include "cli/print.h"
#include "cli/progress_line.h"
#include "cli/terminal_text.h"
#include "cli/waiting.h"
#include "cli/wakeups.h"
#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint::cli {
namespace {

using namespace std::chrono_literals;

// Byte for byte to whoever reads it; on a terminal without what steers that.
void print_answer(const std::string& answer) {
  if (!isatty(STDOUT_FILENO)) {
    std::printf("%s\n", answer.c_str());
    return;
  }
  std::size_t start = 0;
  for (; start <= answer.size();) {
    const auto end = std::min(answer.find('\n', start), answer.size());
    std::printf("%s\n", printable(answer.substr(start, end - start)).c_str());
    start = end + 1;
  }
}

void print_answers(const Json& question) {
  const Json answer = question.value("answer", Json());
  if (answer.is_string()) print_answer(answer.get<std::string>());
  if (!answer.is_array()) return;
  for (const auto& one : answer) print_answer(one.get<std::string>());
}

// What a person or a script that watches is told meanwhile, on standard error.
class Report {
 public:
  explicit Report(bool announces) : announces_(announces), began_(clock_.now()) {}

  void show(const Waiting::Seen& seen) {
    if (seen.outages > outages_) {
      say(seen.away.empty() ? "the server was away" : seen.away + "; trying again");
      outages_ = seen.outages;
    } else if (was_away_ && seen.away.empty()) {
      say("the server is back");
    }
    was_away_ = !seen.away.empty();
    if (seen.end) return;
    if (!line_.on_terminal()) {
      announce(seen);
    } else {
      const Time now = clock_.now();
      line_.show(progress_text(seen, now - began_, now, line_.columns()));
    }
  }

  void say(const std::string& text) {
    line_.clear();
    complain(text);
  }

  void clear() { line_.clear(); }

 private:
  void announce(const Waiting::Seen& seen) {
    if (!announces_ || seen.questions.empty()) return;
    announces_ = false;
    const Json& question = seen.questions.front();
    complain("asked, id " + question.at("id").get<std::string>() + ", waiting until " +
             question.value("expires_at", "it is settled"));
  }

  const SystemClock clock_;
  bool announces_;
  const Time began_;
  ProgressLine line_;
  std::size_t outages_ = 0;
  bool was_away_ = false;
};

// How to go on with what was left.
void explain_how_to_go_on(const Waiting::Seen& seen, const std::string& key) {
  if (!seen.questions.empty()) {
    const Json& question = seen.questions.front();
    const char* which = seen.questions.size() > 1 ? "session_id" : "id";
    complain("the question stays open; to go on waiting:");
    std::fprintf(stderr, "  holdpoint wait %s\n",
                 printable(question.at(which).get<std::string>()).c_str());
  } else if (!key.empty()) {
    complain("it may have been asked already; the same command with this key does not ask twice:");
    std::fprintf(stderr, "  --key %s\n", printable(key).c_str());
  }
}

int finish(const Waiting::Seen& seen, const AskManner& manner, const std::string& key) {
  const Waiting::End& end = *seen.end;
  if (!end.complaint.empty()) complain(end.complaint);
  if (end.code == exits::kFailed) explain_how_to_go_on(seen, key);
  const bool over = end.code != exits::kFailed && end.code != exits::kRefused;
  for (std::size_t i = 0; over && i < seen.questions.size(); ++i) {
    if (manner.json) {
      print_json(seen.texts[i]);
    } else if (manner.detach) {
      std::printf("%s\n", printable(seen.questions[i].at("id").get<std::string>()).c_str());
    } else if (end.code == exits::kAnswered) {
      print_answers(seen.questions[i]);
    }
  }
  if (std::fflush(stdout) == 0) return end.code;
  complain("standard output takes nothing any more");
  return exits::kFailed;
}

int run(const Whereabouts& where, Waiting::Start start, const AskManner& manner,
        const std::string& key) {
  start.detach = manner.detach;
  start.connect_timeout = parse_span(manner.connect_timeout, "--connect-timeout");
  Signals signals({SIGINT, SIGTERM});
  Bell bell;
  std::atomic<bool> stopping = false;
  Client client(where.server, where.key, [&] { return stopping.load(); });
  Waiting waiting(client, std::move(start), [&] { bell.ring(); });
  const SystemClock clock;
  Loop loop("hp-waiting", clock, [&](Time now) { return waiting.run_once(now); });
  Report report(!manner.detach);
  loop.start();
  int signal = 0;
  for (auto seen = waiting.seen(); !seen.end && signal == 0; seen = waiting.seen()) {
    report.show(seen);
    wait_for_any(bell, signals, -1, 1s);
    bell.take();
    signal = signals.take();
  }
  // Said before the call that is under way has noticed.
  report.clear();
  if (signal != 0 && !waiting.seen().end) explain_how_to_go_on(waiting.seen(), key);
  stopping = true;
  loop.stop();
  const auto seen = waiting.seen();
  if (seen.end) {
    report.show(seen);
    return finish(seen, manner, key);
  }
  return 128 + signal;
}

}  // namespace

int run_ask(const Whereabouts& where, const AskLine& line, const AskManner& manner) {
  try {
    const std::string key = line.key ? *line.key : new_uuid(SystemClock().now());
    Waiting::Start start;
    start.body = ask_body(line, key);
    return run(where, std::move(start), manner, key);
  } catch (const BadRequest& e) {
    complain(e.field() + ": " + e.what());
    return exits::kRefused;
  }
}

int run_wait(const Whereabouts& where, const std::string& id, const AskManner& manner) {
  try {
    Waiting::Start start;
    start.id = lower_case(id);
    if (!is_uuid(start.id)) {
      throw BadRequest("id",
                       "must be the id of a question or a session, as `holdpoint ask` prints it");
    }
    return run(where, std::move(start), manner, "");
  } catch (const BadRequest& e) {
    complain(e.field() + ": " + e.what());
    return exits::kRefused;
  }
}

}  // namespace holdpoint::cli
