#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/text.h"
#include "http/router.h"
#include "wire/form.h"

namespace holdpoint::test {

// A request as a test writes it down, and what routes answer to it without a server.
struct Call {
  std::string method = "GET";
  std::string target = "/";  // With the query.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string peer = "127.0.0.1";
  bool tls = false;

  Call& with(const std::string& name, const std::string& value) {
    headers.emplace_back(name, value);
    return *this;
  }
  Call& form(const std::vector<std::pair<std::string, std::string>>& fields) {
    for (const auto& [name, value] : fields) {
      body += (body.empty() ? "" : "&") + escape_url(name) + "=" + escape_url(value);
    }
    return with("Content-Type", "application/x-www-form-urlencoded");
  }
  Call& json(const std::string& text) {
    body = text;
    return with("Content-Type", "application/json");
  }
};

inline Call get(const std::string& target) { return Call{"GET", target, {}, "", "127.0.0.1"}; }
inline Call post(const std::string& target) { return Call{"POST", target, {}, "", "127.0.0.1"}; }

// As a server hands it over, broken UTF-8 and all.
inline std::multimap<std::string, std::string> read_query(std::string_view text) {
  const auto decode = [](std::string_view part) {
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '%') {
        out += part[i] == '+' ? ' ' : part[i];
        continue;
      }
      out += static_cast<char>(std::stoi(std::string(part.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    }
    return out;
  };
  std::multimap<std::string, std::string> query;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find('&'));
    const auto equals = std::min(pair.find('='), pair.size());
    query.emplace(decode(pair.substr(0, equals)),
                  decode(pair.substr(std::min(equals + 1, pair.size()))));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return query;
}

// Refers to the call's headers.
inline Request request_of(const Call& call) {
  Request request;
  request.method = call.method;
  request.path = call.target.substr(0, call.target.find('?'));
  if (const auto query = call.target.find('?'); query != std::string::npos) {
    request.query = read_query(call.target.substr(query + 1));
  }
  request.body = call.body;
  request.peer = call.peer;
  request.tls = call.tls;
  request.headers = &call.headers;
  request.content_type = request.header("Content-Type");
  return request;
}

// The `:name` parts of a path that fits the pattern; nothing if it does not.
inline std::optional<std::map<std::string, std::string>> fit(std::string_view pattern,
                                                             std::string_view path) {
  std::map<std::string, std::string> parameters;
  while (!pattern.empty() && !path.empty()) {
    const auto part = pattern.substr(1, pattern.find('/', 1) - 1);
    const auto given = path.substr(1, path.find('/', 1) - 1);
    if (part.starts_with(':')) {
      parameters.emplace(part.substr(1), given);
    } else if (part != given) {
      return std::nullopt;
    }
    pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
    path.remove_prefix(std::min(path.size(), given.size() + 1));
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return parameters;
}

// What the route that fits answers; 404 if none does.
inline Response answer_call(const Routes& routes, const Call& call) {
  Request request = request_of(call);
  for (const auto& route : routes) {
    const bool method =
        route.method == call.method || (route.method == "GET" && call.method == "HEAD");
    if (!method) continue;
    if (auto parameters = fit(route.pattern, request.path)) {
      request.parameters = std::move(*parameters);
      return answer_request(route, request);
    }
  }
  return error_response(404, "no_route", call.method + " " + call.target);
}

inline std::string header_of(const Response& response, const std::string& name) {
  for (const auto& [n, value] : response.headers) {
    if (n == name) return value;
  }
  return "";
}

}  // namespace holdpoint::test
