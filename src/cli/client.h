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
  CallFailed(const std::string& what, Json said)
      : std::runtime_error(what), body(std::move(said)) {}
  Json body;  // The server's error, if there is one.
};

// The API of a running server.
class Client {
 public:
  explicit Client(std::string server);
  Json get(const std::string& path, Duration longest = std::chrono::seconds{10});
  Json post(const std::string& path, const std::string& body);

 private:
  Json call(HttpRequest request);

  const std::string server_;
  const std::unique_ptr<HttpClient> http_;
};

// A part of a path or query, escaped.
std::string escape(const std::string& text);

}  // namespace holdpoint::cli
