#include "http/mcp_tasks.h"

#include "http/mcp_call.h"
#include "http/mcp_peers.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

constexpr const char* kForm = "mcp form";
constexpr std::int64_t kPollMs = 2000;
constexpr Duration kFormLife = std::chrono::hours{24};

std::string_view task_status(SessionStatus status) {
  if (!is_finished(status)) return "working";
  // How people's time ran out is a tool's result like any other.
  return status == SessionStatus::cancelled ? "cancelled" : "completed";
}

void write_task(JsonWriter& out, const McpDesk& desk, const Views::AskView& ask) {
  const Session& session = ask.session;
  const Duration open = ask.questions.front().deadline_at - session.created_at;
  out.member("taskId", session.id).member("status", task_status(session.status));
  if (!is_finished(session.status)) out.member("statusMessage", "waiting for a person");
  out.member("createdAt", session.created_at).member("lastUpdatedAt", session.updated_at);
  out.member("ttlMs", std::int64_t{(open + desk.options().kept_for).count()});
  out.member("pollIntervalMs", kPollMs);
}

std::string task_id(const McpRequest& request) {
  const Json id = request.message.params.value("taskId", Json());
  if (!id.is_string()) throw RpcError(kRpcInvalidParams, "params.taskId: must be a string");
  return id.get<std::string>();
}

// What binds a form to its call.
std::string form_state(const McpRequest& request, const std::string& arguments,
                       const FormRound& round) {
  return sha256_hex(request.http.caller.id + "\n" + request.agent_name + "\n" + round.name + "\n" +
                    std::to_string(round.number) + "\n" + arguments);
}

}  // namespace

void require_tasks(const McpRequest& request) {
  if (request.peer.tasks) return;
  JsonWriter out;
  out.begin_object().key("extensions").begin_object();
  out.key(kTasksExtension).begin_object().end_object().end_object().end_object();
  throw missing_capability("the tasks extension", out.take());
}

std::string created_task(Api& api, McpDesk& desk, const SessionId& id) {
  const auto ask = api.views.ask(id, Duration{0});
  if (!ask) throw RpcError(kRpcInternal, "the question is gone");
  JsonWriter out;
  out.begin_object().member("resultType", "task");
  write_task(out, desk, *ask);
  return out.end_object().take();
}

std::optional<std::string> answer_task(Api& api, McpDesk& desk, const McpRequest& request) {
  const std::string& method = request.message.method;
  if (method != "tasks/get" && method != "tasks/update" && method != "tasks/cancel") {
    return std::nullopt;
  }
  require_tasks(request);
  const auto session = find_outside_ask(api, task_id(request));
  if (!session) throw RpcError(kRpcInvalidParams, "params.taskId: there is no such task");
  // Our tasks wait for people elsewhere; there is nothing that the client could add.
  if (method == "tasks/update") return "{}";
  if (method == "tasks/cancel") {
    api.control.cancel(*session, "the client cancelled the task", request.http.actor(),
                       Control::As::owner, api.clock.now());
    return "{}";
  }
  const auto ask = api.views.ask(*session, Duration{0});
  if (!ask) throw RpcError(kRpcInvalidParams, "params.taskId: there is no such task");
  JsonWriter out;
  out.begin_object();
  write_task(out, desk, *ask);
  if (task_status(ask->session.status) == "completed") out.raw_member("result", mcp_result(*ask));
  return out.end_object().take();
}

std::optional<Json> read_form(const McpDesk& desk, const McpRequest& request,
                              const std::string& arguments, const FormRound& round, Time now) {
  const Json& params = request.message.params;
  if (!params.contains("inputResponses")) return std::nullopt;
  const Json& responses = params["inputResponses"];
  if (!responses.is_object()) {
    throw RpcError(kRpcInvalidParams, "params.inputResponses: must be an object");
  }
  if (!responses.contains(round.name)) return std::nullopt;
  if (!responses[round.name].is_object()) {
    throw RpcError(kRpcInvalidParams,
                   "params.inputResponses." + round.name + ": must be an object");
  }
  // Whoever leaves the state out answers for itself all the same; a state must be the right one.
  if (params.contains("requestState")) {
    const Json& state = params["requestState"];
    const auto opened =
        state.is_string() ? desk.seals().open(kForm, state.get<std::string>()) : std::nullopt;
    const Json sealed = opened ? read_json(*opened) : Json();
    if (!opened || sealed["call"] != form_state(request, arguments, round) ||
        sealed["until"].get<std::string>() < to_iso(now)) {
      throw RpcError(kRpcInvalidParams, "params.requestState: is not of this call, or too old");
    }
  }
  return responses[round.name];
}

std::string form_round(const McpDesk& desk, const McpRequest& request, const std::string& arguments,
                       const FormRound& round, const std::string& params, Time now) {
  JsonWriter state;
  state.begin_object().member("call", form_state(request, arguments, round));
  state.member("until", now + kFormLife).end_object();
  JsonWriter out;
  out.begin_object().member("resultType", "input_required").key("inputRequests").begin_object();
  out.key(round.name).begin_object().member("method", "elicitation/create");
  out.raw_member("params", params).end_object().end_object();
  out.member("requestState", desk.seals().seal(kForm, state.take()));
  return out.end_object().take();
}

}  // namespace holdpoint
