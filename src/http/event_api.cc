#include <algorithm>
#include <charconv>
#include <limits>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/api.h"
#include "http/event_lines.h"

namespace holdpoint {
namespace {

constexpr std::int64_t kMaxSeq = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> last_event_id(const Request& request) {
  const std::string text = request.header("Last-Event-ID");
  if (text.empty()) return std::nullopt;
  std::int64_t seq = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error != std::errc{} || stop != text.data() + text.size() || seq < 0) {
    throw BadRequest("Last-Event-ID", "must be the id of an event");
  }
  return seq;
}

// `types=question_asked,question_answered`; empty: all.
EventLines::Types read_types(const Query& query) {
  EventLines::Types types;
  const auto text = query.text("types");
  if (!text) return types;
  for (std::size_t from = 0; from <= text->size();) {
    const auto comma = std::min(text->find(',', from), text->size());
    const std::string type = text->substr(from, comma - from);
    if (!events::is_type(type)) {
      throw BadRequest("types", "has no type of event \"" + shorten(type, 60) +
                                    "\"; /openapi.json lists those there are");
    }
    types.insert(type);
    from = comma + 1;
  }
  return types;
}

// Server-sent events after `seq`, until the client goes or the server stops.
Response stream(Api& api, const Request& request, std::optional<std::int64_t> after,
                std::optional<SessionId> session, EventLines::Types types) {
  using Steady = std::chrono::steady_clock;
  // A number that is not there yet comes from another database; its owner wants what comes now.
  EventLines lines(api.feed.begin_after(after), std::move(types), Steady::now());
  Response response;
  response.content_type = "text/event-stream";
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  // Shared, since the response's function is copied along the way; one thread uses it.
  const auto follower = std::make_shared<Feed::Follower>(api.feed);
  bool greeted = false;
  std::uint64_t changes = api.access.credentials.changes();
  response.stream = [=, credentials = &api.access.credentials,
                     still_in = request.still_in](const StreamWrite& write) mutable {
    if (!greeted) {
      greeted = true;
      return write(lines.greeting());
    }
    const auto next = follower->next(lines.seq(), session, EventLines::kHeartbeat);
    if (!next.open) return false;
    const std::string text = lines.of(next, Steady::now());
    // A credential that was taken away sees no more; one that ran out, until the next heartbeat.
    const std::uint64_t now = credentials->changes();
    const bool heartbeat = text.starts_with(':');
    if ((now != changes || heartbeat) && still_in && !still_in()) return false;
    changes = now;
    return text.empty() || write(text);
  };
  return response;
}

Response follow_all(Api& api, const Request& request) {
  const Query query(request, {"types"});
  return stream(api, request, last_event_id(request), std::nullopt, read_types(query));
}

Response history(Api& api, const Request& request) {
  const Query query(request, {"after", "limit"});
  const auto id = path_id<SessionId>(request);
  const std::int64_t after = query.number("after", 0, 0, kMaxSeq);
  const std::int64_t limit = read_limit(query);
  if (!api.views.events(id, after, 1)) return unknown_session();
  if (request.header("Accept").find("text/event-stream") != std::string::npos) {
    return stream(api, request, last_event_id(request).value_or(after), id, {});
  }
  using Event = event_store::StoredEvent;
  const auto fetch = [&](const std::string& cursor, std::int64_t count) {
    return api.views.events(id, std::stoll(cursor), count).value_or(std::vector<Event>{});
  };
  return json_response(
      200, write_page(api.access.pages, "events", std::to_string(after), limit, fetch, write_event,
                      [](const Event& row) { return std::to_string(row.seq); }));
}

}  // namespace

Routes event_routes(Api& api) {
  return {
      {"GET", "/agent/events", scope("sessions:read"),
       [&api](const Request& r) { return follow_all(api, r); }},
      {"GET", "/agent/session/:id/events", scope("sessions:read"),
       [&api](const Request& r) { return history(api, r); }},
  };
}

}  // namespace holdpoint
