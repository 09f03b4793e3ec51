#pragma once

#include <string>
#include <vector>

#include "domain/question.h"

namespace holdpoint {

// The `callback_id` of our forms.
inline constexpr std::string_view kSlackFormId = "hp:form";

// A modal for an answer in own words, as views.open takes it; of a question with multi_select also
// with its options, `ticked` being ticked. Its `private_metadata` is the question's id.
std::string slack_form(const Question& question, const std::vector<std::size_t>& ticked,
                       const std::string& public_url);

// A modal that only says something.
std::string slack_notice_view(const std::string& notice);

// The block of a form that complaints stand at.
std::string slack_form_text_block(const QuestionId& question);

}  // namespace holdpoint
