#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "domain/access.h"

namespace holdpoint {

// A request as routes see it; valid while the route runs.
struct Request {
  std::string method;
  std::string path;
  std::map<std::string, std::string> parameters;  // `:name` parts of the path.
  std::multimap<std::string, std::string> query;
  std::string body;
  std::string content_type;
  std::string peer;  // The address at the connection's far end.
  // As they were sent, in their order, with names in any case.
  const std::vector<std::pair<std::string, std::string>>* headers = nullptr;
  bool tls = false;

  // The first of that name; empty if it is not there.
  std::string header(std::string_view name) const;
  std::size_t header_count(std::string_view name) const;
  // All of that name as one list, as HTTP has it.
  std::string joined_header(std::string_view name) const;

  // What the gate found out.
  std::string address;  // The client's; another than the peer's behind a trusted proxy.
  Caller caller;
  bool secure = false;             // The client's own connection is encrypted.
  std::string nonce_subject;       // What forms for this caller are made for.
  std::function<bool()> still_in;  // Whether they would be let in again; for answers without end.

  Actor actor() const { return caller.actor(address); }
  bool is_form() const;
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

// What a caller must hold to use a route.
struct Needs {
  enum class Kind { nothing, scope, own_check };
  Kind kind = Kind::nothing;
  std::vector<std::string> any_of;  // Scopes of which one will do.
};
Needs nothing();
Needs scope(std::string name);
Needs any_of(std::vector<std::string> names);
// The route looks at `request.caller` itself.
Needs own_check();

struct Route {
  std::string method;
  std::string pattern;  // `/agent/session/:id`
  Needs needs;
  std::function<Response(Request&)> handle;
  bool page = false;        // For people: errors are pages, and who is not logged in is sent there.
  bool takes_form = false;  // Besides JSON.
  bool any_type = false;    // Whatever it says it is: the route looks for itself.
};
using Routes = std::vector<Route>;

// Whether its errors are pages: a form comes from one, whatever else the route takes.
bool is_for_people(const Route& route, const Request& request);

// `{"ok":false,"error":{…}}`; an empty field is left out.
Response error_response(int status, std::string_view code, std::string_view message,
                        std::string_view field = {});
// 403, naming what is missing.
Response missing_scope(const std::vector<std::string>& any_of);
Response not_authenticated();

// Runs a route and turns what it throws into the right 4xx or 5xx.
Response answer_request(const Route& route, Request& request);

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
