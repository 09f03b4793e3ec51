#include "http/html.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

TEST_CASE("whatever HTML reads as markup is escaped, and nothing else is touched") {
  CHECK(escape_html("") == "");
  CHECK(escape_html("<a href=\"x\" id='y'>&amp;</a>") ==
        "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;");
  const std::string plain = "aé日👍\n\t`{}()[]/=%;:\x01";
  CHECK(escape_html(plain) == plain);
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  CHECK(escape_html(all).find_first_of("<>\"'") == std::string::npos);
}

TEST_CASE("a page has its title escaped, no script and no style of its own") {
  const Response page = html_page(418, "</title><script>", "<p>body</p>\n");
  CHECK(page.status == 418);
  CHECK(page.content_type == "text/html; charset=utf-8");
  CHECK(page.body.starts_with("<!doctype html>"));
  CHECK(page.body.find("&lt;/title&gt;&lt;script&gt;") != std::string::npos);
  CHECK(page.body.find("<p>body</p>") != std::string::npos);
  CHECK(page.body.find("<script") == std::string::npos);
  CHECK(page.body.find("<style") == std::string::npos);
  CHECK(page.body.find("http:") == std::string::npos);
}

TEST_CASE("a message is plain text") {
  const Response page = message_page(404, "No <b>", "It is <i>gone</i> & so on");
  CHECK(page.status == 404);
  CHECK(page.body.find("<h1>No &lt;b&gt;</h1>") != std::string::npos);
  CHECK(page.body.find("<p>It is &lt;i&gt;gone&lt;/i&gt; &amp; so on</p>") != std::string::npos);
}

TEST_CASE("a redirect makes a GET of a POST") {
  const Response response = redirect_to("/question/7");
  CHECK(response.status == 303);
  REQUIRE(response.headers.size() == 1);
  CHECK(response.headers[0] == std::pair<std::string, std::string>{"Location", "/question/7"});
}

}  // namespace
}  // namespace holdpoint
