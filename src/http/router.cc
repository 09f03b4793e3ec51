#include "http/router.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/html.h"
#include "store/database.h"
#include "wire/json_writer.h"

namespace holdpoint {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_case(std::string(a)) == lower_case(std::string(b));
}

}  // namespace

std::string Request::header(std::string_view name) const {
  if (!headers) return "";
  for (const auto& [known, value] : *headers) {
    if (same_name(known, name)) return value;
  }
  return "";
}

std::size_t Request::header_count(std::string_view name) const {
  if (!headers) return 0;
  return static_cast<std::size_t>(
      std::count_if(headers->begin(), headers->end(),
                    [&](const auto& header) { return same_name(header.first, name); }));
}

std::string Request::joined_header(std::string_view name) const {
  std::string all;
  if (!headers) return all;
  for (const auto& [known, value] : *headers) {
    if (same_name(known, name)) all.append(all.empty() ? "" : ", ").append(value);
  }
  return all;
}

bool Request::is_form() const {
  return lower_case(content_type).starts_with("application/x-www-form-urlencoded");
}

Needs nothing() { return {}; }
Needs scope(std::string name) { return {Needs::Kind::scope, {std::move(name)}}; }
Needs any_of(std::vector<std::string> names) { return {Needs::Kind::scope, std::move(names)}; }
Needs own_check() { return {Needs::Kind::own_check, {}}; }

Response error_response(int status, std::string_view code, std::string_view message,
                        std::string_view field) {
  JsonWriter out;
  out.begin_object().member("ok", false).key("error").begin_object();
  out.member("code", code).member("message", message);
  if (!field.empty()) out.member("field", field);
  out.end_object().end_object();
  Response response;
  response.status = status;
  response.body = out.take();
  return response;
}

bool is_for_people(const Route& route, const Request& request) {
  return route.page || (route.takes_form && request.is_form());
}

Response missing_scope(const std::vector<std::string>& any_of) {
  std::string names;
  for (const auto& name : any_of) names.append(names.empty() ? "" : " or ").append(name);
  return error_response(403, "forbidden", "this credential lacks the scope " + names);
}

Response not_authenticated() {
  Response response = error_response(
      401, "unauthenticated",
      "this needs a credential: Authorization: Bearer hp_… (made by `holdpoint keys create`)");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

namespace {

// People get the same words as programs, in a page.
Response as_page(const Response& error, const std::string& message) {
  Response response = message_page(error.status, "That did not work", message);
  response.headers = error.headers;
  return response;
}

}  // namespace

Response answer_request(const Route& route, Request& request) {
  const auto fail = [&](int status, const char* code, const std::string& message,
                        const std::string& field = "") {
    const Response error = error_response(status, code, message, field);
    return is_for_people(route, request) ? as_page(error, message) : error;
  };
  try {
    return route.handle(request);
  } catch (const Unreadable& e) {
    return fail(400, "bad_json", e.field() + ": " + e.what(), e.field());
  } catch (const BadRequest& e) {
    const std::string message = e.field().empty() ? e.what() : e.field() + ": " + e.what();
    return fail(422, "invalid", message, e.field());
  } catch (const StoreError& e) {
    log(Level::error, "request_failed", {{"route", route.pattern}, {"reason", e.what()}});
    const bool reads = request.method == "GET" || request.method == "HEAD";
    Response response =
        fail(503, "store_unavailable",
             e.in_doubt()
                 ? "the store broke while it committed, and whether this was kept is not known; "
                   "look before you try again"
             : reads ? "the store cannot be read now. Try again"
                     : "the store cannot commit now; nothing was changed. Try again");
    response.headers.emplace_back("Retry-After", "2");
    return response;
  } catch (const std::exception& e) {
    log(Level::error, "request_failed", {{"route", route.pattern}, {"reason", e.what()}});
    return fail(500, "internal", "something broke; the server's log says what");
  }
}

Query::Query(const Request& request, std::initializer_list<std::string_view> known)
    : request_(request) {
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string names;
      for (const auto k : known) names.append(names.empty() ? "" : ", ").append(k);
      throw BadRequest(shorten(name, 60), "is no parameter of this call" +
                                              (names.empty() ? "" : "; known are: " + names));
    }
    if (request.query.count(name) > 1) throw BadRequest(name, "is given more than once");
    if (!is_clean_utf8(value)) throw BadRequest(name, "must be UTF-8 without NUL");
  }
}

std::optional<std::string> Query::text(const char* name) const {
  const auto it = request_.query.find(name);
  if (it == request_.query.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

std::int64_t Query::number(const char* name, std::int64_t otherwise, std::int64_t least,
                           std::int64_t most) const {
  const auto value = text(name);
  if (!value) return otherwise;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) {
    throw BadRequest(name, "must be a whole number from " + std::to_string(least) + " to " +
                               std::to_string(most));
  }
  return number;
}

}  // namespace holdpoint
