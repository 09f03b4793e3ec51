#include "http/mcp_methods.h"

#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/mcp_call.h"
#include "http/mcp_fixtures.h"
#include "http/mcp_stream.h"
#include "http/mcp_tasks.h"
#include "wire/mcp_elicitation.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr const char* kInstructions =
    "Holdpoint asks people. Before a step that needs a person's decision, approval or knowledge, "
    "call ask_user_question. If its result is pending, the question is open and safe: do what does "
    "not depend on it, and call get_answer with its id.";

class Called {
 public:
  Called(Api& api, McpDesk& desk, const McpRequest& request)
      : api_(api), desk_(desk), request_(request) {
    const Json& params = request.message.params;
    if (!params.contains("name") || !params["name"].is_string()) {
      throw RpcError(kRpcInvalidParams, "params.name: must be a tool's name");
    }
    name_ = params["name"].get<std::string>();
    arguments_ = member_text(request.message.params_text, "arguments");
    if (arguments_.empty() || arguments_ == "null") arguments_ = "{}";
  }

  Response run() {
    try {
      if (name_ == "ask_user_question") return ask();
      if (name_ == "get_answer") return get_answer();
      if (name_ == "cancel_question") return cancel();
      if (name_ == "notify_user") return notify();
      if (name_ == "request_permission") return permission();
    } catch (const BadRequest& e) {
      // As a result, so that the model sees it and can mend its call.
      const std::string where = e.field().empty() ? "" : e.field() + ": ";
      return done(desk_, request_, mcp::text_result(where + e.what(), "", true));
    }
    if (auto fixture = run_fixture(api_, desk_, request_, name_, arguments_)) {
      return std::move(*fixture);
    }
    throw RpcError(kRpcInvalidParams, "there is no tool \"" + shorten(name_, 60) + "\"");
  }

 private:
  McpCall::Context context() const {
    return {api_,
            desk_,
            request_.peer,
            request_.http.actor(),
            request_.message.id,
            takes_stream(request_.http)};
  }

  mcp::Rules rules() const {
    const auto agent = api_.agents.find(request_.agent_name);
    if (!agent) {
      throw RpcError(kRpcInvalidParams,
                     "there is no agent \"" + shorten(request_.agent_name, 60) + "\"");
    }
    return {agent->name, api_.intake.ask_defaults(*agent), api_.limits, desk_.options().wait};
  }

  Response ask() {
    mcp::AskCall call = mcp::parse_ask(arguments_, rules());
    if (call.elicit && request_.peer.stateless() && request_.peer.elicitation) {
      const FormRound round{"answer"};
      const Time now = api_.clock.now();
      const auto result = read_form(desk_, request_, arguments_, round, now);
      if (!result) {
        return done(desk_, request_,
                    form_round(desk_, request_, arguments_, round,
                               mcp::elicitation_params(call.ask.ask), now));
      }
      if (const auto choices = mcp::read_elicited(*result, call.ask.ask, api_.limits)) {
        return done(desk_, request_, mcp::elicited_result(call.ask.ask, *choices));
      }
    }
    auto begun = McpCall::ask(context(), std::move(call));
    if (request_.peer.tasks) {
      return done(desk_, request_, created_task(api_, desk_, begun->session().value()));
    }
    return run_call(desk_, request_, std::move(begun));
  }

  Response permission() {
    mcp::Rules bounds = rules();
    bounds.longest_wait = desk_.options().permission_wait;
    return run_call(desk_, request_,
                    McpCall::permission(context(), mcp::parse_permission(arguments_, bounds)));
  }

  SessionId find(const mcp::AboutAsk& about) const {
    const auto session = find_outside_ask(api_, about.id);
    if (!session) throw BadRequest("id", "there is no such question");
    return *session;
  }

  Response get_answer() {
    const auto about = mcp::parse_get_answer(arguments_, rules());
    return run_call(desk_, request_, McpCall::follow(context(), find(about), about.wait));
  }

  Response cancel() {
    const auto about = mcp::parse_cancel(arguments_);
    const SessionId session = find(about);
    const auto result = api_.control.cancel(session, about.reason, request_.http.actor(),
                                            Control::As::owner, api_.clock.now());
    JsonWriter out;
    out.begin_object().member("id", session).member("status", to_text(result.status)).end_object();
    if (result.outcome == Control::Outcome::done) {
      return done(desk_, request_,
                  mcp::text_result("The question is withdrawn.", out.take(), false));
    }
    const auto ask = api_.views.ask(session, Duration{0});
    if (!ask) throw BadRequest("id", "there is no such question");
    return done(desk_, request_, mcp_result(*ask));
  }

  Response notify() {
    const OutsideCard card = parse_outside_card(arguments_, rules().agent_name, api_.limits);
    if (asking_agent(arguments_, "") != "") throw BadRequest("agent", "is not known here");
    const auto admitted = api_.intake.admit_card(card, request_.http.actor(), api_.clock.now());
    if (!admitted) {
      throw RpcError(kRpcInvalidParams, "there is no agent \"" + card.agent_name + "\"");
    }
    return done(desk_, request_, mcp::told_result(admitted->session, admitted->channels));
  }

  Api& api_;
  McpDesk& desk_;
  const McpRequest& request_;
  std::string name_;
  std::string arguments_;
};

std::string discover_result() {
  JsonWriter out;
  out.begin_object().key("supportedVersions").begin_array();
  for (const char* revision : kMcpSessionRevisions) out.value(revision);
  out.value(kMcpStateless).end_array().key("capabilities").begin_object();
  out.key("tools").begin_object().end_object().key("extensions").begin_object();
  out.key(kTasksExtension).begin_object().end_object().end_object().end_object();
  out.member("instructions", kInstructions).member("ttlMs", std::int64_t{3'600'000});
  return out.member("cacheScope", "private").end_object().take();
}

std::string tools_result(const Api& api, const McpDesk& desk, const McpPeer& peer) {
  std::string tools = mcp::tools_json(api.limits);
  if (desk.options().test_tools) tools.replace(tools.rfind(']'), 1, "," + fixture_tools() + "]");
  JsonWriter out;
  out.begin_object().raw_member("tools", tools);
  if (peer.stateless()) {
    out.member("ttlMs", std::int64_t{3'600'000}).member("cacheScope", "private");
  }
  return out.end_object().take();
}

}  // namespace

std::string initialize_result(const McpDesk& desk, const McpPeer& peer) {
  JsonWriter out;
  out.begin_object().member("protocolVersion", peer.revision).key("capabilities").begin_object();
  out.key("tools").begin_object().end_object().end_object().key("serverInfo");
  write_mcp_server(out, desk);
  return out.member("instructions", kInstructions).end_object().take();
}

Response answer_mcp(Api& api, McpDesk& desk, const McpRequest& request) {
  const std::string& method = request.message.method;
  const McpPeer& peer = request.peer;
  if (method == "tools/list") return done(desk, request, tools_result(api, desk, peer));
  if (method == "tools/call") return Called(api, desk, request).run();
  if (peer.stateless()) {
    if (method == "server/discover") return done(desk, request, discover_result());
    if (const auto result = answer_task(api, desk, request)) return done(desk, request, *result);
  } else if (method == "ping") {
    return done(desk, request, "{}");
  }
  throw RpcError(kRpcUnknownMethod, "there is no method \"" + shorten(method, 60) + "\"", "",
                 peer.stateless() ? 404 : 200);
}

void cancel_mcp(Api& api, McpDesk& desk, const McpRequest& request) {
  const Json id = request.message.params.value("requestId", Json());
  if (request.peer.session.empty() || (!id.is_string() && !id.is_number_integer())) return;
  auto session = desk.note_cancelled(request.peer.session + ":" + id.dump());
  // It waits on another node, or did before a restart.
  if (!session) {
    session = api.views.session_made_by(request.agent_name, mcp_call_key(request.peer, id.dump()));
  }
  if (!session) return;
  const auto ask = api.views.ask(*session, Duration{0});
  if (!ask || !mcp::withdrawn_by_cancel(ask->payload)) return;
  api.control.cancel(*session, kCancelled, request.http.actor(), Control::As::owner,
                     api.clock.now());
}

}  // namespace holdpoint
