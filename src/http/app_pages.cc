#include "http/app_pages.h"

#include <array>

#include "http/api.h"
#include "http/assets.h"
#include "http/html.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

struct AppPage {
  const char* name;  // Its module is <name>.js, its style sheet <name>.css.
  const char* title;
  const char* pattern;
  const char* scope;
  bool in_nav;
};

constexpr std::array<AppPage, 5> kPages{{
    {"inbox", "Inbox", "/", "questions:read", true},
    {"sessions", "Sessions", "/sessions", "sessions:read", true},
    {"session", "Session", "/session/:id", "sessions:read", false},
    {"agents", "Agents", "/agents", "sessions:read", true},
    {"operations", "Operations", "/operations", "sessions:read", true},
}};

std::string fill(std::string_view text,
                 std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out;
  while (!text.empty()) {
    const auto open = text.find("{{");
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = text.find("}}", open);
    const auto name = text.substr(open + 2, close - open - 2);
    for (const auto& [known, value] : values) {
      if (known == name) out += value;
    }
    text.remove_prefix(close + 2);
  }
  return out;
}

std::string style_links(const AppPage& page) {
  std::string out;
  for (const std::string& name :
       {std::string("page"), std::string("app"), std::string(page.name)}) {
    out += "<link rel=\"stylesheet\" href=\"" + asset_path(name + ".css") + "\">\n";
  }
  return out;
}

std::string module_links(const AppPage& page) {
  std::string out;
  for (const auto& module : modules_of(page.name + std::string(".js"))) {
    out +=
        (out.empty() ? "<script type=\"module\" src=\"" : "<link rel=\"modulepreload\" href=\"") +
        asset_path(module) + (out.empty() ? "\"></script>\n" : "\">\n");
  }
  return out;
}

std::string nav_links(const AppPage& shown) {
  std::string out;
  for (const auto& page : kPages) {
    if (!page.in_nav) continue;
    const bool here = std::string_view(page.name) == shown.name;
    const bool parent =
        std::string_view(shown.name) == "session" && std::string_view(page.name) == "sessions";
    out += std::string("<a href=\"") + page.pattern + "\"" +
           (here     ? " aria-current=\"page\""
            : parent ? " aria-current=\"true\""
                     : "") +
           ">" + page.title + "</a>";
  }
  return out;
}

std::string who_box(Api& api, const Request& request) {
  if (request.caller.kind != Caller::Kind::user) return "";
  return "<span class=\"name\">" + escape_html(request.caller.name) +
         "</span><form method=\"post\" action=\"/logout\"><input type=\"hidden\" name=\"nonce\" "
         "value=\"" +
         escape_html(api.gate.nonce_for(request.nonce_subject)) +
         "\"><button class=\"quiet small\">Log out</button></form>";
}

Response show(Api& api, const AppPage& page, const Request& request) {
  Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Content-Security-Policy", std::string(kAppPolicy)}};
  response.body = fill(web_file("shell.html"), {{"title", page.title},
                                                {"icon", asset_path("icon.svg")},
                                                {"styles", style_links(page)},
                                                {"modules", module_links(page)},
                                                {"me", escape_html(me_json(api, request))},
                                                {"nav", nav_links(page)},
                                                {"who", who_box(api, request)}});
  return response;
}

}  // namespace

Routes app_routes(Api& api) {
  Routes routes;
  for (const auto& page : kPages) {
    routes.push_back({"GET", page.pattern, scope(page.scope),
                      [&api, &page](const Request& request) { return show(api, page, request); },
                      true});
  }
  routes.push_back({"GET", "/assets/:version/:name", nothing(), [](const Request& request) {
                      return asset_response(request.parameters.at("version"),
                                            request.parameters.at("name"));
                    }});
  return routes;
}

}  // namespace holdpoint
