#include "cli/client.h"

#include <cstdlib>

namespace holdpoint::cli {
namespace {

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string error_member(const Json& body, const char* name) {
  if (!body.is_object() || !body.contains("error") || !body["error"].is_object()) return "";
  const Json found = body["error"].value(name, Json());
  return found.is_string() ? found.get<std::string>() : "";
}

}  // namespace

std::string CallFailed::code() const { return error_member(body, "code"); }

std::string CallFailed::field() const { return error_member(body, "field"); }

Whereabouts whereabouts() {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  return {text("HOLDPOINT_SERVER"), text("HOLDPOINT_KEY")};
}

// People name the server themselves, so any address will do.
Client::Client(std::string server, std::string key, std::function<bool()> cancelled)
    : server_(without_slash(std::move(server))),
      key_(std::move(key)),
      cancelled_(std::move(cancelled)),
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

void Client::follow(const std::string& path, const std::string& last_id, Duration silence,
                    const OnPiece& on_piece) {
  using Steady = std::chrono::steady_clock;
  auto heard = Steady::now();
  HttpRequest request;
  request.method = "GET";
  request.url = server_ + path;
  request.total_timeout = Duration{0};
  request.headers = {{"Accept", "text/event-stream"}};
  if (!last_id.empty()) request.headers["Last-Event-ID"] = last_id;
  // Both are called by the thread that sends.
  request.cancelled = [&] {
    return (cancelled_ && cancelled_()) || Steady::now() - heard > silence;
  };
  request.on_body = [&](std::string_view piece) {
    heard = Steady::now();
    on_piece(piece);
    return true;
  };
  HttpResponse response = send(request);
  if (response.status < 200 || response.status > 299) {
    check_reply(response.status, std::move(response.body), request.url);
  }
}

HttpResponse Client::send(HttpRequest& request) {
  request.max_response_bytes = std::size_t{256} << 20;
  if (!request.cancelled) request.cancelled = cancelled_;
  if (!key_.empty()) request.headers["Authorization"] = "Bearer " + key_;
  if (!host_of(request.url)) {
    throw CallFailed("--server must be a URL like http://127.0.0.1:8080, not " + server_);
  }
  HttpResponse response = http_->send(request);
  if (response.status == 0 || !response.error.empty()) {
    CallFailed failed("cannot reach " + server_ + ": " + response.error +
                      " (is `holdpoint serve` running? --server or HOLDPOINT_SERVER says where)");
    failed.unreachable = response.status == 0;
    throw failed;
  }
  return response;
}

Reply Client::call(HttpRequest request) {
  HttpResponse response = send(request);
  try {
    return check_reply(response.status, std::move(response.body), request.url);
  } catch (CallFailed& failed) {
    failed.retry_after = response.retry_after;
    throw;
  }
}

Reply check_reply(int status, std::string text, const std::string& url) {
  Json body = try_json(text);
  const bool good = status >= 200 && status <= 299;
  if (!body.is_object() || (!good && error_member(body, "code").empty())) {
    CallFailed failed(url + " answered HTTP " + std::to_string(status) +
                      (body.is_object() ? " without an error of ours" : " without JSON") +
                      "; is this a Holdpoint server?");
    failed.status = status;
    throw failed;
  }
  if (good) return {std::move(text), std::move(body)};
  std::string message = error_member(body, "message");
  const std::string code = error_member(body, "code");
  if (message.empty()) message = "HTTP " + std::to_string(status);
  if (code == "unknown_path") message += ": " + url;
  if (code == "unauthenticated") {
    message =
        "the server wants a key: put hp_… into HOLDPOINT_KEY (made by `holdpoint keys "
        "create`)";
  }
  CallFailed failed(message, text, std::move(body));
  failed.status = status;
  throw failed;
}

}  // namespace holdpoint::cli
