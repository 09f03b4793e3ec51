#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/question.h"

// How lists stand in single columns of agent_questions: as JSON, which people can read in any
// shell; channels, which are plain words, with spaces between them. This is the store's own format;
// what the API prints is wire's.
namespace holdpoint::question_columns {

std::string from_options(const std::vector<Option>& options);
std::vector<Option> to_options(std::string_view column);

std::string from_labels(const std::vector<std::string>& labels);
std::vector<std::string> to_labels(std::string_view column);

std::string from_choice(const Choice& choice);
Choice to_choice(std::string_view column);

std::string from_channels(const std::vector<std::string>& channels);
std::vector<std::string> to_channels(std::string_view column);

}  // namespace holdpoint::question_columns
