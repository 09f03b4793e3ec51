#include "agent_turn.h"

#include "json_scan.h"

namespace holdpoint::bench {

std::string take_turn(std::string_view turn) {
  const auto reason = text_of(member(turn, "reason"));
  if (reason == "start") {
    return R"({"ask":{"questions":[{"question":"What style?","options":["haiku","sonnet"]}]},)"
           R"("state":{"step":1}})";
  }
  if (reason == "answer") {
    const auto style = member(member(member(turn, "resume"), "answers"), "What style?");
    if (!style.empty()) return R"({"result":{"style":)" + std::string(style) + "}}";
  }
  return R"({"error":"a turn that the bench's agent does not expect","retry":false})";
}

}  // namespace holdpoint::bench
