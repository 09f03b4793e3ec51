#include "domain/bad_request.h"
#include "http/api.h"
#include "wire/humanlayer_status.h"

// HumanLayer's API, as far as its SDK calls it: calls are asks of the agent kHumanLayerAgent.
namespace holdpoint {
namespace {

using humanlayer::Call;
using humanlayer::Kind;

constexpr std::int64_t kMostPending = 500;

struct Found {
  Call call;
  SessionId session;
  Question question;
};

std::optional<Found> read_view(Kind kind, std::optional<Views::AskView> view) {
  if (!view || view->questions.empty()) return std::nullopt;
  auto call = read_call(kind, view->payload);
  if (!call) return std::nullopt;
  return Found{std::move(*call), view->session.id, std::move(view->questions.front())};
}

std::optional<Found> find_call(Api& api, Kind kind, const std::string& call_id) {
  const auto session = api.views.session_of_key(kHumanLayerAgent, key_of(kind, call_id));
  return session ? read_view(kind, api.views.ask(*session, Duration{0})) : std::nullopt;
}

Response unknown_call() {
  return error_response(404, "unknown_call", "there is no call of this kind with this call_id");
}

Response show(int status, const Found& found) {
  JsonWriter out;
  write_call(out, found.call, found.question);
  return json_response(status, out.take());
}

// An ask's complaint about a place it goes to, in the words of the call.
Intake::Admitted admit(Api& api, const OutsideAsk& outside, const Request& request) {
  try {
    auto admitted = api.intake.admit_ask(outside, request.actor(), api.clock.now());
    if (!admitted) throw std::logic_error("the agent of HumanLayer's calls is built in");
    return std::move(*admitted);
  } catch (const BadRequest& e) {
    for (std::size_t i = 0; i < outside.ask.channels.size(); ++i) {
      if (e.field() != "channels[" + std::to_string(i) + "]") continue;
      throw BadRequest(humanlayer::field_of(outside.ask.channels[i]), e.what());
    }
    throw;
  }
}

Response create(Api& api, Kind kind, const Request& request) {
  const Query query(request, {});
  const auto agent = api.agents.find(kHumanLayerAgent);
  if (!agent) throw std::logic_error("the agent of HumanLayer's calls is built in");
  const OutsideAsk outside = parse_call(
      kind, request.body, {kHumanLayerAgent, api.intake.ask_defaults(*agent), api.limits});
  const auto admitted = admit(api, outside, request);
  const auto found = read_view(kind, api.views.ask(admitted.session, Duration{0}));
  const auto asked = read_call(kind, outside.payload);
  // An answer to what was asked first would count for what nobody saw.
  if (!found || !asked || !asks_the_same(found->call, *asked)) {
    return error_response(409, "call_id_taken",
                          "another call was made under this call_id, with another question; make "
                          "a new id for each call",
                          "call_id");
  }
  return show(admitted.duplicate ? 200 : 201, *found);
}

Response get(Api& api, Kind kind, const Request& request) {
  const Query query(request, {});
  const auto found = find_call(api, kind, request.parameters.at("call"));
  return found ? show(200, *found) : unknown_call();
}

Response respond(Api& api, Kind kind, const Request& request) {
  const Query query(request, {});
  const std::string& call_id = request.parameters.at("call");
  auto found = find_call(api, kind, call_id);
  if (!found) return unknown_call();
  const auto reply = parse_reply(found->call, found->question, request.body);
  Answer given;
  given.values[found->question.id.text()] = {reply.answer};
  given.via = "api";
  name_answerer(request.caller, given);
  try {
    const auto outcome =
        api.answers.answer(found->session, given, request.actor(), api.clock.now());
    if (auto refusal = refuse_answer(outcome)) return *refusal;
  } catch (const BadRequest& e) {
    throw BadRequest(reply.field, e.what());
  }
  found = find_call(api, kind, call_id);
  return found ? show(200, *found) : unknown_call();
}

// The newest first, as many as make a page.
Response list_pending(Api& api, Kind kind, const Request& request) {
  const Query query(request, {});
  const Pages::Place place(api.access.pages);
  question_store::Filter filter;
  filter.status = QuestionStatus::pending;
  filter.agent_name = kHumanLayerAgent;
  JsonWriter out;
  out.begin_array();
  std::int64_t count = 0;
  for (bool more = true; more && count < kMostPending && out.size() < kPageBytes;) {
    const auto lot = api.views.questions(filter);
    for (const auto& question : lot) {
      filter.before = question.id.text();
      if (count == kMostPending || out.size() >= kPageBytes) break;
      const auto found = read_view(kind, api.views.ask(question.session_id, Duration{0}));
      if (!found || is_settled(found->question.status)) continue;
      write_call(out, found->call, found->question);
      ++count;
    }
    more = static_cast<std::int64_t>(lot.size()) == filter.limit;
  }
  return json_response(200, out.end_array().take());
}

Response escalate(const Request&) {
  return error_response(501, "not_offered",
                        "Holdpoint does not escalate a call to further addresses; list them in "
                        "channels: of agents/humanlayer.md, and every call goes there at once");
}

}  // namespace

Routes humanlayer_routes(Api& api) {
  const auto to = [&api](Response (*call)(Api&, Kind, const Request&), Kind kind) {
    return [&api, call, kind](const Request& request) { return call(api, kind, request); };
  };
  const auto function_call = Kind::function_call, contact = Kind::human_contact;
  const Needs asks = scope("questions:ask"), looks = scope("questions:read"),
              answers = scope("questions:answer");
  return {
      {"POST", "/humanlayer/v1/function_calls", asks, to(create, function_call)},
      {"GET", "/humanlayer/v1/function_calls/:call", asks, to(get, function_call)},
      {"POST", "/humanlayer/v1/contact_requests", asks, to(create, contact)},
      {"GET", "/humanlayer/v1/contact_requests/:call", asks, to(get, contact)},
      {"POST", "/humanlayer/v1/human_contacts", asks, to(create, contact)},
      {"GET", "/humanlayer/v1/human_contacts/:call", asks, to(get, contact)},
      {"GET", "/humanlayer/v1/agent/function_calls/pending", looks,
       to(list_pending, function_call)},
      {"GET", "/humanlayer/v1/agent/human_contacts/pending", looks, to(list_pending, contact)},
      {"POST", "/humanlayer/v1/agent/function_calls/:call/respond", answers,
       to(respond, function_call)},
      {"POST", "/humanlayer/v1/agent/human_contacts/:call/respond", answers, to(respond, contact)},
      {"POST", "/humanlayer/v1/agent/function_calls/:call/escalate_email", asks, escalate},
      {"POST", "/humanlayer/v1/agent/human_contacts/:call/escalate_email", asks, escalate},
  };
}

}  // namespace holdpoint
