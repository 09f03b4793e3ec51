#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "net/http_client.h"
#include "wire/json.h"

namespace holdpoint::cli {

// The server said no, or could not be asked. what() is for people.
class CallFailed : public std::runtime_error {
 public:
  explicit CallFailed(const std::string& what, std::string said = "", Json read = {})
      : std::runtime_error(what), text(std::move(said)), body(std::move(read)) {}
  std::string text;  // The server's error, if there is one.
  Json body;
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

// A reply as its status has it; throws CallFailed if that is no 2xx.
Reply check_reply(int status, std::string text, const std::string& url);

// A running server, called over HTTP.
class Client final : public Server {
 public:
  // `key`, if not empty, goes along as the credential.
  Client(std::string server, std::string key);
  using Server::get;
  Reply get(const std::string& path, Duration longest) override;
  Reply post(const std::string& path, const std::string& body) override;

 private:
  Reply call(HttpRequest request);

  const std::string server_;
  const std::string key_;
  const std::unique_ptr<HttpClient> http_;
};

}  // namespace holdpoint::cli
