#include "http/server.h"

#include <set>

#include "base/log.h"
#include "base/loop.h"
#include "domain/text.h"
#include "http/connection.h"
#include "http/peers.h"
#include "http/security_headers.h"
#include "http/tls.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// Connections over the limit of their address that still get an answer; more are just closed.
constexpr std::size_t kTurnedAway = 32;
constexpr Duration kTurnAwayHandshake = 1s;

// Of bodies that are not small, received and sent, all together.
constexpr std::size_t kLargeBodies = std::size_t{64} << 20;
constexpr const char* kTooLarge = "the body is larger than [limits] max_body_bytes";

static_assert(CPPHTTPLIB_HEADER_MAX_COUNT >= HttpServer::kMostHeaders);

// What this thread serves: the library's handlers have no other way to it.
thread_local Connection* serving = nullptr;

// Hands each connection over where it was accepted. Its thread comes later, from our own pool, once
// it is clear that it may have one.
class AtOnce final : public httplib::TaskQueue {
 public:
  explicit AtOnce(Pool& pool) : pool_(pool) {}
  bool enqueue(std::function<void()> job) override {
    job();
    return true;
  }
  void shutdown() override { pool_.stop(); }

 private:
  Pool& pool_;
};

// In small letters, without parameters.
std::string media_type(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return lower_case(std::string(type));
}

bool is_json(const std::string& type) {
  return type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

// As the library matches: `:name` stands for one part of the path.
bool matches(std::string_view pattern, std::string_view path) {
  while (true) {
    const auto part = pattern.substr(0, pattern.find('/'));
    const auto value = path.substr(0, path.find('/'));
    if (part.starts_with(':') ? value.empty() : part != value) return false;
    if (part.size() == pattern.size() || value.size() == path.size()) {
      return part.size() == pattern.size() && value.size() == path.size();
    }
    pattern.remove_prefix(part.size() + 1);
    path.remove_prefix(value.size() + 1);
  }
}

ssize_t write_head(httplib::Stream& out, const httplib::Headers& headers) {
  std::string head;
  head.reserve(1024);
  for (const auto& [name, value] : headers) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  append_security_headers(head, serving->is_secure(),
                          [&](const std::string& name) { return headers.count(name) > 0; });
  head.append("\r\n");
  return out.write(head.data(), head.size());
}

Response standard_error(int status) {
  switch (status) {
    case 400:
      return error_response(400, "bad_request", "the request is not valid HTTP");
    case 404:
      return error_response(404, "unknown_path", "there is nothing at this path");
    case 413:
      return error_response(413, "too_large", kTooLarge, "body");
    case 414:
      return error_response(414, "uri_too_long", "the path has more than 8192 bytes");
    case 415:
      return error_response(415, "unsupported_type",
                            "send the body as application/json, without Content-Encoding");
    default:
      return error_response(status, "refused", httplib::status_message(status));
  }
}

void apply(Response&& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  if (!from.stream) {
    to.set_content(std::move(from.body), from.content_type);
    return;
  }
  to.set_chunked_content_provider(
      from.content_type, [stream = std::move(from.stream)](size_t, httplib::DataSink& sink) {
        const bool more =
            stream([&](std::string_view text) { return sink.write(text.data(), text.size()); });
        if (!more) sink.done();
        return true;
      });
}

}  // namespace

class HttpServer::Listener final : public httplib::Server {
 public:
  explicit Listener(HttpServer::Options options)
      : options_(std::move(options)),
        tls_(options_.tls_cert.empty() && options_.tls_key.empty()
                 ? nullptr
                 : std::make_unique<TlsContext>(options_.tls_cert, options_.tls_key)),
        pool_("hp-http", options_.max_threads, 1024) {
    new_task_queue = [this] { return new AtOnce(pool_); };
    set_tcp_nodelay(true);
    set_payload_max_length(options_.max_body_bytes);
    set_keep_alive_max_count(1'000'000);
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(kIdle).count());
    // SO_REUSEPORT, which the library would set, lets a second server steal half of the
    // connections.
    set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_header_writer(write_head);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      auto refusal = refuse(request);
      if (!refusal) return HandlerResponse::Unhandled;
      count_refusal(options_, "refused", refusal->status);
      apply(std::move(*refusal), response);
      return HandlerResponse::Handled;
    });
    set_expect_100_continue_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (!too_large(request)) return 100;
          serving->refuse({413, "too_large", kTooLarge, "body"});
          response.status = 413;  // The library writes it all the same, into nothing.
          return 413;
        });
    set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      // The library closes after every error; one that a route answered leaves nothing unread.
      const bool routed = !request.matched_route.empty() && serving->request_complete() &&
                          !stopping_ && request.version == "HTTP/1.1" &&
                          !serving->guard().wants_close();
      if (routed) response.headers.erase("Connection");
    });
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return HandlerResponse::Unhandled;
      if (serving->is_refused()) return HandlerResponse::Unhandled;  // And answered.
      static const std::set<std::string> methods{"GET",   "HEAD",   "POST",   "PUT",
                                                 "PATCH", "DELETE", "OPTIONS"};
      const bool odd =
          response.status == 400 && !request.method.empty() && !methods.count(request.method);
      const int status = odd ? 501 : response.status;
      count_refusal(options_, "none", status);
      apply(odd ? error_response(501, "unknown_method",
                                 "there is no method " + shorten(request.method, 20) +
                                     "; names are in capitals, like GET")
                : standard_error(status),
            response);
      return HandlerResponse::Handled;
    });
  }

  bool run(Routes routes) {
    routes_ = std::move(routes);
    for (const auto& route : routes_) add(route);
    refuse_other_methods();
    listen_after_bind();
    return stopping_;
  }

  const HttpServer::Options& options() const { return options_; }
  TlsContext* tls() { return tls_.get(); }
  Pool& pool() { return pool_; }
  void begin_stop() {
    stopping_ = true;
    stop();
  }

 private:
  // On the accepting thread, by way of AtOnce: so it may not wait.
  bool process_and_close_socket(socket_t socket) override {
    const Peer peer = peer_of(socket);
    const bool counted = !options_.exempt || !options_.exempt(peer.address);
    const std::size_t number = counted ? open_.enter(peer.group) : 0;
    const std::size_t most = options_.max_connections_per_address;
    const bool answered = number <= most + kTurnedAway;
    if (!answered) count_refusal(options_, "refused", 429);
    const auto talk = [this, socket, peer, counted, welcome = number <= most] {
      converse(socket, peer, welcome);
      if (counted) open_.leave(peer.group);
    };
    if (answered && pool_.submit(talk)) return true;
    httplib::detail::shutdown_socket(socket);
    httplib::detail::close_socket(socket);
    if (counted) open_.leave(peer.group);
    return false;
  }

  void converse(int socket, const Peer& peer, bool welcome) {
    Connection connection(socket, tls_ ? tls_->new_session(socket) : nullptr, options_, budget_);
    if (tls_ && !connection.is_secure()) return;
    serving = &connection;
    if (welcome) {
      serve(connection, peer);
    } else {
      turn_away(connection);
    }
    serving = nullptr;
  }

  void serve(Connection& connection, const Peer& peer) {
    bool ok = connection.open(options_.head_deadline, stopping_);
    while (ok && connection.await_request(stopping_)) {
      connection.begin_request();
      bool closed = false;
      ok = process_request(
          connection, peer.address, peer.port, {}, 0, stopping_, closed,
          [&connection](httplib::Request& request) {
            request.headers.clear();
            for (const auto& [name, value] : connection.guard().headers()) {
              request.headers.emplace(name, value);
            }
            // Neither header means no body; the library would wait for one.
            if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
              request.headers.emplace("Content-Length", "0");
            }
            // Nothing here is served in parts, least of all what a POST did.
            request.headers.erase("Range");
            request.ranges.clear();
          });
      ok = connection.end_request() && ok && !closed && !stopping_;
    }
    connection.linger();
  }

  void turn_away(Connection& connection) {
    if (!connection.open(kTurnAwayHandshake, stopping_)) return;
    connection.refuse({429, "too_many_connections",
                       "your address has more connections open than [limits] "
                       "max_connections_per_address; close some",
                       ""},
                      "Retry-After: 1\r\n");
    connection.linger();
  }

  Response too_busy() const {
    if (options_.on_refused) options_.on_refused("too_busy");
    Response response = error_response(
        503, "too_busy", "too many large bodies are under way; nothing was done. Try again");
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }

  bool too_large(const httplib::Request& request) const {
    return request.get_header_value_u64("Content-Length", 0) > options_.max_body_bytes;
  }

  std::optional<Response> refuse(const httplib::Request& request) const {
    if (too_large(request)) return standard_error(413);
    const bool has_body = request.has_header("Transfer-Encoding") ||
                          request.get_header_value_u64("Content-Length", 0) > 0;
    if (!has_body || !request.has_header("Content-Type")) return std::nullopt;
    const std::string type = request.get_header_value("Content-Type");
    const std::string media = media_type(type);
    if (is_json(media)) return std::nullopt;
    constexpr const char* kForm = "application/x-www-form-urlencoded";
    const Route* route = form_route(request);
    if (route && (route->any_type || media == kForm)) return std::nullopt;
    return error_response(415, "unsupported_type",
                          "the body came as " + shorten(type, 60) +
                              "; send it with the header Content-Type: " +
                              (route && route->page ? kForm : "application/json"),
                          "Content-Type");
  }

  // The route that takes this request as more than JSON; null if none does.
  const Route* form_route(const httplib::Request& request) const {
    const auto it = std::find_if(routes_.begin(), routes_.end(), [&](const Route& route) {
      return (route.takes_form || route.any_type) && route.method == request.method &&
             matches(route.pattern, request.path);
    });
    return it == routes_.end() ? nullptr : &*it;
  }

  void add(const Route& route) {
    const auto without_body = [this, &route](const httplib::Request& from, httplib::Response& to) {
      answer(route, from, {}, to);
    };
    if (route.method == "GET") {
      Get(route.pattern, without_body);
      return;
    }
    if (route.method == "DELETE") {
      Delete(route.pattern, without_body);
      return;
    }
    // With a reader of our own: the library would take forms apart, and only small ones.
    Post(route.pattern, [this, &route](const httplib::Request& from, httplib::Response& to,
                                       const httplib::ContentReader& read) {
      const std::size_t length = from.get_header_value_u64("Content-Length", 0);
      // The library takes bodies of this type apart itself, reader or not: it must not know. The
      // request is its own variable, const only for us.
      if (route.any_type) const_cast<httplib::Headers&>(from.headers).erase("Content-Type");
      // Chunks come without a length: their room is taken when they turn out to be large.
      std::size_t room = std::max(length, ByteBudget::kFree);
      bool busy = !serving->share().take(length);
      if (busy) return apply(too_busy(), to);
      std::string body;
      body.reserve(length);
      const bool arrived = read([&](const char* bytes, size_t size) {
        if (body.size() + size > room) {
          room = options_.max_body_bytes;
          busy = !serving->share().take(room);
        }
        if (!busy) body.append(bytes, size);
        return !busy;
      });
      if (busy) return apply(too_busy(), to);
      // What else went wrong is in the response's status.
      if (arrived) answer(route, from, std::move(body), to);
    });
  }

  void answer(const Route& route, const httplib::Request& from, std::string body,
              httplib::Response& to) {
    Request request;
    request.method = from.method;
    request.path = from.path;
    for (const auto& [name, value] : from.path_params) {
      if (value.empty()) return apply(standard_error(404), to);
      request.parameters[name] = value;
    }
    for (const auto& [name, value] : from.params) request.query.emplace(name, value);
    request.body = std::move(body);
    request.peer = from.remote_addr;
    request.tls = serving->is_secure();
    request.headers = &serving->guard().headers();
    request.content_type = request.header("Content-Type");
    Response response = answer_request(route, request);
    // What a POST did is done: its answer goes out in any case.
    if (route.method == "GET" && !serving->share().take(response.body.capacity())) {
      response = too_busy();
    }
    if (options_.on_request) options_.on_request(route.pattern, response.status);
    apply(std::move(response), to);
  }

  void refuse_other_methods() {
    std::map<std::string, std::set<std::string>> methods;
    for (const auto& route : routes_) methods[route.pattern].insert(route.method);
    for (const auto& [pattern, known] : methods) {
      std::string allow = known.count("GET") ? "GET, HEAD" : "";
      for (const char* method : {"POST", "DELETE"}) {
        if (known.count(method)) allow += (allow.empty() ? "" : ", ") + std::string(method);
      }
      const auto refuse_method = [this, allow](const httplib::Request& from,
                                               httplib::Response& to) {
        Response response = error_response(
            405, "method_not_allowed", from.method + " is not for this path; allowed: " + allow);
        response.headers.emplace_back("Allow", allow);
        if (options_.on_request) options_.on_request("none", 405);
        apply(std::move(response), to);
      };
      if (!known.count("GET")) Get(pattern, refuse_method);
      if (!known.count("POST")) Post(pattern, refuse_method);
      Put(pattern, refuse_method);
      Patch(pattern, refuse_method);
      if (!known.count("DELETE")) Delete(pattern, refuse_method);
      Options(pattern, refuse_method);
    }
  }

  const HttpServer::Options options_;
  const std::unique_ptr<TlsContext> tls_;
  OpenConnections open_;
  ByteBudget budget_{kLargeBodies};
  Routes routes_;
  Pool pool_;
  std::atomic<bool> stopping_{false};
};

HttpServer::HttpServer(Options options)
    : listener_(std::make_unique<Listener>(std::move(options))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::bind() {
  const std::string& listen = listener_->options().listen;
  const auto colon = listen.rfind(':');
  const std::string host = listen.substr(0, colon);
  const int port = colon == std::string::npos ? 8080 : std::stoi(listen.substr(colon + 1));
  const std::string bare = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  if (port == 0) {
    const int got = listener_->bind_to_any_port(bare);
    if (got > 0) return host + ":" + std::to_string(got);
  } else if (listener_->bind_to_port(bare, port)) {
    return host + ":" + std::to_string(port);
  }
  throw std::runtime_error("cannot listen on " + listen +
                           ": the address is in use or not this machine's ([server] listen)");
}

bool HttpServer::run(Routes routes) { return listener_->run(std::move(routes)); }
void HttpServer::stop() { listener_->begin_stop(); }
void HttpServer::reload_tls() {
  if (listener_->tls()) listener_->tls()->reload();
}
std::size_t HttpServer::threads() const { return listener_->pool().threads(); }

}  // namespace holdpoint
