#include <doctest/doctest.h>

#include "tests/http/gatehouse.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

Gate::Options with_url(const std::string& url) {
  Gate::Options options;
  options.public_url = url;
  return options;
}

}  // namespace

TEST_CASE("on this machine, while nobody has made a credential, everybody may everything") {
  Gatehouse house;
  for (const auto& call : {get("/public"), get("/read"), get("/either"), get("/own"), get("/page"),
                           post("/change").json("{}"), post("/hook"), post("/own").json("{}")}) {
    CAPTURE(call.target);
    CHECK(house.seen(call)["kind"] == kOpen);
  }
  CHECK(house.refused.empty());
}

TEST_CASE("open, the Host must be a name of this machine, or of public_url") {
  Gatehouse house(with_url("https://Hold.example:8443/base"));
  for (const std::string host :
       {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "127.8.9.1", "[::1]",
        "[::1]:8080", "hold.example", "HOLD.example:8443"}) {
    CAPTURE(host);
    CHECK(house.outcome(get("/read").with("Host", host)) == "200");
  }
  for (const std::string host : {"",
                                 "evil.example",
                                 "evil.example:8080",
                                 "localhost.evil.example",
                                 "127.0.0.1.evil.example",
                                 "127.0.0.1.nip.io",
                                 "evil.example:80@localhost",
                                 "10.0.0.1",
                                 "0.0.0.0",
                                 "128.0.0.1",
                                 "[::2]",
                                 "[::1]evil.example",
                                 "[::1]:x",
                                 "[::1]:80:80",
                                 "localhost:80x",
                                 "[127.0.0.1]",
                                 "[::1",
                                 "::1",
                                 "[::]",
                                 "169.254.1.1",
                                 "hold.example.evil.example",
                                 "example",
                                 "2130706433",
                                 "0x7f.1",
                                 "127.1"}) {
    CAPTURE(host);
    for (const char* target : {"/public", "/read", "/own", "/page"}) {
      const Response response = house.send(get(target).with("Host", host));
      CHECK(response.status == 403);
    }
    CHECK(house.outcome(get("/read").with("Host", host)) == "403 foreign_host");
  }
  CHECK(house.refused.front() == "foreign_host");
}

TEST_CASE("open without a public_url only names of this machine will do") {
  Gatehouse house;
  CHECK(house.outcome(get("/read").with("Host", "")) == "403 foreign_host");
  CHECK(house.outcome(get("/read").with("Host", "hold.example")) == "403 foreign_host");
}

TEST_CASE("open, an Origin must be ours, whatever is called") {
  Gatehouse house(with_url("https://hold.example/base"));
  for (const std::string origin :
       {"http://localhost:8080", "HTTP://LOCALHOST:8080", "https://hold.example"}) {
    CAPTURE(origin);
    CHECK(house.outcome(get("/read").with("Origin", origin)) == "200");
    CHECK(house.outcome(post("/change").json("{}").with("Origin", origin)) == "200");
  }
  for (const std::string origin :
       {"http://evil.example", "http://localhost", "http://localhost:8081",
        "https://localhost:8080", "http://127.0.0.1:8080", "http://localhost:8080.evil.example",
        "http://hold.example", "https://hold.example/base", "https://hold.example.evil.example",
        "file://", "chrome-extension://abc"}) {
    CAPTURE(origin);
    for (const auto& call : {get("/read"), get("/public"), post("/change").json("{}"),
                             post("/public"), post("/hook"), post("/own").form({{"a", "b"}})}) {
      CAPTURE(call.target);
      CHECK(house.outcome(Call(call).with("Origin", origin)) == "403 foreign_origin");
    }
  }
}

TEST_CASE("open, a change without an Origin is taken unless the browser says who made it") {
  Gatehouse house;
  for (const std::string site : {"", "same-origin", "none", "Same-Origin"}) {
    CAPTURE(site);
    CHECK(house.outcome(post("/change").json("{}").with("Sec-Fetch-Site", site)) == "200");
  }
  for (const std::string site : {"cross-site", "same-site", "x"}) {
    CAPTURE(site);
    CHECK(house.outcome(post("/change").json("{}").with("Sec-Fetch-Site", site)) ==
          "403 foreign_origin");
    CHECK(house.outcome(get("/read").with("Sec-Fetch-Site", site)) == "200");
  }
}

TEST_CASE("open, the origin null is ours only if the browser says so") {
  Gatehouse house;
  const auto null_from = [](Call call, const std::string& site) {
    return call.with("Origin", "null").with("Sec-Fetch-Site", site);
  };
  const Call json = post("/change").json("{}");
  CHECK(house.outcome(null_from(json, "same-origin")) == "200");
  for (const char* site : {"", "none", "same-site", "cross-site"}) {
    for (const auto& call : {json, get("/read"), get("/public"), post("/hook")}) {
      CHECK(house.outcome(null_from(call, site)) == "403 foreign_origin");
    }
  }
}

TEST_CASE("open, a form of the origin null needs its nonce where the browser says nothing") {
  Gatehouse house;
  const auto form = [&](const std::string& nonce, const std::string& site) {
    Call call = post("/form").form({{"nonce", nonce}}).with("Origin", "null");
    return house.outcome(site.empty() ? call : call.with("Sec-Fetch-Site", site));
  };
  const std::string nonce = house.gate.nonce_for("open");
  CHECK(form(nonce, "") == "200");
  CHECK(form("", "") == "403 csrf");
  CHECK(form(nonce, "same-origin") == "200");
  for (const char* site : {"none", "same-site", "cross-site"}) {
    CHECK(form(nonce, site) == "403 foreign_origin");
  }
}

TEST_CASE("open, two Origins are no origin of ours") {
  Gatehouse house;
  const Call twice =
      get("/read").with("Origin", "http://localhost:8080").with("Origin", "http://localhost:8080");
  CHECK(house.outcome(twice) == "403 foreign_origin");
}

TEST_CASE("open, what came through a proxy is refused: it could be from anywhere") {
  Gatehouse house;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"X-Forwarded-For", "1.2.3.4"},
                                                        {"X-Forwarded-For", "127.0.0.1"},
                                                        {"X-Forwarded-For", ""},
                                                        {"Forwarded", "x"},
                                                        {"X-Forwarded-Host", "x"},
                                                        {"X-Forwarded-Proto", "https"},
                                                        {"X-Real-IP", "::1"},
                                                        {"via", "1.1 x"}}) {
    for (const auto& call : {get("/read"), get("/public"), post("/change").json("{}")}) {
      CHECK(house.outcome(Call(call).with(name, value)) == "403 forwarded");
    }
  }
  CHECK(house.refused == std::vector<std::string>(24, "forwarded"));
}

TEST_CASE("open, a form needs the nonce of its page, a program's JSON does not") {
  Gatehouse house;
  const std::string nonce = house.gate.nonce_for("open");
  CHECK(house.outcome(post("/form").form({{"nonce", nonce}})) == "200");
  CHECK(house.outcome(post("/form").form({{"nonce", ""}})) == "403 csrf");
  CHECK(house.outcome(post("/form").form({{"nonce", house.gate.nonce_for("user:ana")}})) ==
        "403 csrf");
  CHECK(house.outcome(post("/form").form({{"a", "b"}}).with("X-CSRF-Token", nonce)) == "403 csrf");
  CHECK(house.outcome(post("/page").form({{"nonce", nonce}})) == "200");
  CHECK(house.send(post("/page").form({})).status == 403);
  house.clock.advance(25h);
  CHECK(house.outcome(post("/form").form({{"nonce", nonce}})) == "403 csrf");
}

TEST_CASE("the first credential closes the server, and it never opens again") {
  Gatehouse house;
  CHECK(house.outcome(get("/read")) == "200");
  const auto made = house.keys.create({"ci", {"admin"}, {}}, kAdmin, house.clock.now());
  house.clock.advance(1s);
  CHECK(house.outcome(get("/read")) == "401 unauthenticated");
  CHECK(house.keys.revoke(made.key.id, kAdmin, house.clock.now()) == Keys::Revoked::done);
  house.clock.advance(1h);
  CHECK(house.outcome(get("/read")) == "401 unauthenticated");
  CHECK(house.outcome(post("/change").json("{}")) == "401 unauthenticated");
}

TEST_CASE("bound to other addresses it is closed from the start") {
  Gate::Options options;
  options.loopback = false;
  Gatehouse house(options);
  CHECK(house.outcome(get("/read")) == "401 unauthenticated");
  CHECK(house.seen(get("/public"))["kind"] == kNobody);
  CHECK(house.seen(post("/hook"))["kind"] == kNobody);
}

TEST_CASE("closed, neither Host nor a proxy's headers are refused") {
  Gatehouse house;
  const std::string bearer = "Bearer " + house.key({"sessions:read"});
  const Call call = get("/read").with("Authorization", bearer).with("Host", "hold.example");
  CHECK(house.outcome(call) == "200");
  CHECK(house.outcome(Call(call).with("X-Forwarded-For", "1.2.3.4")) == "200");
}
