#include "domain/session.h"

#include <stdexcept>

namespace holdpoint {

std::string_view to_text(TurnReason reason) {
  switch (reason) {
    case TurnReason::start:
      return "start";
    case TurnReason::answer:
      return "answer";
    case TurnReason::timeout:
      return "timeout";
    case TurnReason::message:
      return "message";
    case TurnReason::agents:
      return "agents";
    case TurnReason::carry_on:
      return "continue";
  }
  return "";
}

TurnReason turn_reason_from(std::string_view text) {
  for (const auto reason : {TurnReason::start, TurnReason::answer, TurnReason::timeout,
                            TurnReason::message, TurnReason::agents, TurnReason::carry_on}) {
    if (to_text(reason) == text) return reason;
  }
  throw std::invalid_argument("no turn reason: " + std::string(text));
}

}  // namespace holdpoint
