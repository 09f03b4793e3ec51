#include "http/assets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/embedded.h"
#include "tests/http/call.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

using test::header_of;

std::string version() {
  const std::string path = asset_path("page.css");
  return path.substr(8, path.rfind('/') - 8);
}

TEST_CASE("an asset's address holds a hash of all that pages are made of") {
  CHECK(asset_path("page.css") == "/assets/" + version() + "/page.css");
  CHECK(version().size() == 16);
  CHECK(version().find_first_not_of("0123456789abcdef") == std::string::npos);
  std::string all;
  for (const auto& file : embedded::files_of_web()) {
    all.append(file.name).append("\n").append(file.content);
  }
  CHECK(sha256_hex(all).starts_with(version()));
  all.back() ^= 1;
  CHECK_FALSE(sha256_hex(all).starts_with(version()));
}

TEST_CASE("an asset has its type, and may be kept for good") {
  const std::vector<std::pair<std::string, std::string>> types{
      {"page.css", "text/css; charset=utf-8"},
      {"shell.js", "text/javascript; charset=utf-8"},
      {"icon.svg", "image/svg+xml"}};
  for (const auto& [name, type] : types) {
    CAPTURE(name);
    const Response response = asset_response(version(), name);
    CHECK(response.status == 200);
    CHECK(response.content_type == type);
    CHECK(response.body == web_file(name));
    CHECK(header_of(response, "Cache-Control") == "public, max-age=31536000, immutable");
  }
}

TEST_CASE("every file of src/web but the templates is served") {
  for (const auto& file : embedded::files_of_web()) {
    CAPTURE(file.name);
    const bool is_template = file.name.ends_with(".html");
    const Response response = asset_response(version(), std::string(file.name));
    CHECK(response.status == (is_template ? 404 : 200));
    if (!is_template) CHECK(response.body == file.content);
  }
}

TEST_CASE("a file of another version, and one that there is not, is not found and not kept") {
  for (const auto& [wrong, name] :
       std::vector<std::pair<std::string, std::string>>{{"0123456789abcdef", "page.css"},
                                                        {"", "page.css"},
                                                        {version() + "0", "page.css"},
                                                        {version().substr(0, 15), "page.css"},
                                                        {version(), "shell.html"},
                                                        {version(), "nothing.css"},
                                                        {version(), "../page.css"},
                                                        {version(), "page"},
                                                        {version(), ""}}) {
    CAPTURE(wrong);
    CAPTURE(name);
    const Response response = asset_response(wrong, name);
    CHECK(response.status == 404);
    CHECK(response.body.find("\"code\":\"unknown_path\"") != std::string::npos);
    CHECK(header_of(response, "Cache-Control") == "");
  }
}

TEST_CASE("the modules of a page are named once each, its own first, with all that they import") {
  for (const char* page : {"inbox", "sessions", "session", "agents", "operations"}) {
    CAPTURE(page);
    const auto modules = modules_of(page + std::string(".js"));
    CHECK(modules.front() == page + std::string(".js"));
    const std::set<std::string> once(modules.begin(), modules.end());
    CHECK(once.size() == modules.size());
    // Whatever a browser would come to ask for is among them.
    for (const auto& module : modules) {
      const std::string_view text = web_file(module);
      for (auto at = text.find("'./"); at != std::string_view::npos; at = text.find("'./", at)) {
        at += 3;
        const std::string imported(text.substr(at, text.find('\'', at) - at));
        CAPTURE(imported);
        CHECK(once.count(imported) == 1);
      }
    }
  }
}

TEST_CASE("a page that is made of a file that is not there is a mistake of ours") {
  CHECK_THROWS_AS(web_file("nothing.html"), std::logic_error);
  CHECK_THROWS_AS(modules_of("nothing.js"), std::logic_error);
}

}  // namespace
}  // namespace holdpoint
