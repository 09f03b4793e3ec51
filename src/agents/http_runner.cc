#include "agents/http_runner.h"

#include "domain/text.h"

namespace holdpoint {

std::string HttpRunner::run(const AgentDefinition& agent, const TurnRequest& request,
                            const TurnContext& context) {
  HttpRequest http;
  http.url = agent.url;
  http.headers = {{"Content-Type", "application/json"},
                  {"Accept", "application/json"},
                  {"X-Agent-Session", request.session_id.text()}};
  http.body = turn_request_json(request);
  http.total_timeout = context.timeout;
  http.max_response_bytes = context.max_reply_bytes;
  http.cancelled = context.cancelled;
  HttpResponse response = client_.send(http);
  if (context.cancelled()) throw TurnFailed("the turn was stopped", true);
  if (!response.error.empty()) {
    throw TurnFailed("the agent at " + agent.url + " could not be reached: " + response.error,
                     true);
  }
  if (response.status < 200 || response.status > 299) {
    // The agent's own refusal stays one; what is about load or its health may pass.
    const bool passing = response.status >= 500 || response.status == 408 ||
                         response.status == 425 || response.status == 429;
    throw TurnFailed("the agent answered with HTTP " + std::to_string(response.status) + ": " +
                         shorten(response.body, 200),
                     passing);
  }
  return std::move(response.body);
}

}  // namespace holdpoint
