#pragma once

#include "agents/definition.h"
#include "agents/front_matter.h"

namespace holdpoint {

// The keys of model agents: model, max_reply_tokens, budget, tools and mcp_servers. An agent with
// another runner may have none of them. Throws DefinitionError.
void read_model_agent(FrontMatter& reader, AgentDefinition& agent);

}  // namespace holdpoint
