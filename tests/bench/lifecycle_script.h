#pragma once

#include <string>
#include <vector>

#include "errors.h"
#include "load.h"

namespace holdpoint::bench {

// Shared by the clients of one step, which all run in one thread.
struct LifecycleTally {
  Instant end;  // set before the load runs: what completes later is not counted
  long completed = 0;
  long finished = 0;  // with what completed later
  std::vector<double> answer_to_completed_ms;
  std::vector<double> lifecycle_ms;
  Errors errors;
};

// One client: lifecycle after lifecycle, until `tally.end`.
class LifecycleScript : public Script {
 public:
  LifecycleScript(std::string host, LifecycleTally& tally);

  std::optional<std::string> begin(Instant now) override;
  std::optional<std::string> on_response(const Response& response, Instant now) override;
  std::optional<std::string> on_failure(const std::string& reason, Instant now) override;

 private:
  enum class Awaits { trigger, question, answer, result };

  std::string read_session();
  std::string answer_question(const Response& response, Instant now);
  std::string read_result();
  std::optional<std::string> finish(const Response& response, Instant now);
  std::optional<std::string> begin_unless_over(Instant now);

  std::string host_;
  LifecycleTally& tally_;
  Awaits awaits_ = Awaits::trigger;
  std::string session_;
  Instant triggered_;
  Instant answered_;
};

}  // namespace holdpoint::bench
