#include "domain/access.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using test::complaint_of;
using Names = std::vector<std::string>;

const Names kAllScopes{"sessions:create",  "sessions:read", "questions:ask", "questions:read",
                       "questions:answer", "webhook:poet",  "admin"};

// What of all there is these scopes allow.
Names allowed_by(const Scopes& scopes) {
  Names allowed;
  for (const auto& scope : kAllScopes) {
    if (allows(scopes, scope)) allowed.push_back(scope);
  }
  return allowed;
}

TEST_CASE("each scope can be held alone, and is read back as it was written") {
  for (const auto& name : kAllScopes) {
    CAPTURE(name);
    const Scopes scopes = read_scopes({name}, "scopes");
    CHECK(scopes == Scopes{name});
    CHECK(split_scopes(join(scopes)) == scopes);
  }
}

TEST_CASE("a scope that there is not is refused by name, and the message lists those there are") {
  for (const std::string name :
       {"", " ", "answer", "Admin", "questions:answer ", "questions:*", "sessions", "webhook",
        "webhook:", "webhook:a b", "webhook:a\tb", "webhook:a\nb", "admin admin"}) {
    CAPTURE(name);
    const auto refused = complaint_of([&] { return read_scopes({"admin", name}, "scopes"); });
    CHECK(refused.field == "scopes");
    CHECK(refused.says("has no scope \"" + std::string(name) + "\""));
    CHECK(refused.says("questions:answer, webhook:<agent> and admin"));
  }
  CHECK(complaint_of([] { return read_scopes({"x"}, "here"); }).field == "here");
}

TEST_CASE("a credential without a scope is refused") {
  CHECK(complaint_of([] { return read_scopes({}, "scopes"); }).reason ==
        "needs at least one scope");
}

TEST_CASE("what asks may hold neither the answer nor the keys to it") {
  for (const std::string other : {"questions:answer", "admin"}) {
    CAPTURE(other);
    for (const auto& names : {Names{"questions:ask", other}, Names{other, "questions:ask"},
                              Names{other, "sessions:read", "questions:ask", "webhook:poet"}}) {
      const auto refused = complaint_of([&] { return read_scopes(names, "scopes"); });
      CHECK(refused.field == "scopes");
      CHECK(refused.says("may not hold both questions:ask and " + std::string(other)));
    }
  }
}

TEST_CASE("all other scopes go together") {
  for (const auto& one : kAllScopes) {
    for (const auto& other : kAllScopes) {
      const bool asks = one == "questions:ask" || other == "questions:ask";
      const bool decides = one == "questions:answer" || other == "questions:answer" ||
                           one == "admin" || other == "admin";
      CAPTURE(one);
      CAPTURE(other);
      CHECK((complaint_of([&] {
               return read_scopes({one, other}, "scopes");
             }).field == "(none)") == !(asks && decides));
    }
  }
}

TEST_CASE("a scope allows itself, and starting any agent includes each") {
  CHECK(allowed_by({}).empty());
  CHECK(allowed_by({"sessions:read"}) == Names{"sessions:read"});
  CHECK(allowed_by({"questions:ask"}) == Names{"questions:ask"});
  CHECK(allowed_by({"questions:read"}) == Names{"questions:read"});
  CHECK(allowed_by({"questions:answer"}) == Names{"questions:answer"});
  CHECK(allowed_by({"webhook:poet"}) == Names{"webhook:poet"});
  CHECK(allowed_by({"webhook:poe"}).empty());
  CHECK(allowed_by({"webhook:poets"}).empty());
  CHECK(allowed_by({"sessions:create"}) == Names{"sessions:create", "webhook:poet"});
}

TEST_CASE("admin brings all but asking and answering") {
  CHECK(allowed_by({"admin"}) ==
        Names{"sessions:create", "sessions:read", "questions:read", "webhook:poet", "admin"});
}

TEST_CASE("scopes are kept as one line, whatever spaces it has") {
  CHECK(join({}) == "");
  CHECK(join({"questions:read", "admin"}) == "admin questions:read");
  CHECK(split_scopes("").empty());
  CHECK(split_scopes("  admin   questions:read ") == Scopes{"admin", "questions:read"});
}

TEST_CASE("roles have names, and only those") {
  for (const Role role : {Role::viewer, Role::answerer, Role::admin}) {
    CHECK(role_from(to_text(role)) == role);
  }
  CHECK(to_text(Role::viewer) == "viewer");
  CHECK(to_text(Role::answerer) == "answerer");
  CHECK(to_text(Role::admin) == "admin");
  for (const char* text : {"", "Admin", "admin ", "root"}) CHECK_FALSE(role_from(text));
}

TEST_CASE("each role may what the one before may, and none may ask") {
  CHECK(allowed_by(scopes_of(Role::viewer)) == Names{"sessions:read", "questions:read"});
  CHECK(allowed_by(scopes_of(Role::answerer)) ==
        Names{"sessions:read", "questions:read", "questions:answer"});
  CHECK(allowed_by(scopes_of(Role::admin)) == Names{"sessions:create", "sessions:read",
                                                    "questions:read", "questions:answer",
                                                    "webhook:poet", "admin"});
}

TEST_CASE("who is open or local may everything; nobody may nothing") {
  Caller caller;
  for (const auto& scope : kAllScopes) CHECK_FALSE(caller.may(scope));
  for (const auto kind : {Caller::Kind::open, Caller::Kind::local}) {
    caller.kind = kind;
    for (const auto& scope : kAllScopes) CHECK(caller.may(scope));
  }
  const Caller key{Caller::Kind::key, "ci", "0a", {"sessions:read"}};
  CHECK(key.may("sessions:read"));
  CHECK_FALSE(key.may("sessions:create"));
}

TEST_CASE("an actor tells who by which credential from where") {
  const auto is = [](const Actor& actor, const Actor& wanted) {
    return actor.name == wanted.name && actor.credential == wanted.credential &&
           actor.address == wanted.address;
  };
  CHECK(
      is(Caller{Caller::Kind::key, "ci", "0a", {}}.actor("1.2.3.4"), {"ci", "key:0a", "1.2.3.4"}));
  CHECK(is(Caller{Caller::Kind::user, "ana", "ana", {}}.actor("::1"), {"ana", "user:ana", "::1"}));
  CHECK(is(Caller{Caller::Kind::local, "root", "", {}}.actor(""), {"root", "local", ""}));
  // Neither has proved a name, so neither gets one.
  CHECK(is(Caller{Caller::Kind::open, "x", "x", {}}.actor("::1"), {"", "open", "::1"}));
  CHECK(is(Caller{Caller::Kind::nobody, "x", "x", {}}.actor("::1"), {"", "nobody", "::1"}));
}

TEST_CASE("without answerers everybody may decide") {
  CHECK(may_decide({}, {"ana", "user:ana", ""}));
  CHECK(may_decide({}, {"", "open", ""}));
}

TEST_CASE("with answerers only those who are listed may decide, whatever their case") {
  const Names answerers{"Ana@Example.org", "ben"};
  CHECK(may_decide(answerers, {"ana@example.org", "user:ana@example.org", ""}));
  CHECK(may_decide(answerers, {"ANA@example.org", "link:0123", ""}));
  CHECK(may_decide(answerers, {"Ben", "user:ben", ""}));
  for (const std::string name : {"", "an", "ana", "ben ", "benn", "ana@example.org,ben"}) {
    CAPTURE(name);
    CHECK_FALSE(may_decide(answerers, {name, "user:" + std::string(name), ""}));
  }
}

TEST_CASE("a key is listed as key: and its name, and counts as no person of that name") {
  CHECK(may_decide({"key:Pager"}, {"pager", "key:0a", ""}));
  CHECK_FALSE(may_decide({"pager"}, {"pager", "key:0a", ""}));
  CHECK_FALSE(may_decide({"key:pager"}, {"pager", "user:pager", ""}));
  CHECK_FALSE(may_decide({"key:0a"}, {"pager", "key:0a", ""}));
}

TEST_CASE("a person whose name looks like a key's is not that key") {
  CHECK_FALSE(may_decide({"key:pager"}, {"key:pager", "user:key:pager", ""}));
  CHECK_FALSE(may_decide({"key:pager"}, {"key:pager", "link:0123", ""}));
}

}  // namespace
}  // namespace holdpoint
