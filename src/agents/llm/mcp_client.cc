#include "agents/llm/mcp_client.h"

#include "agents/llm/tool_text.h"
#include "base/log.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = 4 << 20;
constexpr int kMaxPages = 20;
constexpr std::size_t kMaxTools = 500;
constexpr auto kListedFor = 5min;

// A session id goes back as it came; one that would end the header does not.
bool is_session_id(const std::string& text) {
  if (text.empty() || text.size() > 4096) return false;
  for (const char c : text) {
    if (c < 0x21 || c > 0x7e) return false;
  }
  return true;
}

bool is_event_stream(const HttpResponse& response) {
  const auto it = response.headers.find("content-type");
  return it != response.headers.end() && lower_case(it->second).starts_with("text/event-stream");
}

std::string result_in(const HttpResponse& response, std::int64_t id) {
  if (!response.error.empty() && is_event_stream(response)) {
    // A server may leave its stream open after the response; until our time is up, that is all.
    try {
      return result_of(response.body, true, id);
    } catch (const McpError&) {
    }
  }
  if (!response.error.empty()) throw McpError(response.error);
  if (response.status < 200 || response.status > 299) {
    std::string why = error_text_of(response.body);
    if (why.empty()) why = shorten(tool_text(response.body), 200);
    throw McpError("it answered with HTTP " + std::to_string(response.status) +
                   (why.empty() ? "" : ": " + why));
  }
  return result_of(response.body, is_event_stream(response), id);
}

}  // namespace

McpClient::McpClient(HttpClient& client, const McpServer& server, Now now)
    : client_(client), url_(server.url), headers_(server.headers), now_(std::move(now)) {}

McpClient::Tools McpClient::known_tools() {
  return state_.with([](State& state) { return state.tools; });
}

McpClient::Tools McpClient::tools(Duration timeout, const TurnContext& context) {
  const auto now = now_();
  const Tools fresh = state_.with([&](State& state) {
    return state.tools && now - state.listed_at < kListedFor ? state.tools : nullptr;
  });
  if (fresh) return fresh;
  try {
    Tools listed = list(timeout, context);
    state_.with([&](State& state) {
      state.tools = listed;
      state.listed_at = now;
    });
    return listed;
  } catch (const McpError& e) {
    throw TurnFailed("the MCP server at " + url_ + " did not list its tools: " + e.what(), true);
  }
}

McpClient::Tools McpClient::list(Duration timeout, const TurnContext& context) {
  auto tools = std::make_shared<std::vector<McpTool>>();
  std::optional<std::string> cursor;
  for (int pages = 1;; ++pages) {
    McpPage page = read_tools(request("tools/list", list_params(cursor), timeout, context));
    for (auto& tool : page.tools) {
      if (tools->size() < kMaxTools) tools->push_back(std::move(tool));
    }
    for (const auto& name : page.unusable) {
      log(Level::warning, "mcp_tool_left_out",
          {{"server", url_}, {"tool", name}, {"reason", "no name, or no schema of an object"}});
    }
    if (!page.next) return tools;
    if (pages == kMaxPages || tools->size() >= kMaxTools) {
      log(Level::warning, "mcp_tools_left_out",
          {{"server", url_},
           {"reason", "it has more than we read"},
           {"read", static_cast<std::int64_t>(tools->size())}});
      return tools;
    }
    cursor = std::move(page.next);
  }
}

ToolResult McpClient::call(const std::string& tool, const std::string& input,
                           const std::string& key, Duration timeout, const TurnContext& context) {
  try {
    return read_call(request("tools/call", call_params(tool, input, key), timeout, context));
  } catch (const McpError& e) {
    return {"", tool_text(std::string("the MCP server did not do it: ") + e.what()), true};
  }
}

std::string McpClient::request(const std::string& method, const std::string& params,
                               Duration timeout, const TurnContext& context) {
  for (bool again = false;; again = true) {
    const auto known = state_.with([](State& state) { return state.session; });
    const Session session = known ? *known : connect(timeout, context);
    const std::int64_t id = next_id();
    const auto response = post(mcp_request(id, method, params), &session, timeout, context);
    // It has forgotten the session, and done nothing. 404 is the protocol's word for it; many say
    // 400, as the example of the official library does.
    const bool lost = session.id && (response.status == 404 || response.status == 400);
    if (!lost || again) return result_in(response, id);
    forget(session);
  }
}

McpClient::Session McpClient::connect(Duration timeout, const TurnContext& context) {
  const std::int64_t id = next_id();
  const auto response =
      post(mcp_request(id, "initialize", initialize_params()), nullptr, timeout, context);
  Session session;
  session.version = read_initialized(result_in(response, id));
  if (const auto it = response.headers.find("mcp-session-id"); it != response.headers.end()) {
    if (!is_session_id(it->second)) throw McpError("its session id is not printable ASCII");
    session.id = it->second;
  }
  const auto noted =
      post(mcp_notification("notifications/initialized"), &session, timeout, context);
  if (noted.status < 200 || noted.status > 299) result_in(noted, 0);
  return state_.with([&](State& state) {
    session.number = ++state.sessions;
    state.session = session;
    return session;
  });
}

void McpClient::forget(const Session& session) {
  state_.with([&](State& state) {
    // Another thread may have a new one already.
    if (state.session && state.session->number == session.number) state.session.reset();
  });
}

HttpResponse McpClient::post(const std::string& body, const Session* session, Duration timeout,
                             const TurnContext& context) {
  HttpRequest request;
  request.url = url_;
  for (const auto& [name, value] : headers_) {
    const std::string lower = lower_case(name);
    if (lower != "accept" && lower != "content-type") request.headers[name] = value.reveal();
  }
  request.headers["Content-Type"] = "application/json";
  request.headers["Accept"] = "application/json, text/event-stream";
  if (session) request.headers["MCP-Protocol-Version"] = session->version;
  if (session && session->id) request.headers["Mcp-Session-Id"] = *session->id;
  request.body = body;
  request.total_timeout = timeout;
  request.max_response_bytes = kMaxBody;
  request.cancelled = context.cancelled;
  HttpResponse response = client_.send(request);
  if (context.cancelled()) throw TurnFailed("the turn was stopped", true);
  return response;
}

std::int64_t McpClient::next_id() {
  return state_.with([](State& state) { return ++state.last_id; });
}

}  // namespace holdpoint
