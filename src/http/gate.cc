#include "http/gate.h"

#include <algorithm>
#include <array>

#include "domain/text.h"
#include "http/html.h"
#include "wire/digest.h"
#include "wire/form.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCookie = "holdpoint";
constexpr const char* kSecureCookie = "__Host-holdpoint";

std::string trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

// The host of `host[:port]`, brackets and all; empty if it is none.
std::string host_part(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return "";
  const auto end = std::min(authority.find_first_of(":]", bracket + 1), authority.size());
  const std::string_view port = authority.substr(end);
  const bool is_port =
      port.empty() ||
      (port.front() == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  const bool whole = bracket == 0 || end == bracket + 1;
  return is_port && whole ? std::string(authority.substr(0, end)) : "";
}

std::string authority_of(const std::string& url) {
  const auto start = url.find("://");
  if (start == std::string::npos) return "";
  return url.substr(start + 3, url.find('/', start + 3) - start - 3);
}

bool is_loopback_name(const std::string& host) {
  static const AddressRanges loopback({"127.0.0.0/8"});
  return host == "localhost" || host == "[::1]" || loopback.hold(host);
}

bool changes_something(const Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

Response too_many(Duration wait, const char* what) {
  Response response = error_response(429, "too_many_requests", what);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  response.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(seconds, 1)));
  return response;
}

// The page that was asked for, as the login leads back to it. What an answer link holds stays out
// of addresses that others may see.
std::string way_back(const Route& route, const Request& request) {
  std::string target = request.path;
  if (route.needs.kind != Needs::Kind::scope) return target;
  for (const auto& [name, value] : request.query) {
    target += (target.size() == request.path.size() ? "?" : "&") + escape_url(name) + "=" +
              escape_url(value);
  }
  return target;
}

// The same refusal for people: a page, or the way to the login.
Response for_people(const Route& route, const Request& request, Response error) {
  if (error.status == 401 && !changes_something(request)) {
    return redirect_to("/login?next=" + escape_url(way_back(route, request)));
  }
  const char* text = error.status == 401   ? "Log in first; what you sent was not taken."
                     : error.status == 403 ? "You may not do that here."
                                           : "Too many attempts. Wait a moment and try again.";
  Response page = message_page(error.status, "That did not work", text);
  for (auto& header : error.headers) {
    if (header.first == "Retry-After") page.headers.push_back(std::move(header));
  }
  return page;
}

}  // namespace

Gate::Gate(const Clock& clock, Credentials& credentials, Keys& keys, People& people,
           FormNonce nonce, Options options)
    : clock_(clock),
      credentials_(credentials),
      keys_(keys),
      people_(people),
      nonce_(std::move(nonce)),
      options_(std::move(options)),
      per_key_(options_.requests_per_key, 1s),
      wrong_(options_.wrong_credentials, 60s) {}

Routes Gate::guard(Routes routes) {
  for (auto& route : routes) {
    route.handle = [this, inner = route](Request& request) {
      auto refusal =
          inner.needs.kind == Needs::Kind::nothing ? greet(request) : admit(inner, request);
      if (!refusal) return inner.handle(request);
      return is_for_people(inner, request) ? for_people(inner, request, std::move(*refusal))
                                           : std::move(*refusal);
    };
  }
  return routes;
}

std::optional<Response> Gate::enter(Request& request) {
  look_behind_proxy(request);
  if (!options_.loopback || credentials_.ever(clock_.now())) return std::nullopt;
  if (auto refusal = check_open(request)) return refusal;
  request.caller.kind = Caller::Kind::open;
  request.nonce_subject = "open";
  request.still_in = [this] { return !credentials_.ever(clock_.now()); };
  return std::nullopt;
}

// A route that needs nothing is there for a wrong credential too, and while the store is down.
std::optional<Response> Gate::greet(Request& request) {
  try {
    if (auto refusal = enter(request)) return refusal;
    identify(request);
  } catch (const StoreError&) {
  }
  return std::nullopt;
}

std::optional<Response> Gate::admit(const Route& route, Request& request) {
  if (auto refusal = enter(request)) return refusal;
  if (auto refusal = identify(request)) return refusal;
  const bool ambient = request.caller.kind == Caller::Kind::user ||
                       (request.caller.kind == Caller::Kind::open && request.is_form());
  // A form that a route checks by itself brings a nonce that this caller's is not.
  const bool own_form = route.needs.kind == Needs::Kind::own_check &&
                        (route.any_type || (route.takes_form && request.is_form()));
  if (ambient && !own_form && changes_something(request)) {
    if (auto refusal = check_ambient(request)) return refusal;
  }
  if (route.needs.kind != Needs::Kind::scope) return std::nullopt;
  return refuse_unless(request, route.needs.any_of);
}

std::optional<Response> Gate::refuse_unless(const Request& request,
                                            const std::vector<std::string>& any_of) const {
  if (request.caller.kind == Caller::Kind::nobody) {
    return refuse("unauthenticated", not_authenticated());
  }
  const bool may = std::any_of(any_of.begin(), any_of.end(),
                               [&](const auto& name) { return request.caller.may(name); });
  if (!may) return refuse("forbidden", missing_scope(any_of));
  return std::nullopt;
}

void Gate::look_behind_proxy(Request& request) const {
  request.address = request.peer;
  request.secure = request.tls;
  if (!options_.trusted_proxies.hold(request.peer)) return;
  request.secure = request.secure || lower_case(request.header("X-Forwarded-Proto")) == "https";
  // Each proxy adds the address it saw at the right: the first that is no proxy of ours is the
  // client's. What stands left of it is the client's own invention.
  const std::string forwarded = request.joined_header("X-Forwarded-For");
  for (std::string_view chain = forwarded; !chain.empty();) {
    const auto comma = chain.rfind(',');
    const std::string hop = trim(comma == std::string_view::npos ? chain : chain.substr(comma + 1));
    if (!is_address(hop)) return;
    request.address = hop;
    if (!options_.trusted_proxies.hold(hop)) return;
    chain = comma == std::string_view::npos ? std::string_view{} : chain.substr(0, comma);
  }
}

bool Gate::is_known_host(const Request& request) const {
  const std::string host = lower_case(host_part(request.header("Host")));
  const std::string ours = lower_case(host_part(authority_of(options_.public_url)));
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  return is_loopback_name(host) || (!ours.empty() && host == ours) ||
         is_address(bracketed ? host.substr(1, host.size() - 2) : host);
}

std::optional<Response> Gate::check_open(const Request& request) const {
  const std::string host = lower_case(host_part(request.header("Host")));
  const std::string ours = lower_case(host_part(authority_of(options_.public_url)));
  if (!is_loopback_name(host) && (ours.empty() || host != ours)) {
    return refuse("foreign_host",
                  error_response(403, "foreign_host",
                                 "this server has no credentials and serves this machine only: "
                                 "call it as localhost, or set [server] public_url",
                                 "Host"));
  }
  if (!from_our_page(request)) {
    return refuse("foreign_origin",
                  error_response(403, "foreign_origin",
                                 "a page of another site may not use this server", "Origin"));
  }
  constexpr std::array<std::string_view, 6> marks{
      "X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"};
  if (std::any_of(marks.begin(), marks.end(),
                  [&](std::string_view mark) { return request.header_count(mark) > 0; })) {
    return refuse("forwarded",
                  error_response(403, "forwarded",
                                 "this request came through a proxy, and this server has no "
                                 "credentials: anybody could use it. Make one with `holdpoint "
                                 "users add` or `holdpoint keys create`"));
  }
  return std::nullopt;
}

std::optional<Response> Gate::identify(Request& request) {
  const Time now = clock_.now();
  const std::string authorization = request.header("Authorization");
  constexpr std::string_view bearer = "bearer ";
  const bool has_bearer = lower_case(authorization.substr(0, bearer.size())) == bearer;
  const std::string token = has_bearer ? trim(authorization.substr(bearer.size())) : "";
  // Other bearer tokens are an agent's own secret, and its route's to judge.
  if (token.starts_with("hp_")) {
    auto caller = keys_.authenticate(token, request.address, now);
    if (!caller || request.header_count("Authorization") > 1) {
      if (auto refusal = note_wrong(request)) return refusal;
      return refuse("wrong_key", not_authenticated());
    }
    if (const auto wait = per_key_.take(caller->id, now)) {
      return refuse("requests_per_key", too_many(*wait, "this key sends too many requests"));
    }
    request.caller = std::move(*caller);
    request.still_in = [this, token, address = request.address] {
      return keys_.authenticate(token, address, clock_.now()).has_value();
    };
    return std::nullopt;
  }
  if (!options_.proxy_user_header.empty() && options_.trusted_proxies.hold(request.peer) &&
      request.header_count(options_.proxy_user_header) == 1) {
    auto caller = people_.vouched_for(request.header(options_.proxy_user_header));
    if (caller) {
      request.caller = std::move(*caller);
      request.nonce_subject = "user:" + request.caller.id;
      request.still_in = [this, name = request.caller.id] {
        return people_.vouched_for(name).has_value();
      };
      return std::nullopt;
    }
  }
  if (const std::string cookie = cookie_of(request); !cookie.empty()) {
    if (auto caller = people_.authenticate(cookie, now)) {
      request.caller = std::move(*caller);
      request.nonce_subject = "login:" + sha256_hex(cookie);
      request.still_in = [this, cookie] {
        return people_.authenticate(cookie, clock_.now()).has_value();
      };
    }
  }
  return std::nullopt;
}

// A browser sends cookies, and a proxy its header, for any page that makes it call us. So a change
// needs proof that a page of ours made it. JSON from this machine's own programs comes without: a
// foreign page cannot send it unasked, and its Origin was checked.
std::optional<Response> Gate::check_ambient(const Request& request) const {
  const std::string nonce =
      request.is_form() ? Form::parse(request.body).text("nonce") : request.header("X-CSRF-Token");
  if (from_our_page(request) && check_nonce(nonce, request.nonce_subject)) return std::nullopt;
  return refuse("csrf", error_response(403, "csrf",
                                       "send the X-CSRF-Token of GET /agent/me, from a page of "
                                       "this server",
                                       "X-CSRF-Token"));
}

bool Gate::is_ours(const std::string& origin, const Request& request) const {
  const std::string host = lower_case(request.header("Host"));
  if (host.empty()) return false;
  if (origin == (request.secure ? "https://" : "http://") + host) return true;
  return !options_.public_url.empty() &&
         origin == lower_case(options_.public_url.substr(
                       0, options_.public_url.find('/', options_.public_url.find("://") + 3)));
}

bool Gate::from_our_page(const Request& request) const {
  const std::string origin = lower_case(request.header("Origin"));
  const std::string site = lower_case(request.header("Sec-Fetch-Site"));
  if (request.header_count("Origin") > 1) return false;
  // Pages with `no-referrer`, as ours are, send forms with the origin "null"; so does a foreign
  // sandbox. The browser's own word tells them apart; where it gives none (plain HTTP by a name),
  // the form's nonce has to.
  if (origin == "null") return site == "same-origin" || (site.empty() && request.is_form());
  if (!origin.empty()) return is_ours(origin, request);
  return !changes_something(request) || site.empty() || site == "same-origin" || site == "none";
}

std::optional<Response> Gate::note_wrong(const Request& request) {
  const auto wait = wrong_.take(network_of(request.address), clock_.now());
  if (!wait) return std::nullopt;
  return refuse("wrong_credentials", too_many(*wait, "too many wrong credentials came from there"));
}

void Gate::note_right(const Request& request) { wrong_.give_back(network_of(request.address)); }

std::string Gate::nonce_for(const std::string& subject) const {
  return nonce_.make(subject, clock_.now());
}

bool Gate::check_nonce(const std::string& nonce, const std::string& subject) const {
  return !subject.empty() && nonce_.check(nonce, subject, clock_.now());
}

const char* Gate::cookie_name(const Request& request) {
  return request.secure ? kSecureCookie : kCookie;
}

std::string Gate::cookie_of(const Request& request) {
  return cookie_of(request, cookie_name(request));
}

std::string Gate::cookie_of(const Request& request, const std::string& name) {
  const std::string header = request.header("Cookie");
  const std::string wanted = name + "=";
  for (std::string_view rest = header; !rest.empty();) {
    const auto end = rest.find(';');
    const std::string pair = trim(rest.substr(0, end));
    if (pair.starts_with(wanted)) return pair.substr(wanted.size());
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return "";
}

Response Gate::refuse(const char* reason, Response response) const {
  if (options_.on_refused) options_.on_refused(reason);
  return response;
}

}  // namespace holdpoint
