#include "domain/text.h"
#include "http/mcp_desk.h"
#include "http/mcp_methods.h"
#include "http/mcp_peers.h"
#include "http/mcp_stream.h"

// MCP over streamable HTTP: what comes to /mcp, and who may send it.
namespace holdpoint {
namespace {

Response rpc_response(const std::string& id, const RpcError& error) {
  return json_response(error.status, rpc_error(id, error));
}

// A page of another site must not speak through somebody's browser, not even by a name of its own
// that leads here.
std::optional<Response> check_site(Api& api, const Request& request) {
  const auto& options = api.mcp->options();
  const auto lists = [](const std::vector<std::string>& list, const std::string& what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  if (!api.gate.is_known_host(request) &&
      !lists(options.allowed_hosts, lower_case(request.header("Host")))) {
    return error_response(403, "foreign_host",
                          "this server does not go by that name: set [server] public_url, or "
                          "[mcp] allowed_hosts",
                          "Host");
  }
  const std::string origin = lower_case(request.header("Origin"));
  if (request.header_count("Origin") > 1 || (!origin.empty() && !api.gate.from_our_page(request) &&
                                             !lists(options.allowed_origins, origin))) {
    return error_response(403, "foreign_origin",
                          "a page of another site may not use this server unless [mcp] "
                          "allowed_origins lists it",
                          "Origin");
  }
  return std::nullopt;
}

Response no_session() {
  return rpc_response(
      "", RpcError(kRpcInvalidRequest, "there is no such session (any more): initialize", "", 404));
}

// Nothing if it is no session of the caller's. Throws RpcError if none is named.
std::optional<McpPeer> find_session(Api& api, const Request& request) {
  const std::string token = request.header("Mcp-Session-Id");
  if (token.empty()) {
    throw RpcError(kRpcInvalidRequest,
                   "the header Mcp-Session-Id is missing: initialize, and send what that gave you",
                   "", 400);
  }
  return api.mcp->find_session(token, request.caller);
}

Response initialize(Api& api, const Request& request, const RpcMessage& message) {
  const McpPeer peer = read_initialize(message);
  Response response =
      json_response(200, mcp_answer(*api.mcp, peer, message.id, initialize_result(*api.mcp, peer)));
  response.headers.emplace_back("Mcp-Session-Id", api.mcp->open_session(peer, request.caller));
  return response;
}

Response accepted() {
  Response response;
  response.status = 202;
  response.content_type = "text/plain";  // Of nothing.
  return response;
}

std::string agent_of(const Request& request) {
  return Query(request, {"agent"}).text("agent").value_or(kMcpAgent);
}

Response take_message(Api& api, const Request& request, const RpcMessage& message) {
  const std::string agent = agent_of(request);
  if (message.kind == RpcMessage::Kind::request && is_stateless(request, message)) {
    const McpPeer peer = read_stateless_peer(request, message);
    return answer_mcp(api, *api.mcp, {request, message, peer, agent});
  }
  if (is_stateless(request, message)) return accepted();  // It has nothing to notify us of.
  check_revision(request);
  if (message.method == "initialize") return initialize(api, request, message);
  const auto peer = find_session(api, request);
  if (!peer) return no_session();
  const McpRequest asked{request, message, *peer, agent};
  switch (message.kind) {
    case RpcMessage::Kind::request:
      return answer_mcp(api, *api.mcp, asked);
    case RpcMessage::Kind::response:
      api.mcp->answer_form(peer->session, message.id, message.result);
      return accepted();
    case RpcMessage::Kind::notification:
      if (message.method == "notifications/cancelled") cancel_mcp(api, *api.mcp, asked);
      return accepted();
  }
  return accepted();
}

Response post(Api& api, const Request& request) {
  RpcMessage message;
  try {
    message = parse_rpc(request.body);
    return take_message(api, request, message);
  } catch (const RpcError& e) {
    return rpc_response(message.id, e);
  }
}

// Only a call that was broken off has anything to say here: we never begin.
Response get(Api& api, const Request& request) {
  const std::string event = request.header("Last-Event-ID");
  if (event.empty()) {
    Response response =
        error_response(405, "method_not_allowed", "there is no stream but the answers to POSTs");
    response.headers.emplace_back("Allow", "POST, DELETE");
    return response;
  }
  const auto peer = find_session(api, request);
  if (!peer) return no_session();
  auto resumed = resume_mcp(api, *api.mcp, request, *peer, agent_of(request), event);
  if (!resumed) {
    return error_response(404, "unknown_event", "there is nothing to go on with from there",
                          "Last-Event-ID");
  }
  return std::move(*resumed);
}

Response end(Api& api, const Request& request) {
  if (!find_session(api, request)) return no_session();
  api.mcp->end_session(request.header("Mcp-Session-Id"));
  return json_response(200, "{\"ok\":true}");
}

}  // namespace

Routes mcp_routes(Api& api) {
  if (!api.mcp) return {};
  const auto from_here = [&api](Response (*handle)(Api&, const Request&)) {
    return [&api, handle](const Request& request) {
      Query(request, {"agent"});
      if (auto refusal = check_site(api, request)) return std::move(*refusal);
      try {
        return handle(api, request);
      } catch (const RpcError& e) {
        return rpc_response("", e);
      }
    };
  };
  return {{"POST", "/mcp", scope("questions:ask"), from_here(post)},
          {"GET", "/mcp", scope("questions:ask"), from_here(get)},
          {"DELETE", "/mcp", scope("questions:ask"), from_here(end)}};
}

}  // namespace holdpoint
