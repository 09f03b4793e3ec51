#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "base/clock.h"
#include "domain/limits.h"
#include "domain/text.h"
#include "flow/answers.h"
#include "flow/control.h"
#include "flow/courier.h"
#include "flow/feed.h"
#include "flow/intake.h"
#include "flow/links.h"
#include "flow/metrics.h"
#include "flow/views.h"
#include "http/gate.h"
#include "http/router.h"

namespace holdpoint {

// What the routes of keys, users and the audit log call; the command line has it without a server.
struct AccessApi {
  const Clock& clock;
  Keys& keys;
  People& people;
  Credentials& credentials;
  Database& db;  // For the audit log, which has no object of its own.
};
Routes access_routes(AccessApi& api);

// All that the API's routes call. They parse, call one of these, and render.
struct Api {
  const Clock& clock;
  Intake& intake;
  Answers& answers;
  Control& control;
  Courier& courier;
  Views& views;
  Feed& feed;
  Metrics& metrics;
  Agents& agents;
  AccessApi& access;
  Links& links;
  Gate& gate;
  std::string public_url;
  Limits limits;
  std::function<bool()> ready;
  std::function<void(Metrics::Gauges&)> add_gauges;  // What only the process itself knows.
};

Routes intake_routes(Api& api);
Routes question_routes(Api& api);
Routes session_routes(Api& api);
Routes event_routes(Api& api);
Routes delivery_routes(Api& api);
Routes operation_routes(Api& api);
Routes page_routes(Api& api);
Routes login_routes(Api& api);

Routes all_routes(Api& api);

// A form that an answer link's page sent.
Response answer_by_link(Api& api, const Request& request);

// Shared by the routes.
void write_scopes(JsonWriter& out, const Scopes& scopes);
Response json_response(int status, std::string body);
// The id in the path, in lower case as ours are; one that no row can have is looked for in vain.
template <class IdType>
IdType path_id(const Request& request) {
  return IdType(lower_case(request.parameters.at("id")));
}
// `cursor`, `limit`: where a list goes on, and how long a page is.
std::string read_cursor(const Query& query);
std::int64_t read_limit(const Query& query);
// Lists are read one row past the limit. Writes `"next_cursor"`: what the
// last row that is left goes by, if there was one more.
template <class Rows, class Name>
void write_next_cursor(JsonWriter& out, const Rows& rows, std::int64_t limit, Name name) {
  const auto count = static_cast<std::size_t>(limit);
  out.key("next_cursor");
  if (rows.size() > count) {
    out.value(name(rows[count - 1]));
  } else {
    out.value(nullptr);
  }
}
// `rows` without the one past the limit.
template <class Rows>
auto page_of(const Rows& rows, std::int64_t limit) {
  return std::span(rows).first(std::min(rows.size(), static_cast<std::size_t>(limit)));
}
Duration read_wait(const Query& query);
// For calls that take no body, or an empty object.
void refuse_members(const Request& request);
Response unknown_session();

}  // namespace holdpoint
