#include <doctest/doctest.h>

#include "tests/http/gatehouse.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

Gate::Options behind_proxy() {
  Gate::Options options;
  options.public_url = "https://hold.example";
  options.trusted_proxies = AddressRanges({"10.0.0.0/8"});
  options.proxy_user_header = "X-Forwarded-User";
  return options;
}

Call through(const std::string& peer, Call call) {
  call.peer = peer;
  return call;
}

}  // namespace

TEST_CASE("a login's cookie is let in where its role may") {
  Gatehouse house;
  const std::string viewer = house.log_in("vera", Role::viewer);
  const std::string admin = house.log_in("ada", Role::admin);
  const Json seen = house.seen(get("/read").with("Cookie", viewer));
  CHECK(seen["kind"] == kUser);
  CHECK(seen["name"] == "vera");
  CHECK(house.outcome(get("/either").with("Cookie", viewer)) == "403 forbidden");
  CHECK(house.outcome(get("/either").with("Cookie", admin)) == "200");
}

TEST_CASE("the cookie is found among others, and nothing that only looks like it") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::viewer);
  const std::string token = cookie.substr(cookie.find('=') + 1);
  for (const std::string& header : {cookie, "a=b; " + cookie, cookie + "; a=b", "a=b;" + cookie,
                                    "a=b;  " + cookie + " ;c=d", "xholdpoint=1; " + cookie}) {
    CAPTURE(header);
    CHECK(house.outcome(get("/read").with("Cookie", header)) == "200");
  }
  for (const std::string& header :
       {std::string("holdpoint="), "holdpoint=" + new_token(), "xholdpoint=" + token,
        "Holdpoint=" + token, "holdpoint =" + token, "holdpoint=\"" + token + "\"", token,
        "__Host-holdpoint=" + token, "a=" + cookie}) {
    CAPTURE(header);
    CHECK(house.outcome(get("/read").with("Cookie", header)) == "401 unauthenticated");
  }
}

TEST_CASE("under TLS only the cookie that browsers guard counts") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::viewer);
  const std::string guarded = "__Host-" + cookie;
  Call call = get("/read").with("Cookie", guarded);
  call.tls = true;
  CHECK(house.outcome(call) == "200");
  call = get("/read").with("Cookie", cookie);
  call.tls = true;
  CHECK(house.outcome(call) == "401 unauthenticated");
}

TEST_CASE("a change by cookie needs the nonce of this very login, from a page of ours") {
  Gatehouse house;
  const std::string cookie = house.log_in("ada", Role::admin);
  const std::string other = house.log_in("bea", Role::admin);
  const std::string nonce = house.nonce(cookie);
  const Call change = post("/change").json("{}").with("Cookie", cookie);
  CHECK(house.outcome(change) == "403 csrf");
  CHECK(house.outcome(Call(change).with("X-CSRF-Token", nonce)) == "200");
  for (const std::string& wrong :
       {std::string(), std::string("x"), house.nonce(other), house.gate.nonce_for("open"),
        house.gate.nonce_for(""), house.gate.nonce_for("user:ada"),
        house.gate.nonce_for("login-form")}) {
    CHECK(house.outcome(Call(change).with("X-CSRF-Token", wrong)) == "403 csrf");
  }
  house.clock.advance(24h + 1s);
  CHECK(house.outcome(Call(change).with("X-CSRF-Token", nonce)) != "200");
}

TEST_CASE("a nonce does not help a page of another site") {
  Gatehouse house(behind_proxy());
  const std::string cookie = house.log_in("ada", Role::admin);
  const Call change =
      post("/change").json("{}").with("Cookie", cookie).with("X-CSRF-Token", house.nonce(cookie));
  for (const std::string origin : {"http://localhost:8080", "https://hold.example"}) {
    CHECK(house.outcome(Call(change).with("Origin", origin)) == "200");
  }
  for (const std::string origin : {"http://evil.example", "null", "http://localhost",
                                   "https://localhost:8080", "http://hold.example"}) {
    CAPTURE(origin);
    CHECK(house.outcome(Call(change).with("Origin", origin)) == "403 csrf");
  }
  for (const std::string site : {"cross-site", "same-site"}) {
    CHECK(house.outcome(Call(change).with("Sec-Fetch-Site", site)) == "403 csrf");
  }
  CHECK(house.outcome(Call(change).with("Origin", "null").with("Sec-Fetch-Site", "same-origin")) ==
        "200");
}

TEST_CASE("a form brings its nonce in a field, not in a header") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::answerer);
  const std::string nonce = house.nonce(cookie);
  for (const char* target : {"/form", "/page"}) {
    CHECK(house.send(post(target).form({{"nonce", nonce}}).with("Cookie", cookie)).status == 200);
    CHECK(house.send(post(target).form({}).with("Cookie", cookie)).status == 403);
    CHECK(
        house
            .send(
                post(target).form({{"a", "b"}}).with("Cookie", cookie).with("X-CSRF-Token", nonce))
            .status == 403);
  }
}

TEST_CASE("to read needs no nonce, by GET or HEAD") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::viewer);
  for (const char* method : {"GET", "HEAD"}) {
    Call call = get("/read").with("Cookie", cookie);
    call.method = method;
    CHECK(house.outcome(call) == "200");
  }
}

TEST_CASE("a form that its route checks by itself passes without the login's nonce") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::answerer);
  CHECK(house.seen(post("/own").form({{"token", "x"}}).with("Cookie", cookie))["name"] == "ana");
  CHECK(house.outcome(post("/own").json("{}").with("Cookie", cookie)) == "403 csrf");
}

TEST_CASE("a route that takes no forms is not reached by one without a nonce") {
  Gatehouse house(behind_proxy());
  const std::string cookie = house.log_in("ada", Role::admin);
  // What a foreign page's <form method=post> without fields sends.
  const Call empty = post("/hook").form({}).with("Origin", "http://evil.example");
  CHECK(house.outcome(Call(empty).with("Cookie", cookie)) == "403 csrf");
  CHECK(house.outcome(through("10.0.0.1", Call(empty).with("X-Forwarded-User", "ada"))) ==
        "403 csrf");
  CHECK(house.outcome(post("/hook").json("{}").with("Cookie", cookie)) == "403 csrf");
}

TEST_CASE("who is not logged in is sent to the login by pages, and back afterwards") {
  Gatehouse house;
  house.key({"admin"});
  const Response response = house.send(get("/page?a=b"));
  CHECK(response.status == 303);
  CHECK(header_of(response, "Location") == "/login?next=%2Fpage%3Fa%3Db");
  const Response posted = house.send(post("/page").form({}));
  CHECK(posted.status == 401);
  CHECK(posted.content_type == "text/html; charset=utf-8");
}

TEST_CASE("who may not is told so in a page") {
  Gatehouse house;
  const std::string cookie = house.log_in("vera", Role::viewer);
  const Response response =
      house.send(post("/page").form({{"nonce", house.nonce(cookie)}}).with("Cookie", cookie));
  CHECK(response.status == 403);
  CHECK(response.content_type == "text/html; charset=utf-8");
}

TEST_CASE("a proxy vouches for users only if it is trusted, by the header of the settings") {
  Gatehouse house(behind_proxy());
  house.people.add("ana", Role::viewer, "", kAdmin, house.clock.now());
  house.credentials.note_made();
  const Call call = get("/read").with("X-Forwarded-User", "Ana");
  const Json seen = house.seen(through("10.0.0.1", call));
  CHECK(seen["kind"] == kUser);
  CHECK(seen["name"] == "ana");
  CHECK(seen["subject"] == "user:ana");
  for (const std::string peer : {"11.0.0.1", "127.0.0.1", "1.2.3.4", "", "::1"}) {
    CHECK(house.outcome(through(peer, call)) == "401 unauthenticated");
  }
  // What the client says about itself at the proxy's side does not count.
  CHECK(house.outcome(through("1.2.3.4", Call(call).with("X-Forwarded-For", "10.0.0.1"))) ==
        "401 unauthenticated");
  CHECK(house.outcome(through("10.0.0.1", get("/read").with("X-Forwarded-User", "ben"))) ==
        "401 unauthenticated");
  CHECK(house.outcome(through("10.0.0.1", get("/read").with("X-Forwarded-User", ""))) ==
        "401 unauthenticated");
  CHECK(house.outcome(through("10.0.0.1", get("/read").with("X-Remote-User", "ana"))) ==
        "401 unauthenticated");
  CHECK(house.outcome(through("10.0.0.1", Call(call).with("X-Forwarded-User", "ana"))) ==
        "401 unauthenticated");  // Twice: the client's own, and the proxy's.
}

TEST_CASE("without a header in the settings no proxy vouches for anybody") {
  Gate::Options options = behind_proxy();
  options.proxy_user_header = "";
  Gatehouse house(options);
  house.people.add("ana", Role::viewer, "", kAdmin, house.clock.now());
  house.credentials.note_made();
  CHECK(house.outcome(through("10.0.0.1", get("/read").with("X-Forwarded-User", "ana"))) ==
        "401 unauthenticated");
}

TEST_CASE("a change that a proxy vouches for needs the nonce of that user") {
  Gatehouse house(behind_proxy());
  house.people.add("ada", Role::admin, "", kAdmin, house.clock.now());
  house.credentials.note_made();
  const Call change =
      through("10.0.0.1", post("/change").json("{}").with("X-Forwarded-User", "ada"));
  CHECK(house.outcome(change) == "403 csrf");
  CHECK(house.outcome(Call(change).with("X-CSRF-Token", house.gate.nonce_for("user:ada"))) ==
        "200");
  CHECK(house.outcome(Call(change).with("X-CSRF-Token", house.gate.nonce_for("user:bea"))) ==
        "403 csrf");
}

TEST_CASE("strangers whom a proxy vouches for have the role of the settings") {
  Gatehouse house(behind_proxy(), {12h, Role::viewer});
  house.key({"admin"});
  const Call call = through("10.0.0.1", get("/read").with("X-Forwarded-User", "Stranger"));
  CHECK(house.seen(call)["name"] == "stranger");
  CHECK(house.outcome(through("10.0.0.1", get("/either").with("X-Forwarded-User", "stranger"))) ==
        "403 forbidden");
}
