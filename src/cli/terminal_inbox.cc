#include "cli/terminal_inbox.h"

#include <signal.h>
#include <unistd.h>

#include "cli/inbox_server.h"
#include "cli/print.h"
#include "cli/screen.h"
#include "cli/waiting.h"
#include "cli/wakeups.h"

namespace holdpoint::cli {
namespace {

using namespace std::chrono_literals;

// Until the person quits; the exit code.
class TerminalInbox {
 public:
  TerminalInbox(const Whereabouts& where, const std::string& by)
      : where_(where),
        signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}),
        server_(where, by, [this] { bell_.ring(); }) {}

  int run() {
    server_.start();
    {
      Screen screen;
      while (!code_) {
        screen.show(draw_inbox(desk_, where_.server, server_.away(), clock_.now(), screen.size()));
        const auto longest = keys_.is_unsure() ? 50ms : 1000ms;
        const Woken woken = wait_for_any(bell_, signals_, STDIN_FILENO, longest);
        obey(screen);
        if (woken == Woken::by_input) read_keys(screen);
        if (woken == Woken::by_time) press(keys_.be_sure());
        bell_.take();
        take_news();
      }
    }
    if (!refused_.empty()) complain(refused_);
    server_.stop();
    take_news();
    if (desk_.count_unsent() > 0) complain("what was answered last could not be sent");
    return *code_;
  }

 private:
  void obey(Screen& screen) {
    while (const int number = signals_.take()) {
      if (number == SIGTSTP) {
        screen.leave();
        kill(getpid(), SIGSTOP);
        screen.enter();
      } else if (number != SIGWINCH) {
        code_ = number == SIGINT ? 0 : 128 + number;
      }
    }
  }

  void read_keys(Screen& screen) {
    bool ended = false;
    press(keys_.feed(screen.read(ended)));
    if (ended) code_ = 128 + SIGHUP;
  }

  void press(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      const Effect effect = desk_.press(key, clock_.now());
      if (const auto* answer = std::get_if<SendAnswer>(&effect)) server_.send(*answer);
      if (const auto* cancel = std::get_if<CancelSession>(&effect)) server_.send(*cancel);
      if (std::holds_alternative<LookAgain>(effect)) server_.look_again();
      if (std::holds_alternative<Quit>(effect)) code_ = 0;
    }
  }

  void take_news() {
    auto news = server_.take();
    if (news.refused) {
      refused_ = *news.refused;
      code_ = exits::kFailed;
    }
    for (const auto& outcome : news.outcomes) {
      if (outcome.over) {
        desk_.succeed(outcome.question, outcome.text);
      } else {
        desk_.refuse(outcome.question, outcome.text);
      }
    }
    if (news.pending) {
      const auto gone =
          desk_.refresh(std::move(news.pending->questions), news.pending->more, clock_.now());
      if (gone) server_.look_up(*gone);
    }
    for (const auto& question : news.looked_up) desk_.tell(question);
  }

  const Whereabouts where_;
  const SystemClock clock_;
  Signals signals_;
  Bell bell_;
  InboxServer server_;
  InboxDesk desk_;
  TypedKeys keys_;
  std::optional<int> code_;
  std::string refused_;
};

}  // namespace

int run_inbox(const Whereabouts& where, const std::string& by) {
  if (!Screen::is_there()) {
    complain(
        "the inbox needs a terminal on standard input and output; `holdpoint questions` and "
        "`holdpoint answer` do without");
    return exits::kRefused;
  }
  return TerminalInbox(where, by).run();
}

}  // namespace holdpoint::cli
