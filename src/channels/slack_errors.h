#pragma once

#include <string>

#include "wire/json.h"

namespace holdpoint {

// A word of Slack's for what went wrong, as whoever runs the server is told: with what mends it.
// `reply` is all of Slack's answer, `place` the channel it was about; both may be empty.
std::string slack_error_text(const std::string& error, const Json& reply, const std::string& place);

// Whether the message itself is at fault, so that it can never be sent as it is.
bool is_fault_of_message(const std::string& error);

}  // namespace holdpoint
