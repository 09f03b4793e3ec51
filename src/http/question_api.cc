#include "domain/bad_request.h"
#include "http/api.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

Response conflict(const Question& counted) {
  const bool answered = counted.status == QuestionStatus::answered;
  const std::string what =
      answered ? "the question was answered before, and that answer counts"
               : "the question is " + std::string(to_text(counted.status)) + " already";
  JsonWriter out;
  out.begin_object().member("ok", false).key("error").begin_object();
  out.member("code", answered ? "already_answered" : "question_settled").member("message", what);
  out.member("field", "answer").end_object().member("question_id", counted.id);
  out.member("outcome", to_text(counted.status)).key("answer");
  if (counted.choice) {
    write_choice(out, counted.spec, *counted.choice);
  } else {
    out.value(nullptr);
  }
  out.member("answered_by", counted.answered_by).member("answered_via", counted.answered_via);
  out.member("answered_at", answered ? counted.settled_at : std::optional<Time>()).end_object();
  return json_response(409, out.take());
}

}  // namespace

void name_answerer(const Caller& caller, Answer& given) {
  if (caller.kind == Caller::Kind::open) return;
  if (given.by.empty()) given.by = caller.name;
  if (caller.kind == Caller::Kind::user && given.by != caller.name) {
    throw BadRequest("answered_by", "must be left out, or be you: " + caller.name);
  }
}

std::optional<Response> refuse_answer(const AnswerOutcome& outcome) {
  if (const auto* not_listed = std::get_if<NotAnAnswerer>(&outcome)) {
    return error_response(403, "not_an_answerer",
                          "the answerers of " + not_listed->agent_name + " do not list you");
  }
  if (const auto* lost = std::get_if<AnswerConflict>(&outcome)) return conflict(lost->counted);
  if (const auto* finished = std::get_if<SessionFinished>(&outcome)) {
    return error_response(404, "session_finished",
                          "the session is " + std::string(to_text(finished->status)) +
                              ", and has no such answered question");
  }
  if (std::holds_alternative<UnknownSession>(outcome)) return unknown_session();
  return std::nullopt;
}

namespace {

bool wants_urgent(const Query& query, const question_store::Filter& filter) {
  const std::string order = query.text("order").value_or("newest");
  if (order != "newest" && order != "urgent") {
    throw BadRequest("order", "must be newest or urgent");
  }
  if (order == "urgent" && filter.status != QuestionStatus::pending) {
    throw BadRequest("order", "urgent goes with status=pending: nothing else is urgent");
  }
  return order == "urgent";
}

void write_row(JsonWriter& out, const Question& row) { write_question(out, row); }

Response list_urgent(Api& api, const Query& query, question_store::Filter filter) {
  question_store::Urgency after;
  const std::string cursor = read_cursor(query);
  if (!cursor.empty()) {
    const auto last = api.views.question(QuestionId(cursor), Duration{0});
    if (!last) throw BadRequest("cursor", "names a question that is gone; begin again without it");
    after = {last->deadline_at, last->id};
  }
  const auto fetch = [&](const std::string&, std::int64_t count) {
    filter.limit = count;
    return api.views.urgent_questions(filter, after);
  };
  const auto name = [&](const Question& row) {
    after = {row.deadline_at, row.id};
    return row.id.text();
  };
  return json_response(200, write_page(api.access.pages, "questions", cursor, read_limit(query),
                                       fetch, write_row, name));
}

Response list(Api& api, const Request& request) {
  const Query query(request, {"status", "agent", "session", "order", "limit", "cursor"});
  question_store::Filter filter;
  if (const auto status = query.text("status")) {
    filter.status = question_status_from(*status);
    if (!filter.status) {
      throw BadRequest("status", "must be pending, answered, timed_out, defaulted or cancelled");
    }
  }
  filter.agent_name = query.text("agent");
  if (const auto session = query.text("session")) filter.session = SessionId(*session);
  if (!filter.session) {
    if (auto refusal = api.gate.refuse_unless(request, {"questions:read"})) return *refusal;
  }
  if (wants_urgent(query, filter)) return list_urgent(api, query, filter);
  const auto fetch = [&](const std::string& cursor, std::int64_t count) {
    filter.before = cursor;
    filter.limit = count;
    return api.views.questions(filter);
  };
  return json_response(
      200, write_page(api.access.pages, "questions", read_cursor(query), read_limit(query), fetch,
                      write_row, [](const Question& row) { return row.id.text(); }));
}

Response show(Api& api, const Request& request) {
  const Query query(request, {"wait"});
  const auto question = api.views.question(path_id<QuestionId>(request), read_wait(query));
  if (!question) return error_response(404, "unknown_question", "there is no such question");
  JsonWriter out;
  write_question(out, *question);
  return json_response(200, out.take());
}

Response accepted(const SessionId& session, const char* status,
                  std::optional<std::int64_t> remaining) {
  JsonWriter out;
  out.begin_object().member("ok", true).member("status", status).member("session_id", session);
  if (remaining) out.member("remaining", *remaining);
  out.end_object();
  return json_response(200, out.take());
}

Response answer(Api& api, const Request& request) {
  if (request.is_form()) {
    // What curl calls a form unless it is told otherwise.
    if (request.body.find("token=") == std::string::npos) {
      return error_response(415, "unsupported_type",
                            "send an answer with the header Content-Type: application/json",
                            "Content-Type");
    }
    return answer_by_link(api, request);
  }
  if (auto refusal = api.gate.refuse_unless(request, {"questions:answer"})) return *refusal;
  const Query query(request, {});
  const auto session = path_id<SessionId>(request);
  Answer given = parse_answer(request.body);
  const bool on_page = !request.header("Origin").empty() && api.gate.from_our_page(request);
  given.via = on_page ? "web" : "api";
  name_answerer(request.caller, given);
  Actor by = request.actor();
  // Where all are trusted, so is the name they give.
  if (request.caller.kind == Caller::Kind::open) by.name = given.by;
  const AnswerOutcome outcome = api.answers.answer(session, given, by, api.clock.now());
  if (auto refusal = refuse_answer(outcome)) return *refusal;
  if (const auto* done = std::get_if<AnswerAccepted>(&outcome)) {
    return done->remaining == 0 ? accepted(session, "resumed", std::nullopt)
                                : accepted(session, "pending_input", done->remaining);
  }
  return accepted(session, "already_answered", std::nullopt);
}

Response make_link(Api& api, const Request& request) {
  const Query query(request, {});
  const Json body = parse_json(request.body, "body");
  check_members(body, "", {"recipient"});
  if (!body.contains("recipient") || !body["recipient"].is_string()) {
    throw BadRequest("recipient", "is required: whom the link is for");
  }
  const auto id = path_id<QuestionId>(request);
  const auto token =
      api.links.make(id, body["recipient"].get<std::string>(), request.actor(), api.clock.now());
  const auto question = api.views.question(id, Duration{0});
  if (!token || !question) {
    return error_response(404, "unknown_question", "there is no such question");
  }
  JsonWriter out;
  out.begin_object().member("ok", true).member("question_id", id);
  out.member("url",
             api.public_url + "/agent/answer/" + question->session_id.text() + "?token=" + *token);
  out.member("expires_at", question->deadline_at).end_object();
  return json_response(201, out.take());
}

}  // namespace

Routes question_routes(Api& api) {
  return {
      // Who asks has the ids of question and session from us, and may see what came of them.
      {"GET", "/agent/questions", any_of({"questions:read", "questions:ask"}),
       [&api](const Request& r) { return list(api, r); }},
      {"GET", "/agent/questions/:id", any_of({"questions:read", "questions:ask"}),
       [&api](const Request& r) { return show(api, r); }},
      {"POST", "/agent/answer/:id", own_check(),
       [&api](const Request& r) { return answer(api, r); }, false, true},
      {"POST", "/agent/questions/:id/links", scope("admin"),
       [&api](const Request& r) { return make_link(api, r); }},
  };
}

}  // namespace holdpoint
