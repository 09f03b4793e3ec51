#include "domain/transitions.h"

namespace holdpoint {
namespace {

template <class Status, std::size_t N>
std::optional<Status> from_text(const std::array<Status, N>& all, std::string_view text) {
  for (const Status status : all) {
    if (to_text(status) == text) return status;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(SessionStatus status) {
  switch (status) {
    case SessionStatus::running:
      return "running";
    case SessionStatus::pending_input:
      return "pending_input";
    case SessionStatus::completed:
      return "completed";
    case SessionStatus::failed:
      return "failed";
    case SessionStatus::cancelled:
      return "cancelled";
  }
  return "";
}

std::string_view to_text(QuestionStatus status) {
  switch (status) {
    case QuestionStatus::pending:
      return "pending";
    case QuestionStatus::answered:
      return "answered";
    case QuestionStatus::timed_out:
      return "timed_out";
    case QuestionStatus::defaulted:
      return "defaulted";
    case QuestionStatus::cancelled:
      return "cancelled";
  }
  return "";
}

std::optional<SessionStatus> session_status_from(std::string_view text) {
  return from_text(kSessionStatuses, text);
}

std::optional<QuestionStatus> question_status_from(std::string_view text) {
  return from_text(kQuestionStatuses, text);
}

bool may_move(SessionStatus from, SessionStatus to) {
  switch (from) {
    case SessionStatus::running:
      return to != SessionStatus::running;
    case SessionStatus::pending_input:
      // `completed` straight from here: an external agent's session has no turn left to run.
      return to != SessionStatus::pending_input;
    case SessionStatus::failed:
      return to == SessionStatus::running;  // retry
    case SessionStatus::completed:
    case SessionStatus::cancelled:
      return false;
  }
  return false;
}

bool may_move(QuestionStatus from, QuestionStatus to) {
  return from == QuestionStatus::pending && to != QuestionStatus::pending;
}

bool is_finished(SessionStatus status) {
  return status != SessionStatus::running && status != SessionStatus::pending_input;
}

}  // namespace holdpoint
