#include <charconv>
#include <limits>

#include "domain/bad_request.h"
#include "http/api.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
constexpr Duration kHeartbeat = 15s;
constexpr std::int64_t kMaxSeq = std::numeric_limits<std::int64_t>::max();

void write_event(JsonWriter& out, const event_store::StoredEvent& event) {
  out.begin_object().member("seq", event.seq).member("session_id", event.session_id);
  out.member("type", event.type).member("at", event.at).raw_member("data", event.data);
  out.end_object();
}

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

// Server-sent events after `seq`, until the client goes or the server stops.
Response stream(Api& api, const Request& request, std::optional<std::int64_t> after,
                std::optional<SessionId> session) {
  // A number that is not there yet comes from another database; its owner wants what comes now.
  std::int64_t seq = api.feed.begin_after(after);
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
      return write(": following\n\n");
    }
    const auto next = follower->next(seq, session, kHeartbeat);
    if (!next.open) return false;
    // A credential that was taken away sees no more; one that ran out, until the next quiet moment.
    const std::uint64_t now = credentials->changes();
    if ((now != changes || next.events.empty()) && still_in && !still_in()) return false;
    changes = now;
    std::string text;
    for (const auto& event : next.events) {
      JsonWriter out;
      write_event(out, *event);
      text += "id: " + std::to_string(event->seq) + "\nevent: state_change\ndata: " + out.take() +
              "\n\n";
    }
    const bool quiet = next.seq == seq;
    seq = next.seq;
    if (text.empty() && !quiet) return true;  // Others' events went by.
    return write(text.empty() ? ": still here\n\n" : text);
  };
  return response;
}

Response follow_all(Api& api, const Request& request) {
  const Query query(request, {});
  return stream(api, request, last_event_id(request), std::nullopt);
}

Response history(Api& api, const Request& request) {
  const Query query(request, {"after", "limit"});
  const auto id = path_id<SessionId>(request);
  const std::int64_t after = query.number("after", 0, 0, kMaxSeq);
  const std::int64_t limit = read_limit(query);
  if (!api.views.events(id, after, 1)) return unknown_session();
  if (request.header("Accept").find("text/event-stream") != std::string::npos) {
    return stream(api, request, last_event_id(request).value_or(after), id);
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
