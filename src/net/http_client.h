#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "net/address_guard.h"

namespace holdpoint {

struct HttpRequest {
  std::string method = "POST";  // Or PUT, PATCH; GET and DELETE have no body.
  std::string url;
  std::map<std::string, std::string> headers;
  std::string body;
  Duration connect_timeout{5000};
  Duration total_timeout{30000};  // 0: as long as it takes.
  std::size_t max_response_bytes = 65536;
  // Asked now and then while the call is under way; true ends it.
  std::function<bool()> cancelled;
  // Set: gets the body of a 2xx piece by piece as it comes, instead of the response; false ends the
  // call.
  std::function<bool(std::string_view)> on_body;
};

struct HttpResponse {
  int status = 0;  // 0: there was none, and `error` says why.
  std::string error;
  std::string body;
  std::optional<Duration> retry_after;
  // By their names in lower case; the last of those that came more than once.
  std::map<std::string, std::string> headers{};
  bool unreached = false;  // There was no connection: the other side has seen nothing of it.
};

// Safe to share between threads. Follows no redirects and takes no proxy from the environment.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Never throws for what the network or the other side does.
  virtual HttpResponse send(const HttpRequest& request) = 0;
};

// The real one, on libcurl; connections are kept for the next call to the same host.
std::unique_ptr<HttpClient> make_http_client(AddressGuard guard);

// The `host:port` that a call to this http or https URL goes to, in lower case; nothing if it is
// none, or if its host is not plain ASCII letters, digits and an address in brackets: no userinfo,
// escapes or zones.
std::optional<std::string> host_of(const std::string& url);

}  // namespace holdpoint
