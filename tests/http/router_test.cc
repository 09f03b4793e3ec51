#include "http/router.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "domain/bad_request.h"
#include "store/database.h"
#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using test::Complaint;
using test::complaint_of;

Request asking(std::multimap<std::string, std::string> query) {
  Request request;
  request.query = std::move(query);
  return request;
}

Complaint complaint_about(const Request& request) {
  return complaint_of([&] { return Query(request, {"status", "limit"}).text("status"); });
}

// What a caller gets from a route that throws `error`.
template <class Error>
Response response_to(const Error& error) {
  const Route route{"GET", "/x", nothing(), [&](const Request&) -> Response { throw error; }};
  Request request;
  return answer_request(route, request);
}

std::string header(const Response& response, const std::string& name) {
  for (const auto& [n, value] : response.headers) {
    if (n == name) return value;
  }
  return "(none)";
}

TEST_CASE("a query's parameters are read by name") {
  const Request request = asking({{"status", "pending"}, {"limit", "7"}});
  const Query query(request, {"status", "limit", "cursor"});
  CHECK(query.text("status") == "pending");
  CHECK(query.number("limit", 50, 1, 500) == 7);
  CHECK_FALSE(query.text("cursor"));
}

TEST_CASE("a parameter that is empty counts as left out") {
  const Request request = asking({{"status", ""}, {"limit", ""}});
  const Query query(request, {"status", "limit"});
  CHECK_FALSE(query.text("status"));
  CHECK(query.number("limit", 50, 1, 500) == 50);
}

TEST_CASE("a parameter that is not known is refused by name, and the known ones are told") {
  const auto unknown = complaint_about(asking({{"status", "pending"}, {"state", "x"}}));
  CHECK(unknown.field == "state");
  CHECK(unknown.says("status, limit"));
  CHECK(complaint_about(asking({{"Status", "pending"}})).field == "Status");
  CHECK(complaint_of([] {
          const Request request = asking({{"x", "1"}});
          return Query(request, {}).text("x");
        }).reason == "is no parameter of this call");
}

TEST_CASE("a parameter that is given twice is refused, even with one value") {
  CHECK(complaint_about(asking({{"status", "pending"}, {"status", "dead"}})).field == "status");
  CHECK(complaint_about(asking({{"limit", "1"}, {"limit", "1"}})).field == "limit");
}

TEST_CASE("a number is whole and within its bounds") {
  const auto number = [](const std::string& text) {
    const Request request = asking({{"limit", text}});
    return Query(request, {"limit"}).number("limit", 50, -5, 500);
  };
  CHECK(number("-5") == -5);
  CHECK(number("0") == 0);
  CHECK(number("500") == 500);
  CHECK(number("007") == 7);
  for (const std::string text : {"-6", "501", "1.0", "1e2", "+1", " 1", "1 ", "0x1", "one", "-",
                                 "1,0", "9223372036854775808", "99999999999999999999"}) {
    CAPTURE(text);
    const auto refused = complaint_of([&] { return number(text); });
    CHECK(refused.field == "limit");
    CHECK(refused.reason == "must be a whole number from -5 to 500");
  }
}

TEST_CASE("an error has a code, a message, and a field if one is to blame") {
  const Response named = error_response(422, "invalid", "a \"bad\" one", "answer");
  CHECK(named.status == 422);
  CHECK(named.content_type == "application/json");
  CHECK(named.body ==
        R"({"ok":false,"error":{"code":"invalid","message":"a \"bad\" one","field":"answer"}})");
  CHECK(error_response(404, "unknown", "none").body ==
        R"({"ok":false,"error":{"code":"unknown","message":"none"}})");
}

TEST_CASE("a route's response is the answer") {
  const Route route{"GET", "/x", nothing(), [](const Request& request) {
                      Response response;
                      response.status = 202;
                      response.body = request.body + "!";
                      return response;
                    }};
  Request request;
  request.body = "hello";
  CHECK(answer_request(route, request).status == 202);
  CHECK(answer_request(route, request).body == "hello!");
}

TEST_CASE("a body that cannot be read is a 400") {
  const Response response = response_to(Unreadable("body", "is not valid JSON"));
  CHECK(response.status == 400);
  CHECK(
      response.body ==
      R"({"ok":false,"error":{"code":"bad_json","message":"body: is not valid JSON","field":"body"}})");
}

TEST_CASE("a field that breaks a rule is a 422 that names it") {
  const Response named = response_to(BadRequest("answer", "must not be empty"));
  CHECK(named.status == 422);
  CHECK(
      named.body ==
      R"({"ok":false,"error":{"code":"invalid","message":"answer: must not be empty","field":"answer"}})");
  CHECK(response_to(BadRequest("", "no")).body ==
        R"({"ok":false,"error":{"code":"invalid","message":"no"}})");
}

TEST_CASE("a store that cannot commit is a 503 with a time to try again") {
  const Response response = response_to(StoreError("disk full at /secret/path", true));
  CHECK(response.status == 503);
  CHECK(header(response, "Retry-After") != "(none)");
  CHECK(std::stoi(header(response, "Retry-After")) > 0);
  CHECK(
      response.body.starts_with(R"({"ok":false,"error":{"code":"store_unavailable","message":")"));
  CHECK(response.body.find("secret") == std::string::npos);
}

TEST_CASE("a commit in doubt is not said to have changed nothing") {
  const Response sure = response_to(StoreError("disk full", true, false));
  CHECK(sure.body.find("nothing was changed") != std::string::npos);
  const Response in_doubt = response_to(StoreError("sync failed", true, true));
  CHECK(in_doubt.status == 503);
  CHECK(in_doubt.body.find("nothing was changed") == std::string::npos);
}

TEST_CASE("anything else that breaks is a 500 that tells nothing of the inside") {
  const Response response = response_to(std::out_of_range("map::at /secret/path"));
  CHECK(response.status == 500);
  CHECK(response.body.starts_with(R"({"ok":false,"error":{"code":"internal","message":")"));
  CHECK(response.body.find("secret") == std::string::npos);
}

}  // namespace
}  // namespace holdpoint
