#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "base/guarded.h"
#include "net/http_client.h"
#include "wire/rpc.h"

namespace holdpoint::cli {

// The way to a server's /mcp: what the session there is known by, and one exchange at a time. Safe
// to share between threads.
class McpLink {
 public:
  // `url` is that of /mcp, with its query; `key`, if not empty, goes along as the credential.
  McpLink(HttpClient& http, std::string url, std::string key)
      : http_(http), url_(std::move(url)), key_(std::move(key)) {}

  struct Session {
    std::string id;  // Empty: there is none.
    std::string revision;
  };
  Session session();

  struct Exchange {
    HttpResponse response;
    bool heard = false;         // Something came back.
    std::string last_event_id;  // Where to go on if the stream broke; empty: nowhere.
  };
  // Each message that comes back, on one line; false ends the exchange.
  using OnMessage = std::function<bool(const std::string& message)>;
  using Cancelled = std::function<bool()>;
  Exchange post(const RpcMessage& message, const std::string& body, const Session& session,
                const OnMessage& on_message, const Cancelled& cancelled);
  // The rest of a stream that broke.
  Exchange resume(const std::string& event, const Session& session, const OnMessage& on_message,
                  const Cancelled& cancelled);

  // Opens a session with the client's own words; they are kept, to open another with when the
  // server no longer knows this one.
  Exchange initialize(const RpcMessage& message, const std::string& body,
                      const OnMessage& on_message, const Cancelled& cancelled);
  // True once there is another session than `lost`.
  bool renew(const Session& lost, const Cancelled& cancelled);

 private:
  struct State {
    Session session;
    std::string initialize;
  };
  Exchange send(HttpRequest request, const Session& session, const OnMessage& on_message,
                const Cancelled& cancelled);

  HttpClient& http_;
  const std::string url_;
  const std::string key_;
  Guarded<State> state_;
  std::mutex renewing_;
};

// Whether it is of the revision without sessions.
bool is_stateless(const RpcMessage& message);

}  // namespace holdpoint::cli
