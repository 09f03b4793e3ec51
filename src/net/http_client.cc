#include "net/http_client.h"

#include <cpr/cpr.h>
#include <curl/curl.h>
#include <unistd.h>

#include <unordered_map>

#include "base/clock.h"
#include "base/guarded.h"

namespace holdpoint {
namespace {

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A libcurl handle with its open connection. Used by one call at a time.
class Line {
 public:
  explicit Line(const AddressGuard& guard) : guard_(guard) {
    CURL* handle = session_.GetCurlHolder()->handle;
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &Line::open_socket);
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");            // Not even the environment's.
    curl_easy_setopt(handle, CURLOPT_COOKIEFILE, nullptr);  // cpr turns cookies on.
    session_.SetRedirect(cpr::Redirect(false));
    session_.SetWriteCallback(cpr::WriteCallback(
        [this](const std::string_view& data, intptr_t) { return receive(data); }));
    session_.SetProgressCallback(cpr::ProgressCallback(
        [this](cpr::cpr_pf_arg_t, cpr::cpr_pf_arg_t, cpr::cpr_pf_arg_t, cpr::cpr_pf_arg_t,
               intptr_t) { return !(request_->cancelled && request_->cancelled()); }));
  }
  Line(const Line&) = delete;

  HttpResponse send(const HttpRequest& request) {
    request_ = &request;
    body_.clear();
    refused_ = opened_ = too_large_ = false;
    cpr::Header headers{{"User-Agent", "holdpoint"}};
    for (const auto& [name, value] : request.headers) headers[name] = value;
    session_.SetUrl(cpr::Url(request.url));
    session_.SetHeader(headers);
    session_.SetConnectTimeout(cpr::ConnectTimeout(request.connect_timeout));
    session_.SetTimeout(cpr::Timeout(request.total_timeout));
    const cpr::Response response = perform(request);
    HttpResponse out;
    out.status = static_cast<int>(response.status_code);
    out.body = std::move(body_);
    if (too_large_) {
      out.error =
          "the response has more than " + std::to_string(request.max_response_bytes) + " bytes";
    } else if (response.error.code != cpr::ErrorCode::OK) {
      // A name may have several addresses; only if none of them would do is it the guard's doing.
      out.status = 0;
      out.unreached = response.error.code == cpr::ErrorCode::COULDNT_CONNECT ||
                      response.error.code == cpr::ErrorCode::COULDNT_RESOLVE_HOST;
      out.error = refused_ && !opened_
                      ? "the address is private; [outgoing] allow_private does not list it"
                  : response.error.message.empty() ? "the connection failed"
                                                   : response.error.message;
    }
    for (const auto& [name, value] : response.header) out.headers[in_lower_case(name)] = value;
    if (const auto it = out.headers.find("retry-after"); it != out.headers.end()) {
      out.retry_after = read_retry_after(it->second);
    }
    request_ = nullptr;
    return out;
  }

 private:
  cpr::Response perform(const HttpRequest& request) {
    if (request.method == "GET" || request.method == "DELETE") {
      // Without a body, and without the headers of an empty one: some servers refuse those.
      session_.RemoveContent();
      session_.PrepareGet();
      CURL* handle = session_.GetCurlHolder()->handle;
      if (request.method == "DELETE") curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "DELETE");
      return session_.Complete(curl_easy_perform(handle));
    }
    session_.SetBodyView(cpr::BodyView(request.body));
    return request.method == "PUT"     ? session_.Put()
           : request.method == "PATCH" ? session_.Patch()
                                       : session_.Post();
  }

  bool receive(std::string_view data) {
    if (request_->on_body && succeeded()) return request_->on_body(data);
    const std::size_t room = request_->max_response_bytes - body_.size();
    too_large_ = data.size() > room;
    body_.append(data.substr(0, room));
    return !too_large_;
  }

  bool succeeded() {
    long status = 0;
    curl_easy_getinfo(session_.GetCurlHolder()->handle, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status <= 299;
  }

  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& line = *static_cast<Line*>(self);
    if (!line.guard_.allows(address->addr)) {
      line.refused_ = true;
      return CURL_SOCKET_BAD;
    }
    line.opened_ = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  static std::optional<Duration> read_retry_after(const std::string& text) {
    if (!text.empty() && text.size() < 10 &&
        text.find_first_not_of("0123456789") == std::string::npos) {
      return std::chrono::seconds{std::stol(text)};
    }
    const time_t when = curl_getdate(text.c_str(), nullptr);
    if (when < 0) return std::nullopt;
    const auto now = SystemClock{}.now().time_since_epoch();
    return std::max<Duration>(std::chrono::seconds{when} - now, Duration{0});
  }

  const AddressGuard& guard_;
  cpr::Session session_;
  const HttpRequest* request_ = nullptr;
  std::string body_;
  bool refused_ = false;
  bool opened_ = false;
  bool too_large_ = false;
};

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(AddressGuard guard) : guard_(std::move(guard)) {}

  HttpResponse send(const HttpRequest& request) override {
    const auto host = host_of(request.url);
    if (!host) return {0, "the URL is no http or https URL", "", std::nullopt, {}};
    auto line = take(*host);
    HttpResponse response = line->send(request);
    // A line in an unclear state is not worth keeping.
    if (response.error.empty()) give_back(*host, std::move(line));
    return response;
  }

 private:
  static constexpr std::size_t kIdlePerHost = 64;
  using Idle = std::unordered_map<std::string, std::vector<std::unique_ptr<Line>>>;

  std::unique_ptr<Line> take(const std::string& host) {
    auto line = idle_.with([&](Idle& idle) -> std::unique_ptr<Line> {
      auto it = idle.find(host);
      if (it == idle.end() || it->second.empty()) return nullptr;
      auto taken = std::move(it->second.back());
      it->second.pop_back();
      return taken;
    });
    return line ? std::move(line) : std::make_unique<Line>(guard_);
  }

  void give_back(const std::string& host, std::unique_ptr<Line> line) {
    idle_.with([&](Idle& idle) {
      auto& lines = idle[host];
      if (lines.size() < kIdlePerHost) lines.push_back(std::move(line));
    });
  }

  const AddressGuard guard_;
  Guarded<Idle> idle_;
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client(AddressGuard guard) {
  return std::make_unique<CurlClient>(std::move(guard));
}

std::optional<std::string> host_of(const std::string& url) {
  const std::string lower = in_lower_case(url);
  if (!lower.starts_with("http://") && !lower.starts_with("https://")) return std::nullopt;
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return std::nullopt;
  }
  // Userinfo, escapes, zones, backslashes and other alphabets are ways to show a person one host
  // and reach another.
  const auto start = lower.find("://") + 3;
  const auto authority = lower.substr(start, lower.find_first_of("/?#", start) - start);
  if (authority.empty() || authority.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz0123456789-._:[]") != std::string::npos) {
    return std::nullopt;
  }
  // The rest is libcurl's to say, which will connect: it takes 127.1 for 127.0.0.1.
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    curl_url_get(parts.get(), which, &text, CURLU_DEFAULT_PORT);
    const std::unique_ptr<char, void (*)(void*)> owner(text, curl_free);
    return in_lower_case(text ? text : "");
  };
  const std::string host = part(CURLUPART_HOST), port = part(CURLUPART_PORT);
  if (host.empty() || port == "0") return std::nullopt;
  return host + ":" + port;
}

}  // namespace holdpoint
