#include <doctest/doctest.h>

#include "http/html.h"
#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kPassword = "correct horse battery";

struct Door : Site {
  explicit Door(Gate::Options options = {}) : Site(std::move(options)) {
    add_user("ana", Role::answerer, kPassword);
  }
  // What a browser that fetched the form sends back.
  Call login(const std::string& name, const std::string& password, const std::string& next = "/") {
    const Response page = send(get("/login"));
    const std::string cookie = header_of(page, "Set-Cookie");
    return post("/login")
        .form({{"nonce", hidden_field(page, "nonce")},
               {"name", name},
               {"password", password},
               {"next", next}})
        .with("Cookie", cookie.substr(0, cookie.find(';')));
  }
};

bool logs_in(const Response& response) {
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return header.first == "Set-Cookie" && (header.second.starts_with("holdpoint=") ||
                                            header.second.starts_with("__Host-holdpoint="));
  });
}

// Where a login may send people, and where it must not.
const std::vector<std::string> kLocal{
    "/",     "/question/7",          "/agent/answer/7?token=x&y=z",
    "/a//b", "/http://evil.example", "/%2f%2fevil.example"};
const std::vector<std::string> kForeign{"",
                                        "question",
                                        "//evil.example",
                                        "///evil.example",
                                        "/\\evil.example",
                                        "\\\\evil.example",
                                        "/a\\b",
                                        "https://evil.example",
                                        "https:evil.example",
                                        "javascript:alert(1)",
                                        " /x",
                                        "/\t/evil.example",
                                        "/\n/evil.example",
                                        "/x\r\nSet-Cookie: a=b",
                                        "/" + std::string(500, 'x')};

}  // namespace

TEST_CASE("who logs in is sent on with a cookie that only this server's pages get") {
  Door door;
  const Response response = door.send(door.login("Ana", kPassword, "/question/7"));
  CHECK(response.status == 303);
  CHECK(header_of(response, "Location") == "/question/7");
  const std::string cookie = header_of(response, "Set-Cookie");
  CHECK(cookie.starts_with("holdpoint="));
  CHECK(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"));
  const std::string pair = cookie.substr(0, cookie.find(';'));
  CHECK(door.send(get("/").with("Cookie", pair)).status == 200);
}

TEST_CASE("under TLS the cookie is the browser's most guarded kind") {
  Door door;
  Call call = door.login("ana", kPassword);
  call.tls = true;
  const std::string cookie = header_of(door.send(call), "Set-Cookie");
  CHECK(cookie.starts_with("__Host-holdpoint="));
  CHECK(cookie.find("; Secure") != std::string::npos);
  CHECK(cookie.find("Domain") == std::string::npos);
}

TEST_CASE("a wrong name and a wrong password get the same page") {
  Door door;
  const Response name = door.send(door.login("eve", kPassword));
  const Response password = door.send(door.login("ana", "wrong"));
  for (const Response& page : {name, password}) {
    CHECK(page.status == 401);
    CHECK_FALSE(logs_in(page));
    CHECK(page.body.find("That name and password do not go together.") != std::string::npos);
    CHECK(page.body.find("wrong") == std::string::npos);
  }
}

TEST_CASE("what was typed comes back escaped, the password not at all") {
  Door door;
  const Response page = door.send(door.login("\"><script>", "<password>", "/\"><script>"));
  CHECK(page.body.find("<script") == std::string::npos);
  CHECK(page.body.find("&quot;&gt;&lt;script&gt;") != std::string::npos);
  CHECK(page.body.find("password>\"") == std::string::npos);
  CHECK(page.body.find("&lt;password") == std::string::npos);
}

TEST_CASE("the login page carries on only to paths of this server") {
  Door door;
  for (const auto& next : kLocal) {
    CAPTURE(next);
    const Response page = door.send(get("/login?next=" + escape_url(next)));
    CHECK(page.status == 200);
    CHECK(hidden_field(page, "next") == escape_html(next));
  }
  for (const auto& next : kForeign) {
    CAPTURE(next);
    CHECK(hidden_field(door.send(get("/login?next=" + escape_url(next))), "next") == "/");
  }
}

TEST_CASE("who is logged in already is sent on, to paths of this server only") {
  Door door;
  const std::string cookie = header_of(door.send(door.login("ana", kPassword)), "Set-Cookie");
  const auto location = [&](const std::string& next) {
    const Call call =
        get("/login?next=" + escape_url(next)).with("Cookie", cookie.substr(0, cookie.find(';')));
    return header_of(door.send(call), "Location");
  };
  for (const auto& next : kLocal) CHECK(location(next) == next);
  for (const auto& next : kForeign) CHECK(location(next) == "/");
}

TEST_CASE("a login's own form may not be made to lead elsewhere") {
  Door door;
  for (const std::string next : {"//evil.example", "/\\evil.example", "https://evil.example", ""}) {
    CAPTURE(next);
    CHECK(header_of(door.send(door.login("ana", kPassword, next)), "Location") == "/");
  }
}

TEST_CASE("a login without this server's nonce, or from another site, is not even checked") {
  Door door;
  const auto refused = [&](const Call& call) {
    const Response page = door.send(call);
    return page.status == 403 && !logs_in(page);
  };
  CHECK(refused(post("/login").form({{"name", "ana"}, {"password", kPassword}})));
  CHECK(refused(post("/login").form(
      {{"nonce", door.gate.nonce_for("open")}, {"name", "ana"}, {"password", kPassword}})));
  CHECK(refused(door.login("ana", kPassword).with("Origin", "http://evil.example")));
  CHECK(refused(door.login("ana", kPassword).with("Sec-Fetch-Site", "cross-site")));
  const Call old = door.login("ana", kPassword);
  door.world.clock.advance(24h + 1s);
  CHECK(refused(old));
}

TEST_CASE("a login's form is good only in the browser that fetched it") {
  Door door;
  const Call mine = door.login("ana", kPassword), theirs = door.login("ana", kPassword);
  for (const std::string& cookie :
       {std::string(), request_of(theirs).header("Cookie"), std::string("holdpoint-login=x"),
        std::string("holdpoint-login=")}) {
    Call mixed = mine;
    std::erase_if(mixed.headers, [](const auto& header) { return header.first == "Cookie"; });
    if (!cookie.empty()) mixed.with("Cookie", cookie);
    const Response page = door.send(mixed);
    CHECK(page.status == 403);
    CHECK_FALSE(logs_in(page));
  }
  CHECK(logs_in(door.send(mine)));
}

TEST_CASE("the cookie of a login's form is kept for the next try, and for this page only") {
  Door door;
  const std::string cookie = header_of(door.send(get("/login")), "Set-Cookie");
  CHECK(cookie.starts_with("holdpoint-login="));
  CHECK(cookie.ends_with("; Path=/login; HttpOnly; SameSite=Strict"));
  const Response again =
      door.send(get("/login").with("Cookie", cookie.substr(0, cookie.find(';'))));
  CHECK(header_of(again, "Set-Cookie") == "");
  CHECK(door.send(door.login("ana", "wrong")).status == 401);
}

TEST_CASE("right logins are not counted as wrong") {
  Gate::Options options;
  options.wrong_credentials = 2;
  Door door(options);
  for (int i = 0; i < 4; ++i) CHECK(door.send(door.login("ana", kPassword)).status == 303);
  CHECK(door.send(door.login("ana", "wrong")).status == 401);
}

TEST_CASE("after too many wrong logins a password is not even looked at") {
  Gate::Options options;
  options.wrong_credentials = 2;
  Door door(options);
  CHECK(door.send(door.login("ana", "wrong")).status == 401);
  CHECK(door.send(door.login("ana", "wrong")).status == 401);
  const Response page = door.send(door.login("ana", kPassword));
  CHECK(page.status == 429);
  CHECK(header_of(page, "Retry-After") == "30");
  CHECK_FALSE(logs_in(page));
  door.world.clock.advance(30s);
  CHECK(door.send(door.login("ana", kPassword)).status == 303);
}

TEST_CASE("who logs out has no login any more, and the cookie goes") {
  Door door;
  const std::string set = header_of(door.send(door.login("ana", kPassword)), "Set-Cookie");
  const std::string cookie = set.substr(0, set.find(';'));
  const Response inbox = door.send(get("/").with("Cookie", cookie));
  CHECK(door.send(post("/logout").form({}).with("Cookie", cookie)).status == 403);
  const Response out = door.send(
      post("/logout").form({{"nonce", hidden_field(inbox, "nonce")}}).with("Cookie", cookie));
  CHECK(out.status == 303);
  CHECK(header_of(out, "Set-Cookie").starts_with("holdpoint=; "));
  CHECK(header_of(out, "Set-Cookie").ends_with("; Max-Age=0"));
  CHECK(door.send(get("/").with("Cookie", cookie)).status == 303);
}
