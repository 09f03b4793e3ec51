#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http/api.h"
#include "http/mcp_desk.h"
#include "wire/mcp_tools.h"
#include "wire/rpc.h"

namespace holdpoint {

// Why a question is over that its client's cancellation withdrew.
inline constexpr const char* kCancelled = "the client cancelled its call";

// A tool call that is not over at once. Used by one thread.
class McpWork {
 public:
  virtual ~McpWork() = default;
  // Waits for a little while.
  struct Step {
    std::string message;                // To send meanwhile; empty: nothing.
    std::optional<std::string> result;  // The call is over.
    bool dropped = false;               // It is over without one: cancelled, or the server stops.
  };
  virtual Step step() = 0;
  // To the end, for clients that take only the answer.
  virtual std::string finish() = 0;
  // The client has gone. Without sessions, that is how it cancels.
  virtual void abandon() {}
  // The ask's session, by which the call can be taken up again; nothing if it cannot.
  virtual std::optional<SessionId> session() const { return std::nullopt; }
  // How it goes: `{"progressToken":…,"progress":…,"message":…}`.
  virtual std::string progress(const std::string& token) const = 0;
  // Since when it has been waiting, and until when it would.
  struct Span {
    Time began;
    Time until;
  };
  virtual Span span() const { return {}; }
};

// A call that waits for people.
class McpCall final : public McpWork {
 public:
  struct Context {
    Api& api;
    McpDesk& desk;
    McpPeer peer;
    Actor actor;
    std::string rpc_id;    // Of the request that is to be answered.
    bool streams = false;  // The client takes more than the answer: progress, and forms.
  };

  // Poses the ask, or shows the client's user the form first. Throws BadRequest.
  static std::unique_ptr<McpCall> ask(Context context, mcp::AskCall call);
  static std::unique_ptr<McpCall> permission(Context context, OutsideAsk ask);
  // Waits for an ask that was posed before.
  static std::unique_ptr<McpCall> follow(Context context, const SessionId& ask,
                                         std::chrono::seconds wait);
  // Takes up a call whose stream broke, for what is left of its time.
  static std::unique_ptr<McpCall> resume(Context context, const SessionId& ask, const Span& span);
  ~McpCall() override;
  McpCall(const McpCall&) = delete;

  Step step() override;
  std::string finish() override;
  void abandon() override;
  std::optional<SessionId> session() const override { return session_; }
  std::string progress(const std::string& token) const override;
  Span span() const override;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  McpCall(Context context, Duration waited, Duration wait);
  void pose(OutsideAsk ask);
  void withdraw();
  Step await_form(Instant until);
  Step await_people(Instant until);
  Step break_off();
  std::string call_name() const;

  Context context_;
  const Instant began_;
  const Instant ends_;
  std::optional<OutsideAsk> to_pose_;  // If the form brings no answer.
  std::string form_;                   // Its id, while it is shown.
  bool form_sent_ = false;
  std::optional<SessionId> session_;
  bool posed_here_ = false;  // This call posed it, and joined nobody else's.
  std::string channels_;     // Where it went, for people.
};

// The result of an ask as it is, in the words of the tool that it came by.
std::string mcp_result(const Views::AskView& ask);
// By its own id or that of one of its questions, if an agent that lives elsewhere asked it.
std::optional<SessionId> find_outside_ask(Api& api, const std::string& id);
// The idempotency key of a session's call, unless it brings its own.
std::string mcp_call_key(const McpPeer& peer, const std::string& rpc_id);

}  // namespace holdpoint
