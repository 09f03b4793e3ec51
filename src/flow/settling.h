#pragma once

#include "agents/definition.h"
#include "domain/question.h"
#include "flow/journal.h"
#include "flow/notices.h"

namespace holdpoint {

// What answers, expiry and cancel have in common: the moment at which an ask is over. Steps of the
// caller's transaction.
class Settling {
 public:
  Settling(Notices& notices, Agents& agents) : notices_(notices), agents_(agents) {}

  // A question was settled; `question` shows how.
  void settled(Transaction& tx, Story& story, const Question& question, Event event, Time now);

  // All questions of the ask are settled: the session is due again, or has ended.
  void ask_over(Transaction& tx, Story& story, const std::vector<Question>& settled, Time now);
  // The same, when somebody called it off.
  void ask_cancelled(Transaction& tx, Story& story, const std::vector<Question>& settled,
                     const std::string& reason, Time now);

 private:
  void end(Transaction& tx, Story& story, const std::vector<Question>& settled,
           SessionStatus status, const std::string& reason, const std::optional<std::string>& state,
           Time now);

  Notices& notices_;
  Agents& agents_;
};

}  // namespace holdpoint
