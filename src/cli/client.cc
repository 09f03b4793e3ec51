#include "cli/client.h"

namespace holdpoint::cli {
namespace {

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

// People name the server themselves, so any address will do.
Client::Client(std::string server)
    : server_(without_slash(std::move(server))),
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
  if (!host_of(request.url)) {
    throw CallFailed("--server must be a URL like http://127.0.0.1:8080, not " + server_);
  }
  HttpResponse response = http_->send(request);
  if (response.status == 0 || !response.error.empty()) {
    throw CallFailed("cannot reach " + server_ + ": " + response.error +
                     " (is `holdpoint serve` running? --server or HOLDPOINT_SERVER says where)");
  }
  Json body = Json::parse(response.body, nullptr, false);
  if (!body.is_object()) {
    throw CallFailed(request.url + " answered HTTP " + std::to_string(response.status) +
                     " without JSON; is this a Holdpoint server?");
  }
  if (response.status < 200 || response.status > 299) {
    const Json error = body.value("error", Json::object());
    std::string message = error.value("message", "HTTP " + std::to_string(response.status));
    if (error.value("code", "") == "unknown_path") message += ": " + request.url;
    throw CallFailed(message, response.body, std::move(body));
  }
  return {std::move(response.body), std::move(body)};
}

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      constexpr char hex[] = "0123456789ABCDEF";
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

}  // namespace holdpoint::cli
