#pragma once

#include "agents/runner.h"
#include "net/http_client.h"

namespace holdpoint {

// Posts the turn to the agent's URL; the reply is the response.
class HttpRunner final : public Runner {
 public:
  explicit HttpRunner(HttpClient& client) : client_(client) {}
  std::string run(const AgentDefinition& agent, const TurnRequest& request,
                  const TurnContext& context) override;

 private:
  HttpClient& client_;
};

}  // namespace holdpoint
