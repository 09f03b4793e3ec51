#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "domain/limits.h"
#include "flow/answers.h"
#include "flow/control.h"
#include "flow/courier.h"
#include "flow/feed.h"
#include "flow/intake.h"
#include "flow/metrics.h"
#include "flow/views.h"
#include "http/router.h"

namespace holdpoint {

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

Routes all_routes(Api& api);

// Shared by the routes.
Response json_response(int status, std::string body);
// The id in the path; one that no row can have is looked for in vain, not refused.
template <class IdType>
IdType path_id(const Request& request) {
  return IdType(request.parameters.at("id"));
}
// `cursor`, `limit`: where a list goes on, and how long a page is.
std::string read_cursor(const Query& query);
std::int64_t read_limit(const Query& query);
// `"next_cursor"`: the last id of a full page, else null.
void write_next_cursor(JsonWriter& out, std::size_t count, std::int64_t limit,
                       const std::string& last_id);
Duration read_wait(const Query& query);
// For calls that take no body, or an empty object.
void refuse_members(const Request& request);
Response unknown_session();

}  // namespace holdpoint
