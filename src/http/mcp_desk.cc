#include "http/mcp_desk.h"

#include "wire/digest.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr const char* kSession = "mcp session";
constexpr std::size_t kMostNoted = 10'000;

// Whose session it is. While the server is open, anybody's.
std::string owner_of(const Caller& caller) {
  return caller.kind == Caller::Kind::key ? "key:" + caller.id : caller.name;
}

// Forgets all rather than growing without end: what is noted only saves work.
void note(std::set<std::string>& noted, const std::string& what) {
  if (noted.size() >= kMostNoted) noted.clear();
  noted.insert(what);
}

}  // namespace

std::string McpDesk::open_session(const McpPeer& peer, const Caller& caller) const {
  JsonWriter out;
  out.begin_object().member("revision", peer.revision).member("elicitation", peer.elicitation);
  out.member("owner", owner_of(caller)).member("random", to_hex(random_bytes(16))).end_object();
  return seals_.seal(kSession, out.take());
}

std::optional<McpPeer> McpDesk::find_session(const std::string& token, const Caller& caller) {
  const auto text = seals_.open(kSession, token);
  if (!text) return std::nullopt;
  const Json json = read_json(*text);
  const std::string name = sha256_hex(token);
  if (json["owner"] != owner_of(caller)) return std::nullopt;
  if (ended_.with([&](auto& ended) { return ended.count(name) > 0; })) return std::nullopt;
  McpPeer peer;
  peer.revision = json["revision"].get<std::string>();
  peer.elicitation = json["elicitation"].get<bool>();
  peer.session = name;
  return peer;
}

void McpDesk::end_session(const std::string& token) {
  ended_.with([&](auto& ended) { note(ended, sha256_hex(token)); });
}

std::string McpDesk::open_form(const std::string& session) {
  const std::string id = "\"form-" + to_hex(random_bytes(16)) + "\"";
  std::lock_guard lock(forms_lock_);
  forms_.emplace(id, Form{session, std::nullopt});
  return id;
}

void McpDesk::answer_form(const std::string& session, const std::string& id, Json result) {
  std::lock_guard lock(forms_lock_);
  const auto it = forms_.find(id);
  if (it == forms_.end() || it->second.session != session || it->second.result) return;
  it->second.result = std::move(result);
  form_answered_.notify_all();
}

std::optional<Json> McpDesk::await_form(const std::string& id,
                                        std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(forms_lock_);
  const auto answered = [&] {
    const auto it = forms_.find(id);
    return it == forms_.end() || it->second.result;
  };
  form_answered_.wait_until(lock, until, answered);
  const auto it = forms_.find(id);
  if (it == forms_.end()) return std::nullopt;
  return it->second.result;
}

void McpDesk::close_form(const std::string& id) {
  std::lock_guard lock(forms_lock_);
  forms_.erase(id);
}

void McpDesk::note_posed(const std::string& call, const SessionId& ask) {
  calls_.with([&](Calls& calls) { calls.posed.insert_or_assign(call, ask); });
}

void McpDesk::note_over(const std::string& call) {
  calls_.with([&](Calls& calls) {
    calls.posed.erase(call);
    calls.cancelled.erase(call);
  });
}

std::optional<SessionId> McpDesk::note_cancelled(const std::string& call) {
  return calls_.with([&](Calls& calls) -> std::optional<SessionId> {
    note(calls.cancelled, call);
    const auto it = calls.posed.find(call);
    return it == calls.posed.end() ? std::nullopt : std::optional(it->second);
  });
}

bool McpDesk::take_cancelled(const std::string& call) {
  return calls_.with([&](Calls& calls) { return calls.cancelled.erase(call) > 0; });
}

}  // namespace holdpoint
