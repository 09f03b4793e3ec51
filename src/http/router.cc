#include "http/router.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "store/database.h"
#include "wire/json_writer.h"

namespace holdpoint {

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

Response answer_request(const Route& route, const Request& request) {
  try {
    return route.handle(request);
  } catch (const Unreadable& e) {
    return error_response(400, "bad_json", e.field() + ": " + e.what(), e.field());
  } catch (const BadRequest& e) {
    const std::string message = e.field().empty() ? e.what() : e.field() + ": " + e.what();
    return error_response(422, "invalid", message, e.field());
  } catch (const StoreError& e) {
    log(Level::error, "request_failed", {{"route", route.pattern}, {"reason", e.what()}});
    Response response = error_response(
        503, "store_unavailable",
        e.in_doubt()
            ? "the store broke while it committed, and whether this was kept is not known; "
              "look before you try again"
            : "the store cannot commit now; nothing was changed. Try again");
    response.headers.emplace_back("Retry-After", "2");
    return response;
  } catch (const std::exception& e) {
    log(Level::error, "request_failed", {{"route", route.pattern}, {"reason", e.what()}});
    return error_response(500, "internal", "something broke; the server's log says what");
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
