#pragma once

#include "http/mcp_desk.h"
#include "tests/http/site.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint::test {

// A site with /mcp, whose calls come from the external agent `pager`.
class McpSite {
 public:
  explicit McpSite(McpDesk::Options options = {}, const std::string& secret = "secret")
      : desk(std::move(options), secret) {
    site.api.mcp = &desk;
    routes = site.gate.guard(mcp_routes(site.api));
  }

  // One message, in the session if there is one.
  Call message(const std::string& body) const {
    Call call = post("/mcp?agent=pager").json(body);
    call.with("Accept", "application/json, text/event-stream");
    if (!session.empty()) call.with("Mcp-Session-Id", session);
    if (!key.empty()) call.with("Authorization", key);
    return call;
  }
  Response send(Call call) {
    if (!request_of(call).header_count("Host")) call.with("Host", "localhost:8080");
    return answer_call(routes, call);
  }
  Response send(const std::string& body) { return send(message(body)); }
  Response request(const std::string& method, const std::string& params = "{}",
                   const std::string& id = "1") {
    return send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" +
                params + "}");
  }
  Response call_tool(const std::string& name, const std::string& arguments,
                     const std::string& id = "1", const std::string& more = "") {
    return request("tools/call",
                   R"({"name":")" + name + R"(","arguments":)" + arguments + more + "}", id);
  }
  void open(const std::string& revision = "2025-11-25", const std::string& capabilities = "{}") {
    session.clear();
    const Response response =
        request("initialize", R"({"protocolVersion":")" + revision + R"(","capabilities":)" +
                                  capabilities + R"(,"clientInfo":{"name":"t","version":"1"}})");
    REQUIRE(response.status == 200);
    session = header_of(response, "Mcp-Session-Id");
    REQUIRE_FALSE(session.empty());
  }
  std::int64_t asked() { return site.count("agent_questions"); }
  Question last_question() {
    const auto questions = site.world.process().views.questions({});
    REQUIRE_FALSE(questions.empty());
    return questions.front();
  }

  Site site;
  McpDesk desk;
  Routes routes;
  std::string session;
  std::string key;
};

// What a stream wrote with one call of its function.
struct Written {
  std::string text;
  bool more = false;
};
inline Written write_next(const Response& response) {
  REQUIRE(response.stream);
  Written written;
  written.more = response.stream([&](std::string_view text) {
    written.text += text;
    return true;
  });
  return written;
}

// The messages in a text of server-sent events.
inline std::vector<Json> messages_in(const std::string& text) {
  std::vector<Json> messages;
  for (std::size_t at = 0; (at = text.find("data: {", at)) != std::string::npos; ++at) {
    messages.push_back(Json::parse(text.substr(at + 6, text.find('\n', at) - at - 6)));
  }
  return messages;
}

// The first id in a text of server-sent events.
inline std::string event_id_in(const std::string& text) {
  const auto at = text.find("id: ");
  return at == std::string::npos ? "" : text.substr(at + 4, text.find('\n', at) - at - 4);
}

inline const std::string kAsk =
    R"({"questions":[{"question":"Go on?","options":[{"label":"Yes"},{"label":"No"}]}]})";
inline std::string ask_with(const std::string& more) {
  return kAsk.substr(0, kAsk.size() - 1) + "," + more + "}";
}

}  // namespace holdpoint::test
