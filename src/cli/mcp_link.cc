#include "cli/mcp_link.h"

#include "wire/message_stream.h"

namespace holdpoint::cli {
namespace {

using Steady = std::chrono::steady_clock;

// A server gives a sign of life every few seconds.
constexpr std::chrono::seconds kLongestSilence{30};
constexpr const char* kMetaRevision = "io.modelcontextprotocol/protocolVersion";

std::string text_of(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string stateless_revision(const RpcMessage& message) {
  const auto meta = message.params.find("_meta");
  return meta != message.params.end() && meta->is_object() ? text_of(*meta, kMetaRevision) : "";
}

// What the revision without sessions wants repeated for those on the way.
void repeat_in_headers(const RpcMessage& message, std::map<std::string, std::string>& headers) {
  headers["MCP-Protocol-Version"] = stateless_revision(message);
  headers["Mcp-Method"] = message.method;
  for (const char* name : {"name", "uri", "taskId"}) {
    const std::string value = text_of(message.params, name);
    const bool printable = value.find_first_of("\r\n") == std::string::npos;
    if (!value.empty() && printable) headers["Mcp-Name"] = value;
  }
}

}  // namespace

bool is_stateless(const RpcMessage& message) { return !stateless_revision(message).empty(); }

McpLink::Session McpLink::session() {
  return state_.with([](const State& state) { return state.session; });
}

McpLink::Exchange McpLink::send(HttpRequest request, const Session& session,
                                const OnMessage& on_message, const Cancelled& cancelled) {
  Exchange exchange;
  MessageStream stream;
  Steady::time_point heard_at = Steady::now();
  const auto hand_on = [&](const std::vector<std::string>& messages) {
    for (const auto& message : messages) {
      if (!on_message(message)) return false;
    }
    return true;
  };
  request.url = url_;
  request.total_timeout = Duration{0};
  request.max_response_bytes = std::size_t{1} << 20;
  if (!key_.empty()) request.headers["Authorization"] = "Bearer " + key_;
  if (!session.id.empty()) request.headers["Mcp-Session-Id"] = session.id;
  if (!session.revision.empty()) request.headers["MCP-Protocol-Version"] = session.revision;
  request.cancelled = [&] { return cancelled() || Steady::now() > heard_at + kLongestSilence; };
  request.on_body = [&](std::string_view piece) {
    heard_at = Steady::now();
    exchange.heard = true;
    std::vector<std::string> messages;
    return stream.take(piece, messages) && hand_on(messages);
  };
  exchange.response = http_.send(request);
  if (exchange.response.error.empty()) {
    std::vector<std::string> messages;
    stream.finish(messages);
    hand_on(messages);
  }
  exchange.last_event_id = stream.last_event_id();
  return exchange;
}

McpLink::Exchange McpLink::post(const RpcMessage& message, const std::string& body,
                                const Session& session, const OnMessage& on_message,
                                const Cancelled& cancelled) {
  HttpRequest request;
  request.body = body;
  request.headers = {{"Content-Type", "application/json"},
                     {"Accept", "application/json, text/event-stream"}};
  if (is_stateless(message)) {
    repeat_in_headers(message, request.headers);
    return send(std::move(request), {}, on_message, cancelled);
  }
  return send(std::move(request), session, on_message, cancelled);
}

McpLink::Exchange McpLink::resume(const std::string& event, const Session& session,
                                  const OnMessage& on_message, const Cancelled& cancelled) {
  HttpRequest request;
  request.method = "GET";
  request.headers = {{"Accept", "text/event-stream"}, {"Last-Event-ID", event}};
  return send(std::move(request), session, on_message, cancelled);
}

McpLink::Exchange McpLink::initialize(const RpcMessage& message, const std::string& body,
                                      const OnMessage& on_message, const Cancelled& cancelled) {
  std::vector<std::string> held;
  const auto hold = [&](const std::string& line) {
    held.push_back(line);
    return true;
  };
  Exchange exchange = post(message, body, {}, hold, cancelled);
  for (const auto& line : held) {
    const Json reply = try_json(line);
    const Json result = reply.is_object() ? reply.value("result", Json()) : Json();
    if (!result.is_object()) continue;
    const auto& headers = exchange.response.headers;
    const auto id = headers.find("mcp-session-id");
    state_.with([&](State& state) {
      state.session = {id == headers.end() ? "" : id->second, text_of(result, "protocolVersion")};
      state.initialize = body;
    });
  }
  // Only now: the client's next words need the session.
  for (const auto& line : held) on_message(line);
  return exchange;
}

bool McpLink::renew(const Session& lost, const Cancelled& cancelled) {
  std::lock_guard lock(renewing_);
  const State state = state_.with([](const State& known) { return known; });
  if (state.session.id != lost.id) return true;
  if (state.initialize.empty()) return false;
  const auto ignore = [](const std::string&) { return true; };
  initialize(parse_rpc(state.initialize), state.initialize, ignore, cancelled);
  const Session opened = session();
  if (opened.id == lost.id) return false;
  const std::string ready = rpc_notification("notifications/initialized", "{}");
  post(parse_rpc(ready), ready, opened, ignore, cancelled);
  return true;
}

}  // namespace holdpoint::cli
