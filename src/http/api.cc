#include "http/api.h"

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {

Routes all_routes(Api& api) {
  Routes all;
  for (auto* make : {agent_routes, intake_routes, question_routes, session_routes, event_routes,
                     delivery_routes, operation_routes, page_routes, app_routes, login_routes,
                     channel_routes, mcp_routes, humanlayer_routes}) {
    for (auto& route : make(api)) all.push_back(std::move(route));
  }
  for (auto& route : access_routes(api.access)) all.push_back(std::move(route));
  return all;
}

void write_scopes(JsonWriter& out, const Scopes& scopes) {
  out.key("scopes").begin_array();
  for (const auto& scope : scopes) out.value(scope);
  out.end_array();
}

Response json_response(int status, std::string body) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

std::string read_cursor(const Query& query) {
  const auto cursor = query.text("cursor");
  if (cursor && !is_uuid(*cursor)) {
    throw BadRequest("cursor", "must be a next_cursor of an earlier page");
  }
  return cursor.value_or("");
}

std::int64_t read_limit(const Query& query) { return query.number("limit", 50, 1, 500); }

Duration read_wait(const Query& query) {
  return std::chrono::seconds{query.number("wait", 0, 0, 55)};
}

void refuse_members(const Request& request) {
  if (is_blank(request.body)) return;
  check_members(parse_json(request.body, "body"), "", {});
}

Response unknown_session() {
  return error_response(404, "unknown_session", "there is no such session");
}

}  // namespace holdpoint
