#include <doctest/doctest.h>

#include "tests/http/gatehouse.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A closed gate behind proxies in 10/8 and at ::1.
struct Proxied : Gatehouse {
  Proxied() : Gatehouse(options()) { key({"admin"}); }
  static Gate::Options options() {
    Gate::Options options;
    options.loopback = false;
    options.trusted_proxies = AddressRanges({"10.0.0.0/8", "::1"});
    return options;
  }
  // Where a request is taken to come from.
  std::string address(const std::string& peer, const std::vector<std::string>& forwarded) {
    Call call = get("/public");
    call.peer = peer;
    for (const auto& value : forwarded) call.with("X-Forwarded-For", value);
    return seen(call)["address"];
  }
  bool secure(const std::string& peer, const std::string& proto, bool tls = false) {
    Call call = get("/public");
    call.peer = peer;
    call.tls = tls;
    call.with("X-Forwarded-Proto", proto);
    return seen(call)["secure"];
  }
};

}  // namespace

TEST_CASE("a peer that is no trusted proxy is itself, whatever it says") {
  Proxied house;
  CHECK(house.address("1.2.3.4", {}) == "1.2.3.4");
  CHECK(house.address("1.2.3.4", {"5.6.7.8"}) == "1.2.3.4");
  CHECK(house.address("127.0.0.1", {"5.6.7.8"}) == "127.0.0.1");
}

TEST_CASE("behind trusted proxies the client is the last hop that is none of them") {
  Proxied house;
  CHECK(house.address("10.0.0.1", {}) == "10.0.0.1");
  CHECK(house.address("10.0.0.1", {"5.6.7.8"}) == "5.6.7.8");
  CHECK(house.address("::1", {"5.6.7.8"}) == "5.6.7.8");
  CHECK(house.address("10.0.0.1", {"5.6.7.8, 10.2.3.4"}) == "5.6.7.8");
  CHECK(house.address("10.0.0.1", {" 2001:db8::1 ,10.2.3.4,\t::1 "}) == "2001:db8::1");
  CHECK(house.address("10.0.0.1", {"10.9.9.9, 10.2.3.4"}) == "10.9.9.9");
}

TEST_CASE("several headers are one list, as HTTP has it") {
  Proxied house;
  CHECK(house.address("10.0.0.1", {"9.9.9.9", "5.6.7.8", "10.2.3.4"}) == "5.6.7.8");
}

TEST_CASE("what a client writes in front of its own address is its own invention") {
  Proxied house;
  CHECK(house.address("10.0.0.1", {"9.9.9.9, 5.6.7.8"}) == "5.6.7.8");
  CHECK(house.address("10.0.0.1", {"10.3.3.3, 5.6.7.8, 10.2.3.4"}) == "5.6.7.8");
  CHECK(house.address("10.0.0.1", {"127.0.0.1, 5.6.7.8"}) == "5.6.7.8");
}

TEST_CASE("a chain that cannot be read ends at what is known of it") {
  Proxied house;
  CHECK(house.address("10.0.0.1", {""}) == "10.0.0.1");
  CHECK(house.address("10.0.0.1", {"5.6.7.8,"}) == "10.0.0.1");
  CHECK(house.address("10.0.0.1", {"5.6.7.8,,10.2.3.4"}) == "10.2.3.4");
  CHECK(house.address("10.0.0.1", {std::string(46, 'x')}) == "10.0.0.1");
  CHECK(house.address("10.0.0.1", {std::string(1000, 'x') + ", 10.2.3.4"}) == "10.2.3.4");
}

TEST_CASE("a hop that is no address names nobody") {
  Proxied house;
  for (const std::string hop : {"unknown", "_hidden", "5.6.7.8:1234", "[2001:db8::1]:80", "<b>"}) {
    CAPTURE(hop);
    CHECK(house.address("10.0.0.1", {hop}) == "10.0.0.1");
  }
}

TEST_CASE("wrong keys behind a proxy count against the client, not the proxy") {
  Gate::Options options = Proxied::options();
  options.wrong_credentials = 1;
  Gatehouse house(options);
  house.key({"admin"});
  const auto wrong = [&](const std::string& client) {
    Call call =
        get("/read").with("Authorization", "Bearer hp_wrong").with("X-Forwarded-For", client);
    call.peer = "10.0.0.1";
    return house.outcome(call);
  };
  CHECK(wrong("5.6.7.8") == "401 unauthenticated");
  CHECK(wrong("5.6.7.8") == "429 too_many_requests");
  CHECK(wrong("9.9.9.9, 5.6.7.8") == "429 too_many_requests");
  CHECK(wrong("5.6.7.9") == "401 unauthenticated");
}

TEST_CASE("a connection is secure by TLS, or by a trusted proxy's word") {
  Proxied house;
  CHECK(house.secure("1.2.3.4", "", true));
  CHECK_FALSE(house.secure("1.2.3.4", ""));
  CHECK_FALSE(house.secure("1.2.3.4", "https"));
  CHECK(house.secure("10.0.0.1", "https"));
  CHECK(house.secure("10.0.0.1", "HTTPS"));
  for (const std::string proto : {"", "http", "https,http", "httpsx"}) {
    CHECK_FALSE(house.secure("10.0.0.1", proto));
  }
}

TEST_CASE("behind a proxy that does TLS our origin is https") {
  Proxied house;
  const std::string cookie = house.log_in("ada", Role::admin);
  const auto change = [&](const std::string& origin) {
    Call call = post("/change").json("{}").with("Cookie", "__Host-" + cookie);
    call.with("Host", "hold.example").with("Origin", origin).with("X-Forwarded-Proto", "https");
    call.with("X-CSRF-Token", house.nonce(cookie));
    call.peer = "10.0.0.1";
    return house.outcome(call);
  };
  CHECK(change("https://hold.example") == "200");
  CHECK(change("http://hold.example") == "403 csrf");
}
