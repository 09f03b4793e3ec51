#include <array>
#include <cstdio>

#include "base/embedded.h"
#include "http/api.h"
#include "wire/session_json.h"

namespace holdpoint {
namespace {

Response ready(Api& api) {
  if (api.ready()) return json_response(200, R"({"ok":true,"status":"ready"})");
  Response response = error_response(503, "not_ready", "the store cannot commit now");
  response.headers.emplace_back("Retry-After", "2");
  return response;
}

Metrics::Gauges gauges_now(Api& api) {
  auto gauges = api.views.gauges(api.clock.now());
  api.add_gauges(gauges);
  return gauges;
}

Response metrics(Api& api) {
  Response response = json_response(200, api.metrics.text(gauges_now(api)));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

// A member for every status, be it that nothing has it.
template <class Statuses>
void write_counts(JsonWriter& out, const char* name, const Statuses& statuses,
                  const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  out.key(name).begin_object();
  for (const auto status : statuses) {
    const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& count) {
      return count.first == to_text(status);
    });
    out.member(to_text(status), found == counts.end() ? std::int64_t{0} : found->second);
  }
  out.end_object();
}

// As JSON, with the milliseconds.
std::optional<std::string> to_seconds(std::optional<Duration> time) {
  if (!time) return std::nullopt;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(time->count()) / 1000);
  return text.data();
}

void write_agent(JsonWriter& out, const Overview::Agent& agent) {
  out.begin_object().member("name", agent.name).member("sessions", agent.sessions);
  out.member("asked", agent.asked).member("questions", agent.questions);
  out.member("failed", agent.failed).member("answered", agent.answered);
  out.raw_or_null("median_seconds", to_seconds(agent.times.median));
  out.raw_or_null("p95_seconds", to_seconds(agent.times.p95));
  out.key("times").begin_array();
  for (const auto count : agent.times.counts) out.value(count);
  out.end_array().member("input_tokens", agent.input_tokens);
  out.member("output_tokens", agent.output_tokens);
  out.raw_or_null("cost_usd", to_dollars(agent.cost_micros)).end_object();
}

void write_channel(JsonWriter& out, const Overview::Channel& channel) {
  out.begin_object().member("name", channel.name).member("set_up", channel.set_up);
  out.member("delivered", channel.delivered).member("retrying", channel.retrying);
  out.member("dead", channel.dead).member("last_delivered_at", channel.last_delivered_at);
  out.member("last_error", channel.last_error).member("last_error_at", channel.last_error_at);
  std::optional<std::string> connection;
  if (channel.connected) connection = *channel.connected ? "connected" : "connecting";
  out.member("connection", connection).end_object();
}

void write_node(JsonWriter& out, const RollCall::Present& present) {
  const auto& node = present.node;
  out.begin_object().member("id", node.id).member("host", node.host);
  out.member("address", node.address).member("version", node.version);
  out.member("started_at", node.started_at).member("seen_at", node.seen_at);
  out.member("live", present.live).member("self", present.self).end_object();
}

template <class Rows, class Write>
void write_all(JsonWriter& out, const char* name, const Rows& rows, Write write) {
  out.key(name).begin_array();
  for (const auto& row : rows) write(out, row);
  out.end_array();
}

Response operations(Api& api, const Request& request) {
  const Query query(request, {});
  const Pages::Place place(api.access.pages);
  const Time now = api.clock.now();
  const auto gauges = gauges_now(api);
  const auto report = api.overview.look();
  const auto nodes = api.roll_call.list(now);
  JsonWriter out;
  out.begin_object().member("version", api.roll_call.self().version).member("now", now);
  out.member("database", api.database);
  write_counts(out, "sessions", kSessionStatuses, gauges.sessions);
  write_counts(out, "questions", kQuestionStatuses, gauges.questions);
  write_counts(out, "deliveries", kDeliveryStatuses, gauges.deliveries);
  out.member("turns_due", gauges.turns_due).member("turns_running", gauges.turns_running);
  write_all(out, "agents", report.agents, write_agent);
  write_all(out, "time_bounds", kAnswerTimeBounds, [](JsonWriter& o, std::chrono::seconds bound) {
    o.value(std::int64_t{bound.count()});
  });
  out.key("window").begin_object().member("sessions", Overview::kSessions);
  out.member("answers", Overview::kAnswers).member("deliveries", Overview::kDeliveries);
  out.end_object();
  write_all(out, "channels", report.channels, write_channel);
  write_all(out, "nodes", nodes, write_node);
  out.end_object();
  return json_response(200, out.take());
}

}  // namespace

Routes operation_routes(Api& api) {
  return {
      {"GET", "/healthz", nothing(),
       [](const Request&) { return json_response(200, R"({"ok":true})"); }},
      {"GET", "/readyz", nothing(), [&api](const Request&) { return ready(api); }},
      {"GET", "/metrics", scope("sessions:read"), [&api](const Request&) { return metrics(api); }},
      {"GET", "/agent/operations", scope("sessions:read"),
       [&api](const Request& r) { return operations(api, r); }},
      {"GET", "/openapi.json", nothing(),
       [](const Request&) { return json_response(200, std::string(embedded::openapi_json)); }},
  };
}

}  // namespace holdpoint
