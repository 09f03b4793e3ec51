#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "http/router.h"
#include "store/database.h"
#include "tests/http/call.h"

namespace holdpoint {
namespace {

// What people see of a page's route that throws `error`.
template <class Error>
Response page_for(const Error& error) {
  const Route route{"GET", "/x", nothing(), [&](Request&) -> Response { throw error; }, true};
  Request request;
  return answer_request(route, request);
}

bool has(const Response& page, const std::string& text) {
  return page.body.find(text) != std::string::npos;
}

TEST_CASE("what a credential lacks is named, with each scope that would do") {
  const Response one = missing_scope({"admin"});
  CHECK(one.status == 403);
  CHECK(
      one.body ==
      R"({"ok":false,"error":{"code":"forbidden","message":"this credential lacks the scope admin"}})");
  CHECK(missing_scope({"a", "b", "c"}).body.find("lacks the scope a or b or c\"") !=
        std::string::npos);
}

TEST_CASE("who brought no credential is told which to bring") {
  const Response response = not_authenticated();
  CHECK(response.status == 401);
  CHECK(test::header_of(response, "WWW-Authenticate") == "Bearer");
  CHECK(response.body.find("\"code\":\"unauthenticated\"") != std::string::npos);
}

TEST_CASE("what goes wrong on a page is told in a page, with the status of the API") {
  const Response unreadable = page_for(Unreadable("body", "is not a form"));
  CHECK(unreadable.status == 400);
  CHECK(has(unreadable, "body: is not a form"));
  const Response invalid = page_for(BadRequest("answer", "must not be empty"));
  CHECK(invalid.status == 422);
  CHECK(has(invalid, "answer: must not be empty"));
  const Response busy = page_for(StoreError("disk full at /secret/path", true));
  CHECK(busy.status == 503);
  CHECK(test::header_of(busy, "Retry-After") == "2");
  const Response broken = page_for(std::runtime_error("at /secret/path"));
  CHECK(broken.status == 500);
  for (const Response& page : {unreadable, invalid, busy, broken}) {
    CHECK(page.content_type == "text/html; charset=utf-8");
    CHECK(page.body.starts_with("<!doctype html>"));
    CHECK_FALSE(has(page, "secret"));
  }
}

TEST_CASE("a form's errors are pages too, where the route takes forms") {
  const auto answer = [](bool takes_form, const char* type) {
    const Route route{"POST",    "/x",
                      nothing(), [](Request&) -> Response { throw BadRequest("a", "b"); },
                      false,     takes_form};
    Request request;
    request.content_type = type;
    return answer_request(route, request).content_type;
  };
  CHECK(answer(true, "application/x-www-form-urlencoded") == "text/html; charset=utf-8");
  CHECK(answer(true, "application/json") == "application/json");
  CHECK(answer(false, "application/x-www-form-urlencoded") == "application/json");
}

TEST_CASE("a complaint about markup is no markup") {
  const Response page = page_for(BadRequest("<b>field</b>", "is <script>bad</script>"));
  CHECK(has(page, "&lt;b&gt;field&lt;/b&gt;: is &lt;script&gt;bad&lt;/script&gt;"));
  CHECK_FALSE(has(page, "<script"));
}

TEST_CASE("a form is known by its type, in any case and with parameters") {
  Request request;
  for (const char* type :
       {"application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=utf-8"}) {
    request.content_type = type;
    CHECK(request.is_form());
  }
  for (const char* type : {"", "application/json", "text/plain", "multipart/form-data; boundary=x",
                           "text/plain; application/x-www-form-urlencoded"}) {
    request.content_type = type;
    CHECK_FALSE(request.is_form());
  }
}

TEST_CASE("a query's value that is broken UTF-8 or has a NUL is refused") {
  for (const std::string& value : {std::string("\xff"), std::string("a\0b", 3)}) {
    Request request;
    request.query = {{"next", value}};
    CHECK_THROWS_AS(Query(request, {"next"}), BadRequest);
  }
}

}  // namespace
}  // namespace holdpoint
