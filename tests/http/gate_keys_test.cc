#include <doctest/doctest.h>

#include "tests/http/gatehouse.h"
#include "wire/token.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

Call by(const std::string& key, Call call) { return call.with("Authorization", "Bearer " + key); }

}  // namespace

TEST_CASE("a key is let in where it has the scope, and told what it lacks elsewhere") {
  Gatehouse house;
  const std::string reader = house.key({"sessions:read"});
  const Json seen = house.seen(by(reader, get("/read")));
  CHECK(seen["kind"] == kKey);
  CHECK(seen["name"] == "ci");
  CHECK(seen["subject"] == "");
  const Response refused = house.send(by(reader, post("/change")));
  CHECK(refused.status == 403);
  CHECK(Json::parse(refused.body)["error"]["message"] ==
        "this credential lacks the scope sessions:create");
  const Response either = house.send(by(reader, get("/either")));
  CHECK(Json::parse(either.body)["error"]["message"] ==
        "this credential lacks the scope questions:ask or questions:answer");
  CHECK(house.refused == std::vector<std::string>{"forbidden", "forbidden"});
  for (const char* scope : {"questions:ask", "questions:answer"}) {
    CHECK(house.outcome(by(house.key({scope}), get("/either"))) == "200");
  }
}

TEST_CASE("without a credential a 401 says how to bring one") {
  Gatehouse house;
  house.key({"admin"});
  for (const auto& call : {get("/read"), get("/either"), post("/change").json("{}")}) {
    const Response response = house.send(call);
    CHECK(response.status == 401);
    CHECK(header_of(response, "WWW-Authenticate") == "Bearer");
  }
  CHECK(house.refused == std::vector<std::string>(3, "unauthenticated"));
}

TEST_CASE("the word Bearer may be in capitals and the key may have spaces around") {
  Gatehouse house;
  const std::string key = house.key({"sessions:read"});
  for (const std::string& value : {"bearer " + key, "BEARER " + key, "Bearer   " + key + " \t"}) {
    CHECK(house.outcome(get("/read").with("Authorization", value)) == "200");
  }
  for (const std::string& value : {key, "Basic " + key, "Bearer" + key, "Token " + key}) {
    CHECK(house.outcome(get("/read").with("Authorization", value)) == "401 unauthenticated");
  }
}

TEST_CASE("a wrong, unknown, expired or revoked key is a 401, and other credentials do not help") {
  Gate::Options options;
  options.wrong_credentials = 1000;
  Gatehouse house(options);
  const std::string key = house.key({"sessions:read"});
  const std::string expired = house.key({"sessions:read"}, 1ms);
  const std::string revoked = house.key({"sessions:read"});
  house.keys.revoke(ApiKey::parse(revoked)->id, kAdmin, house.clock.now());
  house.clock.advance(1ms);
  const std::string cookie = house.log_in("ana", Role::admin);
  const auto id = ApiKey::parse(key)->id;
  for (const std::string& wrong : {ApiKey{id, new_token()}.text(), ApiKey::make().text(), expired,
                                   revoked, std::string("hp_"), std::string("hp_x"), key + "x"}) {
    CHECK(house.outcome(by(wrong, get("/read"))) == "401 unauthenticated");
    CHECK(house.outcome(by(wrong, get("/read").with("Cookie", cookie))) == "401 unauthenticated");
    CHECK(house.outcome(by(wrong, post("/hook"))) == "401 unauthenticated");
  }
  CHECK(house.refused.front() == "wrong_key");
}

TEST_CASE("a request with two Authorization headers is refused, even if both are right") {
  Gatehouse house;
  const std::string key = house.key({"sessions:read"});
  CHECK(house.outcome(by(key, by(key, get("/read")))) == "401 unauthenticated");
}

TEST_CASE("another bearer token is left for the route to judge") {
  Gatehouse house;
  house.key({"admin"});
  CHECK(house.seen(by("an agent's own secret", post("/hook")))["kind"] == kNobody);
  CHECK(house.outcome(by("an agent's own secret", get("/read"))) == "401 unauthenticated");
}

TEST_CASE("a key needs no CSRF token: no browser adds it by itself") {
  Gatehouse house;
  const std::string key = house.key({"sessions:create", "questions:read"});
  const Call change = by(key, post("/change").json("{}"));
  CHECK(house.outcome(change) == "200");
  CHECK(house.outcome(Call(change).with("Origin", "http://evil.example")) == "200");
  CHECK(house.outcome(by(key, post("/form").form({{"a", "b"}}))) == "200");
}

TEST_CASE("a key counts for itself, whatever cookie comes with it") {
  Gatehouse house;
  const std::string cookie = house.log_in("ana", Role::admin);
  const std::string key = house.key({"sessions:read"});
  CHECK(house.seen(by(key, get("/read").with("Cookie", cookie)))["kind"] == kKey);
  CHECK(house.outcome(by(key, post("/change").json("{}").with("Cookie", cookie))) ==
        "403 forbidden");
}

TEST_CASE("a key may send so many requests a second, and is told when to go on") {
  Gate::Options options;
  options.requests_per_key = 5;
  Gatehouse house(options);
  const std::string key = house.key({"sessions:read"}), other = house.key({"sessions:read"});
  for (int i = 0; i < 5; ++i) CHECK(house.outcome(by(key, get("/read"))) == "200");
  const Response refused = house.send(by(key, get("/read")));
  CHECK(refused.status == 429);
  CHECK(header_of(refused, "Retry-After") == "1");
  CHECK(house.refused.back() == "requests_per_key");
  CHECK(house.outcome(by(other, get("/read"))) == "200");
  house.clock.advance(200ms);
  CHECK(house.outcome(by(key, get("/read"))) == "200");
  CHECK(house.outcome(by(key, get("/read"))) == "429 too_many_requests");
}

TEST_CASE("wrong keys of one address are counted, and then refused unseen; a right one is let in") {
  Gate::Options options;
  options.wrong_credentials = 3;
  Gatehouse house(options);
  const std::string key = house.key({"sessions:read"});
  const auto from = [](const std::string& peer, Call call) {
    call.peer = peer;
    return call;
  };
  const Call wrong = by(ApiKey::make().text(), get("/read"));
  for (int i = 0; i < 3; ++i) {
    CHECK(house.outcome(from("1.1.1.1", wrong)) == "401 unauthenticated");
  }
  const Response refused = house.send(from("1.1.1.1", wrong));
  CHECK(refused.status == 429);
  CHECK(header_of(refused, "Retry-After") == "20");
  CHECK(house.refused.back() == "wrong_credentials");
  CHECK(house.outcome(from("2.2.2.2", wrong)) == "401 unauthenticated");
  CHECK(house.outcome(from("1.1.1.1", by(key, get("/read")))) == "200");
  house.clock.advance(20s);
  CHECK(house.outcome(from("1.1.1.1", wrong)) == "401 unauthenticated");
  CHECK(house.outcome(from("1.1.1.1", wrong)) == "429 too_many_requests");
}

TEST_CASE("who has a whole IPv6 network has one count") {
  Gate::Options options;
  options.wrong_credentials = 2;
  Gatehouse house(options);
  house.key({"admin"});
  const auto wrong = [&](const std::string& peer) {
    Call call = by(ApiKey::make().text(), get("/read"));
    call.peer = peer;
    return house.outcome(call);
  };
  CHECK(wrong("2001:db8::1") == "401 unauthenticated");
  CHECK(wrong("2001:db8::ffff:0:2") == "401 unauthenticated");
  CHECK(wrong("2001:db8::3") == "429 too_many_requests");
  CHECK(wrong("2001:db8:0:1::1") == "401 unauthenticated");
  CHECK(wrong("192.0.2.1") == "401 unauthenticated");
  CHECK(wrong("192.0.2.1") == "401 unauthenticated");
  CHECK(wrong("192.0.2.1") == "429 too_many_requests");
  CHECK(wrong("192.0.2.2") == "401 unauthenticated");
}

TEST_CASE("what routes report as wrong counts with the keys") {
  Gate::Options options;
  options.wrong_credentials = 2;
  Gatehouse house(options);
  house.key({"admin"});
  Request request;
  request.address = "1.1.1.1";
  CHECK_FALSE(house.gate.note_wrong(request));
  CHECK_FALSE(house.gate.note_wrong(request));
  CHECK(house.gate.note_wrong(request)->status == 429);
  house.gate.note_right(request);  // One of them was none.
  CHECK_FALSE(house.gate.note_wrong(request));
  CHECK(house.gate.note_wrong(request)->status == 429);
  request.address = "2.2.2.2";
  CHECK_FALSE(house.gate.note_wrong(request));
}
