#pragma once

#include <optional>
#include <string>

#include "domain/question.h"
#include "domain/session.h"

namespace holdpoint {

// The bodies of the `url` channel: question_pending word for word as integrations know it, and more
// members after it. `answer_page` is a link with which a person may answer.
std::string question_pending_json(const Question& question, const std::string& answer_url,
                                  const std::optional<std::string>& answer_page = std::nullopt);
std::string question_settled_json(const Question& question);
// `event` is session_completed, session_failed or session_cancelled.
std::string session_ended_json(const std::string& event, const Session& session);

}  // namespace holdpoint
