#include "http/app_pages.h"

#include <doctest/doctest.h>

#include "http/assets.h"
#include "http/html.h"
#include "tests/http/site.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::vector<std::string> kPaths{"/", "/sessions", "/session/s-1", "/agents", "/operations"};

bool has(const Response& page, const std::string& text) {
  return page.body.find(text) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The value of `attribute`, as a browser reads it.
std::string attribute_of(const Response& page, const std::string& attribute) {
  const auto at = page.body.find(" " + attribute + "=\"");
  REQUIRE(at != std::string::npos);
  const auto from = at + attribute.size() + 3;
  std::string text = page.body.substr(from, page.body.find('"', from) - from);
  for (const auto& [escaped, plain] : std::vector<std::pair<std::string, std::string>>{
           {"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
    for (auto i = text.find(escaped); i != std::string::npos; i = text.find(escaped, i + 1)) {
      text.replace(i, escaped.size(), plain);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the inbox's pages have a policy that lets them run this server's modules alone") {
  Site site;
  for (const auto& path : kPaths) {
    CAPTURE(path);
    const Response page = site.send(get(path));
    CHECK(page.status == 200);
    CHECK(page.content_type == "text/html; charset=utf-8");
    CHECK(header_of(page, "Content-Security-Policy") == kAppPolicy);
    CHECK(header_of(page, "Cache-Control") == "");  // So nobody keeps it: it names its caller.
  }
  for (const char* loose : {"unsafe", "http", "data:", "blob:", "*"}) {
    CHECK(kAppPolicy.find(loose) == std::string_view::npos);
  }
}

TEST_CASE("a page with script names its modules, its style sheets and nothing else to run") {
  Site site;
  const Response page = site.send(get("/"));
  CHECK(count(page.body, "<script") == 1);
  CHECK(has(page, "<script type=\"module\" src=\"" + asset_path("inbox.js") + "\"></script>"));
  const auto modules = modules_of("inbox.js");
  for (std::size_t i = 1; i < modules.size(); ++i) {
    CHECK(count(page.body, "<link rel=\"modulepreload\" href=\"" + asset_path(modules[i])) == 1);
  }
  for (const char* sheet : {"page.css", "app.css", "inbox.css"}) {
    CHECK(count(page.body, "<link rel=\"stylesheet\" href=\"" + asset_path(sheet)) == 1);
  }
  CHECK_FALSE(has(page, "{{"));
  CHECK_FALSE(has(page, " style="));
  CHECK_FALSE(has(page, " on"));
}

TEST_CASE("the navigation marks the page that is open, and a session's list on a session's page") {
  Site site;
  for (const auto& [path, title] :
       std::vector<std::pair<std::string, std::string>>{{"/", "Inbox"},
                                                        {"/sessions", "Sessions"},
                                                        {"/agents", "Agents"},
                                                        {"/operations", "Operations"}}) {
    CAPTURE(path);
    const Response page = site.send(get(path));
    CHECK(has(page, "<a href=\"" + path + "\" aria-current=\"page\">" + title + "</a>"));
    CHECK(count(page.body, "aria-current") == 1);
    CHECK(has(page, "<title>" + title + " · Holdpoint</title>"));
    CHECK(has(page, "<h1 class=\"unseen\">" + title + "</h1>"));
  }
  const Response session = site.send(get("/session/s-1"));
  CHECK(has(session, "<a href=\"/sessions\" aria-current=\"true\">Sessions</a>"));
  CHECK(count(session.body, "aria-current") == 1);
}

TEST_CASE("who opened the page is told to its script, and cannot break out of where that stands") {
  Site site;
  const Json open = Json::parse(attribute_of(site.send(get("/")), "data-me"));
  CHECK(open.at("kind") == "open");
  CHECK(site.gate.check_nonce(open.at("csrf").get<std::string>(), "open"));

  const std::string name = "a'b\"c><script>alert(1)</script>&quot;{{title}}";
  Request request;
  request.caller = {Caller::Kind::user, name, name, {"questions:read"}};
  request.nonce_subject = "login:x";
  for (const auto& route : app_routes(site.api)) {
    if (route.pattern.starts_with("/assets")) continue;
    CAPTURE(route.pattern);
    const Response page = route.handle(request);
    const Json me = Json::parse(attribute_of(page, "data-me"));
    CHECK(me.at("name") == name);
    CHECK(me.at("scopes") == Json{"questions:read"});
    CHECK(site.gate.check_nonce(me.at("csrf").get<std::string>(), "login:x"));
    CHECK(has(page, "<span class=\"name\">" + escape_html(name) + "</span>"));
    CHECK(count(page.body, "<script") == 1);
  }
}

TEST_CASE("only who is logged in is offered to log out, and by a form of theirs") {
  Site site;
  CHECK_FALSE(has(site.send(get("/")), "/logout"));
  const std::string key = site.key({"questions:read", "sessions:read"});
  const Response page = site.send(get("/").with("Authorization", key));
  CHECK(page.status == 200);
  CHECK_FALSE(has(page, "/logout"));
  CHECK(Json::parse(attribute_of(page, "data-me")).at("csrf").is_null());
}

TEST_CASE("a page with script needs the scope of what it shows") {
  Site site;
  const std::string questions = site.key({"questions:read"}),
                    sessions = site.key({"sessions:read"});
  for (const auto& path : kPaths) {
    CAPTURE(path);
    const bool inbox = path == "/";
    CHECK(site.send(get(path).with("Authorization", questions)).status == (inbox ? 200 : 403));
    CHECK(site.send(get(path).with("Authorization", sessions)).status == (inbox ? 403 : 200));
    const Response stranger = site.send(get(path));
    CHECK(stranger.status == 303);
    CHECK(header_of(stranger, "Location") == "/login?next=" + escape_url(path));
  }
}
