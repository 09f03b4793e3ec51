#include "domain/bad_request.h"
#include "http/api.h"
#include "wire/session_json.h"

namespace holdpoint {
namespace {

Response list(Api& api, const Request& request) {
  const Query query(request, {"status", "session", "limit", "cursor"});
  delivery_store::Filter filter;
  if (const auto status = query.text("status")) {
    filter.status = delivery_status_from(*status);
    if (!filter.status) {
      throw BadRequest("status", "must be pending, delivered, dead or obsolete");
    }
  }
  if (const auto session = query.text("session")) filter.session = SessionId(*session);
  const auto fetch = [&](const std::string& cursor, std::int64_t count) {
    filter.before = cursor;
    filter.limit = count;
    return api.views.deliveries(filter);
  };
  return json_response(
      200, write_page(
               api.access.pages, "deliveries", read_cursor(query), read_limit(query), fetch,
               [](JsonWriter& out, const Delivery& row) { write_delivery(out, row); },
               [](const Delivery& row) { return row.id.text(); }));
}

Response redeliver(Api& api, const Request& request) {
  const Query query(request, {});
  refuse_members(request);
  const auto id = path_id<DeliveryId>(request);
  switch (api.courier.redeliver(id, request.actor(), api.clock.now())) {
    case Courier::Redelivery::unknown:
      return error_response(404, "unknown_delivery", "there is no such delivery");
    case Courier::Redelivery::still_pending:
      return error_response(409, "not_settled", "the delivery is pending: it will be tried anyway");
    case Courier::Redelivery::done:
      break;
  }
  JsonWriter out;
  out.begin_object().member("ok", true).member("delivery_id", id).member("status", "pending");
  out.end_object();
  return json_response(202, out.take());
}

}  // namespace

Routes delivery_routes(Api& api) {
  return {
      {"GET", "/agent/deliveries", scope("admin"),
       [&api](const Request& r) { return list(api, r); }},
      {"POST", "/agent/deliveries/:id/redeliver", scope("admin"),
       [&api](const Request& r) { return redeliver(api, r); }},
  };
}

}  // namespace holdpoint
