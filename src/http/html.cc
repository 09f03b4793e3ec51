#include "http/html.h"

#include "http/assets.h"

namespace holdpoint {

namespace {

std::string brand(Visitor visitor) {
  const std::string name =
      "<img src=\"" + asset_path("icon.svg") + "\" alt=\"\" width=\"24\" height=\"24\">Holdpoint";
  return visitor == Visitor::of_inbox ? "<a class=\"brand\" href=\"/\">" + name + "</a>"
                                      : "<span class=\"brand\">" + name + "</span>";
}

}  // namespace

Response html_page(int status, std::string_view title, std::string_view body, Visitor visitor) {
  Response response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>";
  response.body += escape_html(title);
  response.body += " · Holdpoint</title>\n<link rel=\"stylesheet\" href=\"" +
                   asset_path("page.css") + "\">\n<link rel=\"icon\" href=\"" +
                   asset_path("icon.svg") + "\">\n</head>\n<body>\n<header class=\"bar\">" +
                   brand(visitor) + "</header>\n<main>\n";
  response.body += body;
  response.body += "</main>\n</body>\n</html>\n";
  return response;
}

Response message_page(int status, std::string_view title, std::string_view message) {
  return html_page(status, title,
                   "<h1>" + escape_html(title) + "</h1>\n<p>" + escape_html(message) + "</p>\n");
}

Response redirect_to(std::string path) {
  Response response;
  response.status = 303;
  response.content_type = "text/plain";
  response.headers.emplace_back("Location", std::move(path));
  return response;
}

}  // namespace holdpoint
