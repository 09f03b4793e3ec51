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

// The API of a running server.
class Client {
 public:
  explicit Client(std::string server);
  Reply get(const std::string& path, Duration longest = std::chrono::seconds{10});
  Reply post(const std::string& path, const std::string& body);

 private:
  Reply call(HttpRequest request);

  const std::string server_;
  const std::unique_ptr<HttpClient> http_;
};

// A part of a path or query, escaped.
std::string escape(const std::string& text);

}  // namespace holdpoint::cli
