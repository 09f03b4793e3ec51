#pragma once

#include <string>

#include "agents/definition.h"

namespace holdpoint {

// What the model is told besides the agent's prompt: whom it can ask, and who reads what it says.
std::string instructions(const AgentDefinition& agent, bool is_sub_agent);

// The message that starts the conversation.
std::string first_message(const std::string& payload);

}  // namespace holdpoint
