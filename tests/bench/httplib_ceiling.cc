#include "httplib_ceiling.h"

// With its default of 5, connecting the clients stalls in SYN retries for longer than the server
// keeps an idle connection.
#ifndef CPPHTTPLIB_LISTEN_BACKLOG
#define CPPHTTPLIB_LISTEN_BACKLOG 1024
#endif
#include <httplib.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http_message.h"
#include "load.h"

namespace holdpoint::bench {
namespace {

class BareServer {
 public:
  BareServer() {
    // A connection holds its thread, so fewer threads would starve some of the clients.
    server_.new_task_queue = [] { return new httplib::ThreadPool(kCeilingConnections); };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok", "text/plain");
    });
    endpoint_ = {"127.0.0.1", server_.bind_to_any_port("127.0.0.1")};
    if (endpoint_.port <= 0) throw std::runtime_error("cpp-httplib found no free port");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    server_.wait_until_ready();
  }
  ~BareServer() {
    server_.stop();
    thread_.join();
  }

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  httplib::Server server_;
  Endpoint endpoint_;
  std::thread thread_;
};

class GetScript : public Script {
 public:
  explicit GetScript(std::string request) : request_(std::move(request)) {}

  void stop_at(Instant end) { end_ = end; }
  long answered() const { return answered_; }

  std::optional<std::string> begin(Instant) override { return request_; }
  std::optional<std::string> on_response(const Response& response, Instant now) override {
    if (response.status != 200) throw std::runtime_error("bare cpp-httplib refused a GET");
    if (now >= end_) return std::nullopt;
    ++answered_;
    return request_;
  }
  std::optional<std::string> on_failure(const std::string& reason, Instant) override {
    throw std::runtime_error("bare cpp-httplib: " + reason);
  }

 private:
  std::string request_;
  Instant end_;
  long answered_ = 0;
};

}  // namespace

double measure_httplib(Seconds span) {
  BareServer server;
  std::vector<GetScript> clients(kCeilingConnections,
                                 GetScript(get_request(server.endpoint().text(), "/")));
  std::vector<Script*> scripts;
  for (GetScript& client : clients) scripts.push_back(&client);

  Load load({server.endpoint()}, scripts);
  const Instant end = after(span);
  for (GetScript& client : clients) client.stop_at(end);
  load.run(after(span + Seconds(30)));

  long answered = 0;
  for (const GetScript& client : clients) answered += client.answered();
  return static_cast<double>(answered) / span.count();
}

}  // namespace holdpoint::bench
