#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/ids.h"
#include "base/time.h"
#include "domain/access.h"
#include "wire/json.h"
#include "wire/sealed.h"

namespace holdpoint {

// Revisions of MCP: those with sessions, the newest last, and the one without.
inline constexpr std::array kMcpSessionRevisions{"2025-06-18", "2025-11-25"};
inline constexpr const char* kMcpStateless = "2026-07-28";

// Who is at the other end of an MCP request, and what they can do.
struct McpPeer {
  std::string revision;
  bool elicitation = false;  // Shows forms to its user.
  bool tasks = false;
  std::string session;  // What names its calls apart from others'; empty: nothing does.

  bool stateless() const { return revision == kMcpStateless; }
};

// What MCP requests share. All that must survive a restart is in the store, or sealed into what the
// client sends back; what is here may be lost. Safe to share between threads.
class McpDesk {
 public:
  struct Options {
    std::chrono::seconds wait{55};             // The longest that a call waits.
    std::chrono::seconds permission_wait{55};  // The same of request_permission.
    std::vector<std::string> allowed_origins;
    std::vector<std::string> allowed_hosts;
    Duration kept_for{0};     // Asks, after they have ended.
    bool test_tools = false;  // Tools that the conformance suite calls.
    std::string version;      // Ours.
  };
  McpDesk(Options options, std::string secret)
      : options_(std::move(options)), seals_(std::move(secret)) {}

  const Options& options() const { return options_; }
  const Seals& seals() const { return seals_; }

  // Sessions are sealed: whichever node gets one knows it, for the credential that opened it.
  std::string open_session(const McpPeer& peer, const Caller& caller) const;
  std::optional<McpPeer> find_session(const std::string& token, const Caller& caller);
  void end_session(const std::string& token);

  // A form shown to the user of a client. Its id goes out as the request's; the answer may come in
  // by another connection.
  std::string open_form(const std::string& session);
  void answer_form(const std::string& session, const std::string& id, Json result);
  std::optional<Json> await_form(const std::string& id,
                                 std::chrono::steady_clock::time_point until);
  void close_form(const std::string& id);

  // Calls that wait here, and what each has posed, by the names that their clients cancel them by.
  void note_posed(const std::string& call, const SessionId& ask);
  void note_over(const std::string& call);
  // Gives what the call has posed so far, if it waits here. One that comes later finds the note.
  std::optional<SessionId> note_cancelled(const std::string& call);
  bool take_cancelled(const std::string& call);

 private:
  struct Form {
    std::string session;
    std::optional<Json> result;
  };

  const Options options_;
  const Seals seals_;
  Guarded<std::set<std::string>> ended_;
  struct Calls {
    std::map<std::string, SessionId> posed;
    std::set<std::string> cancelled;
  };
  Guarded<Calls> calls_;
  std::mutex forms_lock_;
  std::condition_variable form_answered_;
  std::map<std::string, Form> forms_;
};

}  // namespace holdpoint
