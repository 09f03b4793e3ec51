#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/api.h"
#include "wire/json.h"
#include "wire/session_json.h"

namespace holdpoint {
namespace {

Response show(Api& api, const Request& request) {
  const Query query(request, {"wait", "until"});
  const std::string until = query.text("until").value_or("settled");
  if (until != "settled" && until != "finished") {
    throw BadRequest("until", "must be settled or finished");
  }
  const auto view = api.views.session(
      path_id<SessionId>(request),
      until == "finished" ? Views::Until::finished : Views::Until::settled, read_wait(query));
  if (!view) return unknown_session();
  JsonWriter out;
  write_session(out, view->session, view->pending);
  return json_response(200, out.take());
}

Response list(Api& api, const Request& request) {
  const Query query(request, {"status", "agent", "limit", "cursor"});
  session_store::Filter filter;
  if (const auto status = query.text("status")) {
    filter.status = session_status_from(*status);
    if (!filter.status) {
      throw BadRequest("status", "must be running, pending_input, completed, failed or cancelled");
    }
  }
  filter.agent_name = query.text("agent");
  const auto fetch = [&](const std::string& cursor, std::int64_t count) {
    filter.before = cursor;
    filter.limit = count;
    return api.views.sessions(filter);
  };
  return json_response(
      200, write_page(
               api.access.pages, "sessions", read_cursor(query), read_limit(query), fetch,
               [](JsonWriter& out, const Session& row) { write_session(out, row); },
               [](const Session& row) { return row.id.text(); }));
}

Response changed(int status, const SessionId& id, const Control::Result& result) {
  JsonWriter out;
  out.begin_object().member("ok", true).member("session_id", id);
  if (!result.message.empty()) out.member("message_id", result.message);
  out.member("status", to_text(result.status)).end_object();
  return json_response(status, out.take());
}

Control::As as_whom(const Caller& caller) {
  const bool owner = caller.may("sessions:create") || caller.may("questions:ask");
  return owner ? Control::As::owner : Control::As::answerer;
}

Response cancel(Api& api, const Request& request) {
  const Query query(request, {});
  std::string reason = "cancelled by request";
  if (!is_blank(request.body)) {
    const Json body = parse_json(request.body, "body");
    check_members(body, "", {"reason"});
    if (body.contains("reason")) {
      if (!body["reason"].is_string()) throw BadRequest("reason", "must be a string");
      reason = body["reason"].get<std::string>();
      if (is_blank(reason) || count_chars(reason) > 1000) {
        throw BadRequest("reason", "must have 1 to 1000 characters");
      }
    }
  }
  const auto id = path_id<SessionId>(request);
  const auto result =
      api.control.cancel(id, reason, request.actor(), as_whom(request.caller), api.clock.now());
  if (result.outcome == Control::Outcome::not_allowed) {
    return error_response(403, "not_an_answerer",
                          "the agent does not let you call its questions off");
  }
  if (result.outcome == Control::Outcome::unknown) return unknown_session();
  if (result.outcome == Control::Outcome::refused) {
    return error_response(409, "session_finished",
                          "the session is " + std::string(to_text(result.status)) + " already");
  }
  return changed(200, id, result);
}

Response retry(Api& api, const Request& request) {
  const Query query(request, {});
  refuse_members(request);
  const auto id = path_id<SessionId>(request);
  const auto result = api.control.retry(id, request.actor(), api.clock.now());
  if (result.outcome == Control::Outcome::unknown) return unknown_session();
  if (result.outcome == Control::Outcome::refused) {
    return error_response(409, "not_failed",
                          "only failed sessions of agents that this server runs are tried again; "
                          "this one is " +
                              std::string(to_text(result.status)));
  }
  return changed(202, id, result);
}

Response message(Api& api, const Request& request) {
  const Query query(request, {});
  check_members(parse_json(request.body, "body"), "", {"message"});
  std::string_view body;
  for (const auto& [name, value] : members_of(request.body)) {
    if (name == "message") body = value;
  }
  if (body.empty()) throw BadRequest("message", "is required");
  const auto id = path_id<SessionId>(request);
  const auto result = api.control.message(id, body, request.actor(), api.clock.now());
  if (result.outcome == Control::Outcome::unknown) return unknown_session();
  if (result.outcome == Control::Outcome::refused) {
    return error_response(
        409, "session_finished",
        "the session is " + std::string(to_text(result.status)) + " and reads no more messages");
  }
  return changed(202, id, result);
}

// What the routes above would let this caller do to the session as it is.
SessionRights rights_of(Api& api, const Request& request, const Session& session) {
  const Caller& caller = request.caller;
  const auto as = as_whom(caller);
  const bool creates = caller.may("sessions:create");
  SessionRights rights;
  rights.cancel = (as == Control::As::owner || caller.may("questions:answer")) &&
                  api.control.may_cancel(session, request.actor(), as);
  rights.retry = creates && api.control.may_retry(session);
  rights.message = creates && !is_finished(session.status);
  return rights;
}

Response record(Api& api, const Request& request) {
  const Query query(request, {});
  const Pages::Place place(api.access.pages);  // A record may be as large as a page.
  const auto id = path_id<SessionId>(request);
  const auto view = api.views.record(id);
  if (!view) return unknown_session();
  JsonWriter out;
  write_record(out, id, view->record, rights_of(api, request, view->session));
  return json_response(200, out.take());
}

}  // namespace

Routes session_routes(Api& api) {
  return {
      {"GET", "/agent/sessions", scope("sessions:read"),
       [&api](const Request& r) { return list(api, r); }},
      {"GET", "/agent/session/:id", scope("sessions:read"),
       [&api](const Request& r) { return show(api, r); }},
      {"GET", "/agent/session/:id/record", scope("sessions:read"),
       [&api](const Request& r) { return record(api, r); }},
      {"POST", "/agent/session/:id/cancel",
       any_of({"sessions:create", "questions:ask", "questions:answer"}),
       [&api](const Request& r) { return cancel(api, r); }},
      {"POST", "/agent/session/:id/retry", scope("sessions:create"),
       [&api](const Request& r) { return retry(api, r); }},
      {"POST", "/agent/session/:id/message", scope("sessions:create"),
       [&api](const Request& r) { return message(api, r); }},
  };
}

}  // namespace holdpoint
