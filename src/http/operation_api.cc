#include "base/embedded.h"
#include "http/api.h"

namespace holdpoint {
namespace {

Response ready(Api& api) {
  if (api.ready()) return json_response(200, R"({"ok":true,"status":"ready"})");
  Response response = error_response(503, "not_ready", "the store cannot commit now");
  response.headers.emplace_back("Retry-After", "2");
  return response;
}

Response metrics(Api& api) {
  auto gauges = api.views.gauges(api.clock.now());
  api.add_gauges(gauges);
  Response response = json_response(200, api.metrics.text(gauges));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

}  // namespace

Routes operation_routes(Api& api) {
  return {
      {"GET", "/healthz", nothing(),
       [](const Request&) { return json_response(200, R"({"ok":true})"); }},
      {"GET", "/readyz", nothing(), [&api](const Request&) { return ready(api); }},
      {"GET", "/metrics", scope("sessions:read"), [&api](const Request&) { return metrics(api); }},
      {"GET", "/openapi.json", nothing(),
       [](const Request&) { return json_response(200, std::string(embedded::openapi_json)); }},
  };
}

}  // namespace holdpoint
