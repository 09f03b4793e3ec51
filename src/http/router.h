#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace holdpoint {

// A request as routes see it; valid while the route runs.
struct Request {
  std::string method;
  std::string path;
  std::map<std::string, std::string> parameters;  // `:name` parts of the path.
  std::multimap<std::string, std::string> query;
  std::string body;
  std::string content_type;
  std::string remote_address;
  std::function<std::string(const char* name)> header;  // Empty if it is not there.
};

// Writes of a streamed response. False: the client is gone.
using StreamWrite = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // Set: the body is written by calling this until it returns false.
  std::function<bool(const StreamWrite& write)> stream;
};

struct Route {
  std::string method;
  std::string pattern;  // `/agent/session/:id`
  std::function<Response(const Request&)> handle;
};
using Routes = std::vector<Route>;

// `{"ok":false,"error":{…}}`; an empty field is left out.
Response error_response(int status, std::string_view code, std::string_view message,
                        std::string_view field = {});

// Runs a route and turns what it throws into the right 4xx or 5xx.
Response answer_request(const Route& route, const Request& request);

// The parameters of a query, each read once; an unknown or repeated one is a BadRequest.
class Query {
 public:
  Query(const Request& request, std::initializer_list<std::string_view> known);
  std::optional<std::string> text(const char* name) const;
  // Between `least` and `most`.
  std::int64_t number(const char* name, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most) const;

 private:
  const Request& request_;
};

}  // namespace holdpoint
