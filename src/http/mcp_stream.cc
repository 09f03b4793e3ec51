#include "http/mcp_stream.h"

#include "base/log.h"
#include "domain/bad_request.h"
#include "http/mcp_peers.h"
#include "wire/mcp_tools.h"

namespace holdpoint {
namespace {

constexpr const char* kEvent = "mcp event";

// Results of the revision without sessions say what they are and who made them, unless they do so
// already.
std::string complete_result(const McpDesk& desk, const McpPeer& peer, const std::string& result) {
  if (!peer.stateless()) return result;
  JsonWriter out;
  out.begin_object();
  if (member_text(result, "resultType").empty()) out.member("resultType", "complete");
  out.key("_meta").begin_object().key("io.modelcontextprotocol/serverInfo");
  write_mcp_server(out, desk);
  out.end_object();
  std::string text = out.take();
  const std::string_view rest = std::string_view(result).substr(1);
  return text + (rest == "}" ? "" : ",") + std::string(rest);
}

std::string event_line(const std::string& id, const std::string& message) {
  return (id.empty() ? "" : "id: " + id + "\n") + "event: message\ndata: " + message + "\n\n";
}

// The answer to one request as server-sent events: signs of life and forms, then the result.
class McpStream {
 public:
  McpStream(McpDesk& desk, const McpPeer& peer, std::string rpc_id, std::string token,
            std::function<bool()> still_in, std::unique_ptr<McpWork> call)
      : desk_(desk),
        peer_(peer),
        rpc_id_(std::move(rpc_id)),
        token_(std::move(token)),
        still_in_(std::move(still_in)),
        call_(std::move(call)) {}

  // Nobody asks for more once the client has hung up.
  ~McpStream() {
    if (over_) return;
    try {
      call_->abandon();
    } catch (const std::exception& e) {
      log(Level::error, "mcp_call_failed", {{"reason", e.what()}});
    }
  }
  McpStream(const McpStream&) = delete;

  // False: that was all.
  bool write_next(const StreamWrite& write) {
    if (!signed_at_) {
      // Clients before this revision take an event without data for a broken message.
      const bool primes = peer_.revision == "2025-11-25";
      return write((primes ? "id: " + place() + kRetry + "data: \n\n" : "") + sign_of_life());
    }
    try {
      const McpWork::Step step = call_->step();
      if (step.dropped || (still_in_ && !still_in_())) return end();
      if (step.result) return end(write, mcp_answer(desk_, peer_, rpc_id_, *step.result));
      if (!step.message.empty()) return write(event_line("", step.message));
      return Steady::now() < *signed_at_ + kSignEvery || write(sign_of_life());
    } catch (const RpcError& e) {
      return end(write, rpc_error(rpc_id_, e));
    } catch (const BadRequest& e) {
      const std::string result = mcp::text_result(e.field() + ": " + e.what(), "", true);
      return end(write, mcp_answer(desk_, peer_, rpc_id_, result));
    } catch (const StoreError& e) {
      log(Level::error, "mcp_call_failed", {{"reason", e.what()}});
      return end(write, rpc_error(rpc_id_, RpcError(kRpcInternal, "the store cannot be used now")));
    }
  }

 private:
  using Steady = std::chrono::steady_clock;
  // Time for a server to start again. Clients try a few times only.
  static constexpr const char* kRetry = "\nretry: 3000\n";
  static constexpr std::chrono::milliseconds kSignEvery{4500};

  bool end() {
    over_ = true;
    return false;
  }
  bool end(const StreamWrite& write, const std::string& message) {
    write(event_line("", message));
    return end();
  }

  // Where the call can be taken up again, should the connection break; empty: nowhere.
  std::string place() const {
    if (peer_.stateless()) return "";
    JsonWriter out;
    out.begin_object().member("session", peer_.session).raw_member("id", rpc_id_);
    if (const auto ask = call_->session()) out.member("ask", *ask);
    if (!token_.empty()) out.raw_member("token", token_);
    const auto span = call_->span();
    out.member("began", span.began).member("until", span.until).end_object();
    return desk_.seals().seal(kEvent, out.take());
  }
  std::string sign_of_life() {
    signed_at_ = Steady::now();
    if (token_.empty()) return ": still waiting\n\n";
    return event_line(place(), rpc_notification("notifications/progress", call_->progress(token_)));
  }

  McpDesk& desk_;
  const McpPeer peer_;
  const std::string rpc_id_;
  const std::string token_;
  const std::function<bool()> still_in_;
  const std::unique_ptr<McpWork> call_;
  std::optional<Steady::time_point> signed_at_;  // None: it has not begun.
  bool over_ = false;
};

// A stream of one event.
Response json_event(const std::string& message) {
  Response response;
  response.content_type = "text/event-stream";
  response.body = event_line("", message);
  return response;
}

Response stream_call(McpDesk& desk, const Request& http, const McpPeer& peer,
                     const std::string& rpc_id, const std::string& token,
                     std::unique_ptr<McpWork> call) {
  Response response;
  response.content_type = "text/event-stream";
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  // Shared, since the response's function is copied along the way; one thread uses it.
  const auto stream =
      std::make_shared<McpStream>(desk, peer, rpc_id, token, http.still_in, std::move(call));
  response.stream = [stream](const StreamWrite& write) { return stream->write_next(write); };
  return response;
}

}  // namespace

bool takes_stream(const Request& request) {
  return request.joined_header("Accept").find("text/event-stream") != std::string::npos;
}

void write_mcp_server(JsonWriter& out, const McpDesk& desk) {
  out.begin_object().member("name", "holdpoint").member("title", "Holdpoint");
  out.member("version", desk.options().version).end_object();
}

Response done(const McpDesk& desk, const McpRequest& request, const std::string& result) {
  return json_response(200, mcp_answer(desk, request.peer, request.message.id, result));
}

Response run_call(McpDesk& desk, const McpRequest& request, std::unique_ptr<McpWork> call) {
  if (!takes_stream(request.http)) return done(desk, request, call->finish());
  const RpcMessage& message = request.message;
  return stream_call(desk, request.http, request.peer, message.id, progress_token(message),
                     std::move(call));
}

std::string mcp_answer(const McpDesk& desk, const McpPeer& peer, const std::string& rpc_id,
                       const std::string& result) {
  return rpc_result(rpc_id, complete_result(desk, peer, result));
}

std::optional<Response> resume_mcp(Api& api, McpDesk& desk, const Request& http,
                                   const McpPeer& peer, const std::string& agent_name,
                                   const std::string& event) {
  const auto text = desk.seals().open(kEvent, event);
  if (!text) return std::nullopt;
  const Json json = read_json(*text);
  if (json["session"] != peer.session) return std::nullopt;
  const std::string rpc_id = member_text(*text, "id"), token = member_text(*text, "token");
  // It may have been posed after that event was sent.
  const auto ask = json.contains("ask")
                       ? std::optional(SessionId(json["ask"].get<std::string>()))
                       : api.views.session_of_key(agent_name, mcp_call_key(peer, rpc_id));
  if (!ask) {
    return json_event(rpc_result(
        rpc_id, mcp::text_result("The server was restarted while it showed the question to the "
                                 "user of this client, and nobody else was asked: call again.",
                                 "", true)));
  }
  const auto view = api.views.ask(*ask, Duration{0});
  if (!view) return std::nullopt;
  if (is_finished(view->session.status)) {
    return json_event(mcp_answer(desk, peer, rpc_id, mcp_result(*view)));
  }
  const auto time = [&](const char* name) {
    return parse_iso(json[name].get<std::string>()).value();
  };
  auto call = McpCall::resume({api, desk, peer, http.actor(), rpc_id, true}, *ask,
                              {time("began"), time("until")});
  return stream_call(desk, http, peer, rpc_id, token, std::move(call));
}

}  // namespace holdpoint
