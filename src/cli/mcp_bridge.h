#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/loop.h"
#include "cli/mcp_link.h"

namespace holdpoint::cli {

// Carries the messages of an MCP client that speaks over pipes to a server and back, each in a
// thread of its own: what waits for people holds up nothing else. Outlives restarts of the server:
// a call whose stream broke is taken up again, or sent again, which is the same question there.
class McpBridge {
 public:
  // `write` gets each message for the client, from any thread, one at a time.
  McpBridge(McpLink& link, std::function<void(const std::string& line)> write);
  ~McpBridge() { stop(Duration{0}); }
  McpBridge(const McpBridge&) = delete;

  // One line of the client's. Returns at once.
  void take(const std::string& line);
  // The client is done: what is under way has `grace` to end.
  void stop(Duration grace);

 private:
  struct Errand {
    RpcMessage message;
    std::string body;
    std::atomic<bool> cancelled{false};
    bool answered = false;
  };
  // Shared by the map, which cancels it, and the thread that runs it.
  using Shared = std::shared_ptr<Errand>;

  void run(Errand& errand);
  void await_session(const Errand& errand);
  McpLink::Exchange send(Errand& errand, const McpLink::Session& session, const std::string& event);
  bool may_send_again(const Errand& errand, const HttpResponse& response) const;
  void pass_on(Errand& errand, const std::string& line);
  void refuse(Errand& errand, const HttpResponse& response);
  void cancel(const RpcMessage& notification);
  bool is_over(const Errand& errand) const { return errand.cancelled || stopping_; }
  void forget(const Shared& errand);

  McpLink& link_;
  const std::function<void(const std::string&)> write_;
  std::mutex writing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Shared> requests_;  // Those under way, by their ids.
  std::size_t under_way_ = 0;
  std::size_t initializing_ = 0;
  std::atomic<bool> stopping_{false};
  Pool pool_;
};

}  // namespace holdpoint::cli
