#include "cli/client.h"

namespace holdpoint::cli {
namespace {

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

// People name the server themselves, so any address will do.
Client::Client(std::string server, std::string key)
    : server_(without_slash(std::move(server))),
      key_(std::move(key)),
      http_(make_http_client(AddressGuard({"0.0.0.0/0", "::/0"}))) {}

Reply Client::get(const std::string& path, Duration longest) {
  HttpRequest request;
  request.method = "GET";
  request.url = server_ + path;
  request.total_timeout = longest + std::chrono::seconds{10};
  return call(std::move(request));
}

Reply Client::post(const std::string& path, const std::string& body) {
  HttpRequest request;
  request.url = server_ + path;
  request.body = body;
  request.headers = {{"Content-Type", "application/json"}};
  return call(std::move(request));
}

Reply Client::call(HttpRequest request) {
  request.max_response_bytes = std::size_t{256} << 20;
  if (!key_.empty()) request.headers["Authorization"] = "Bearer " + key_;
  if (!host_of(request.url)) {
    throw CallFailed("--server must be a URL like http://127.0.0.1:8080, not " + server_);
  }
  HttpResponse response = http_->send(request);
  if (response.status == 0 || !response.error.empty()) {
    throw CallFailed("cannot reach " + server_ + ": " + response.error +
                     " (is `holdpoint serve` running? --server or HOLDPOINT_SERVER says where)");
  }
  return check_reply(response.status, std::move(response.body), request.url);
}

Reply check_reply(int status, std::string text, const std::string& url) {
  Json body = try_json(text);
  if (!body.is_object()) {
    throw CallFailed(url + " answered HTTP " + std::to_string(status) +
                     " without JSON; is this a Holdpoint server?");
  }
  if (status < 200 || status > 299) {
    const Json error = body.value("error", Json::object());
    std::string message = error.value("message", "HTTP " + std::to_string(status));
    const std::string code = error.value("code", "");
    if (code == "unknown_path") message += ": " + url;
    if (code == "unauthenticated") {
      message =
          "the server wants a key: put hp_… into HOLDPOINT_KEY (made by `holdpoint keys "
          "create`)";
    }
    throw CallFailed(message, text, std::move(body));
  }
  return {std::move(text), std::move(body)};
}

}  // namespace holdpoint::cli
