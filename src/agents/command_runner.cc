#include "agents/command_runner.h"

#include "agents/command_exchange.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

std::string last_line(std::string_view output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) {
    output.remove_suffix(1);
  }
  const auto newline = output.rfind('\n');
  return std::string(newline == std::string_view::npos ? output : output.substr(newline + 1));
}

}  // namespace

std::string CommandRunner::run(const AgentDefinition& agent, const TurnRequest& request,
                               const TurnContext& context) {
  try {
    ChildProcess child(agent.command, agent.folder);
    const auto said = CommandExchange(child, turn_request_json(request) + "\n",
                                      {context.timeout, context.max_reply_bytes}, context)
                          .run();
    const auto end = child.wait();
    if (!end.clean) throw TurnFailed("the command ended with " + end.how, true);
    std::string reply = last_line(said.output);
    if (is_blank(reply)) throw TurnFailed("the command printed no reply", true);
    return reply;
  } catch (const TurnFailed&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw TurnFailed(e.what(), true);
  }
}

}  // namespace holdpoint
