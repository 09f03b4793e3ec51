#pragma once

#include <optional>
#include <string>

#include "http/mcp_methods.h"

namespace holdpoint {

// Tools that the protocol's conformance suite calls, for [mcp] test_tools: each is made of what
// real calls are made of.
std::string fixture_tools();
// Nothing if it is none of them, or if they are off.
std::optional<Response> run_fixture(Api& api, McpDesk& desk, const McpRequest& request,
                                    const std::string& name, const std::string& arguments);

}  // namespace holdpoint
