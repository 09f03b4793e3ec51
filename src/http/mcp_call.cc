#include "http/mcp_call.h"

#include "base/log.h"
#include "wire/digest.h"
#include "wire/mcp_elicitation.h"

namespace holdpoint {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

constexpr auto kSlice = 5s;
// So soon a form notices that the server stops; and that its client has hung up, who cancels by it.
constexpr auto kShortSlice = 1s;
constexpr auto kGrace = 5s;  // For a deadline to be acted upon.

bool is_over(const Views::AskView& ask) { return is_finished(ask.session.status); }

}  // namespace

std::string mcp_result(const Views::AskView& ask) {
  return mcp::is_permission(ask.payload)
             ? mcp::permission_result(ask.session, ask.questions, ask.payload)
             : mcp::ask_result(ask.session, ask.questions);
}

std::optional<SessionId> find_outside_ask(Api& api, const std::string& id) {
  if (!is_uuid(id)) return std::nullopt;
  SessionId session(id);
  if (const auto question = api.views.question(QuestionId(id), Duration{0})) {
    session = question->session_id;
  }
  const auto ask = api.views.ask(session, Duration{0});
  if (!ask) return std::nullopt;
  const auto agent = api.agents.find(ask->session.agent_name);
  if (agent && agent->runner != RunnerKind::external) return std::nullopt;
  return session;
}

std::string mcp_call_key(const McpPeer& peer, const std::string& rpc_id) {
  return "mcp:" + sha256_hex(peer.session + ":" + rpc_id);
}

McpCall::McpCall(Context context, Duration waited, Duration wait)
    : context_(std::move(context)), began_(Steady::now() - waited), ends_(began_ + wait) {}

McpCall::~McpCall() {
  if (!form_.empty()) context_.desk.close_form(form_);
  if (!context_.peer.session.empty()) context_.desk.note_over(call_name());
}

std::string McpCall::call_name() const { return context_.peer.session + ":" + context_.rpc_id; }

std::unique_ptr<McpCall> McpCall::ask(Context context, mcp::AskCall call) {
  std::unique_ptr<McpCall> made(new McpCall(std::move(context), {}, call.wait));
  const McpPeer& peer = made->context_.peer;
  const bool form = call.elicit && call.wait > 0s && peer.elicitation && !peer.stateless() &&
                    made->context_.streams && mcp::can_elicit(call.ask.ask, peer.revision);
  if (!form) {
    made->pose(std::move(call.ask));
    return made;
  }
  // Not posed yet; what cannot be is told now all the same.
  made->context_.api.notices.addresses_for(call.ask.agent_name, call.ask.ask.channels);
  made->to_pose_ = std::move(call.ask);
  made->form_ = made->context_.desk.open_form(peer.session);
  return made;
}

std::unique_ptr<McpCall> McpCall::permission(Context context, OutsideAsk ask) {
  // Its question ends with the wait: the call sees that end, so that nobody allows what was denied.
  const auto wait = ask.ask.timeout + kGrace;
  std::unique_ptr<McpCall> made(new McpCall(std::move(context), {}, wait));
  made->pose(std::move(ask));
  return made;
}

std::unique_ptr<McpCall> McpCall::follow(Context context, const SessionId& ask,
                                         std::chrono::seconds wait) {
  std::unique_ptr<McpCall> made(new McpCall(std::move(context), {}, wait));
  made->session_ = ask;
  return made;
}

std::unique_ptr<McpCall> McpCall::resume(Context context, const SessionId& ask, const Span& span) {
  const Duration waited = std::max(context.api.clock.now() - span.began, Duration{0});
  std::unique_ptr<McpCall> made(new McpCall(std::move(context), waited, span.until - span.began));
  made->session_ = ask;
  return made;
}

void McpCall::pose(OutsideAsk ask) {
  Api& api = context_.api;
  // A client that sends the same call again, since it lost our answer, means the same ask. One that
  // uses the number for another call does not.
  const bool named = !ask.idempotency_key && !context_.peer.session.empty();
  if (named) ask.idempotency_key = mcp_call_key(context_.peer, context_.rpc_id);
  auto admitted = api.intake.admit_ask(ask, context_.actor, api.clock.now());
  if (admitted && admitted->duplicate && named) {
    OutsideAsk first = ask;
    first.ask.questions.clear();
    for (const auto& question : admitted->questions) first.ask.questions.push_back(question.spec);
    if (fingerprint(first) != fingerprint(ask)) {
      ask.idempotency_key = *ask.idempotency_key + ":" + fingerprint(ask);
      admitted = api.intake.admit_ask(ask, context_.actor, api.clock.now());
    }
  }
  if (!admitted) throw RpcError(kRpcInvalidParams, "there is no agent \"" + ask.agent_name + "\"");
  session_ = admitted->session;
  posed_here_ = !admitted->duplicate;
  if (posed_here_ && !context_.peer.session.empty()) {
    context_.desk.note_posed(call_name(), *session_);
  }
  for (const auto& channel : admitted->questions.front().channels) {
    channels_.append(channels_.empty() ? "" : ", ").append(channel);
  }
}

McpCall::Step McpCall::step() {
  Step step;
  if (context_.desk.take_cancelled(call_name())) {
    withdraw();
    step.dropped = true;
    return step;
  }
  const auto slice = !session_ || context_.peer.stateless() ? kShortSlice : kSlice;
  const Instant until = std::min<Instant>(Steady::now() + slice, ends_);
  const auto is_closing = [&] { return context_.api.views.is_closing(); };
  if (session_) {
    step = await_people(until);
  } else if (!is_closing()) {
    step = await_form(until);
  }
  // In the very step that the end breaks off: there is none after it.
  if (is_closing() && !step.result) step = break_off();
  return step;
}

// Whoever has a session takes the call up again elsewhere; others are told where it stands.
McpCall::Step McpCall::break_off() {
  Step step;
  const auto ask = session_ ? context_.api.views.ask(*session_, Duration{0}) : std::nullopt;
  if (context_.peer.stateless() && ask && !mcp::is_permission(ask->payload)) {
    step.result = mcp_result(*ask);
  } else {
    step.dropped = true;
  }
  return step;
}

McpCall::Step McpCall::await_form(Instant until) {
  Step step;
  if (!form_sent_) {
    form_sent_ = true;
    step.message = rpc_request(form_, "elicitation/create", mcp::elicitation_params(to_pose_->ask));
    return step;
  }
  const auto result = context_.desk.await_form(form_, until);
  if (!result && Steady::now() < ends_) return step;
  if (result) {
    if (const auto choices = mcp::read_elicited(*result, to_pose_->ask, context_.api.limits)) {
      log(Level::info, "mcp_elicited", {{"agent", to_pose_->agent_name}});
      step.result = mcp::elicited_result(to_pose_->ask, *choices);
      return step;
    }
  } else {
    JsonWriter out;
    out.begin_object().raw_member("requestId", form_);
    out.member("reason", "it goes to people elsewhere now").end_object();
    step.message = rpc_notification("notifications/cancelled", out.take());
  }
  context_.desk.close_form(std::exchange(form_, ""));
  pose(std::move(*to_pose_));
  return step;
}

McpCall::Step McpCall::await_people(Instant until) {
  Step step;
  const auto left = std::chrono::duration_cast<Duration>(until - Steady::now());
  const auto ask = context_.api.views.ask(*session_, std::max(left, Duration{0}));
  if (!ask) throw RpcError(kRpcInternal, "the question is gone");
  if (is_over(*ask) || Steady::now() >= ends_) step.result = mcp_result(*ask);
  return step;
}

std::string McpCall::finish() {
  while (true) {
    Step step = this->step();
    if (step.result) return std::move(*step.result);
    if (!step.dropped) continue;
    // Whoever takes only an answer gets one: that it is open.
    const auto ask = context_.api.views.ask(*session_, Duration{0});
    if (ask && (is_over(*ask) || !mcp::is_permission(ask->payload))) return mcp_result(*ask);
    throw RpcError(kRpcInternal, "the server stops, and the question stays open: call again");
  }
}

void McpCall::abandon() {
  // A server that stops has hung up itself.
  if (context_.peer.stateless() && !context_.api.views.is_closing()) withdraw();
}

void McpCall::withdraw() {
  if (!posed_here_) return;
  const auto ask = context_.api.views.ask(*session_, Duration{0});
  if (!ask || is_over(*ask) || !mcp::withdrawn_by_cancel(ask->payload)) return;
  context_.api.control.cancel(*session_, kCancelled, context_.actor, Control::As::owner,
                              context_.api.clock.now());
}

McpWork::Span McpCall::span() const {
  const auto waited = std::chrono::duration_cast<Duration>(Steady::now() - began_);
  const Time began = context_.api.clock.now() - waited;
  return {began, began + std::chrono::duration_cast<Duration>(ends_ - began_)};
}

std::string McpCall::progress(const std::string& token) const {
  // To the millisecond: what is told must grow each time.
  const auto seconds = [](auto duration) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    const std::string rest = std::to_string(1000 + ms % 1000);
    return std::to_string(ms / 1000) + "." + rest.substr(1);
  };
  std::string message = "waiting for a person";
  if (!session_) {
    message = "waiting for the user of this client";
  } else if (!channels_.empty()) {
    message += " (" + channels_ + ", inbox)";
  }
  JsonWriter out;
  out.begin_object().raw_member("progressToken", token);
  out.raw_member("progress", seconds(std::min(Steady::now(), ends_) - began_));
  out.raw_member("total", seconds(ends_ - began_));
  return out.member("message", message).end_object().take();
}

}  // namespace holdpoint
