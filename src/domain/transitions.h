#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace holdpoint {

enum class SessionStatus { running, pending_input, completed, failed, cancelled };
enum class QuestionStatus { pending, answered, timed_out, defaulted, cancelled };

inline constexpr std::array kSessionStatuses{SessionStatus::running, SessionStatus::pending_input,
                                             SessionStatus::completed, SessionStatus::failed,
                                             SessionStatus::cancelled};
inline constexpr std::array kQuestionStatuses{QuestionStatus::pending, QuestionStatus::answered,
                                              QuestionStatus::timed_out, QuestionStatus::defaulted,
                                              QuestionStatus::cancelled};

std::string_view to_text(SessionStatus status);
std::string_view to_text(QuestionStatus status);
std::optional<SessionStatus> session_status_from(std::string_view text);
std::optional<QuestionStatus> question_status_from(std::string_view text);

// The whole table of legal moves. `schema.sql` repeats only the names, as CHECK lists.
bool may_move(SessionStatus from, SessionStatus to);
bool may_move(QuestionStatus from, QuestionStatus to);

bool is_finished(SessionStatus status);
inline bool is_settled(QuestionStatus status) { return status != QuestionStatus::pending; }

}  // namespace holdpoint
