#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "wire/json.h"

namespace holdpoint::cli {

// The server said no, or could not be asked. what() is for people.
class CallFailed : public std::runtime_error {
 public:
  explicit CallFailed(const std::string& what, std::string said = "", Json read = {})
      : std::runtime_error(what), text(std::move(said)), body(std::move(read)) {}

  // A Holdpoint server said so, and not whatever else is at its address.
  bool from_holdpoint() const { return body.is_object(); }
  // What the server calls it, and which member of the body it is about; empty if it says neither.
  std::string code() const;
  std::string field() const;
  // The same call may well succeed later: nobody was reached, or the server is busy or broken.
  bool passes() const { return unreachable || status == 429 || status >= 500; }

  std::string text;          // The server's error, if there is one.
  Json body;                 // The same, read.
  int status = 0;            // Of the response; 0: there was none.
  bool unreachable = false;  // There was none, although the call was good.
  std::optional<Duration> retry_after;
};

// What the server said: as it came, and read.
struct Reply {
  std::string text;
  Json body;
};

// Whoever answers API calls. Throws CallFailed for what is not a 2xx.
class Server {
 public:
  virtual ~Server() = default;
  virtual Reply get(const std::string& path, Duration longest) = 0;
  virtual Reply post(const std::string& path, const std::string& body) = 0;
  Reply get(const std::string& path) { return get(path, std::chrono::seconds{10}); }
};

// Where the server is and with which key, as HOLDPOINT_SERVER and HOLDPOINT_KEY say; empty: they
// say nothing.
struct Whereabouts {
  std::string server, key;
};
Whereabouts whereabouts();

// A reply as its status has it; throws CallFailed if that is no 2xx.
Reply check_reply(int status, std::string text, const std::string& url);

// A running server, called over HTTP.
class Client final : public Server {
 public:
  // `key`, if not empty, goes along as the credential. `cancelled`, if set, is asked now and then;
  // true ends a call that is under way.
  Client(std::string server, std::string key, std::function<bool()> cancelled = {});
  using Server::get;
  Reply get(const std::string& path, Duration longest) override;
  Reply post(const std::string& path, const std::string& body) override;
  // A stream of server-sent events, handed on piece by piece until it ends, `cancelled` says so, or
  // nothing has come for `silence`. Begins after the event `last_id`, if that is not empty.
  using OnPiece = std::function<void(std::string_view)>;
  void follow(const std::string& path, const std::string& last_id, Duration silence,
              const OnPiece& on_piece);

 private:
  Reply call(HttpRequest request);
  HttpResponse send(HttpRequest& request);

  const std::string server_;
  const std::string key_;
  const std::function<bool()> cancelled_;
  const std::unique_ptr<HttpClient> http_;
};

}  // namespace holdpoint::cli
