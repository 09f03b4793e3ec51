#include "wire/form.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using test::complaint_of;
using Texts = std::vector<std::string>;

// What is wrong with a form, as a 400 would say it.
std::string complaint_about(const std::string& body) {
  try {
    Form::parse(body);
  } catch (const Unreadable& e) {
    return e.field() + ": " + e.what();
  }
  return "";
}

TEST_CASE("a form's fields are decoded, names as well as values") {
  const Form form = Form::parse("a=1&b+c=d+e&%66%6F%6f=%3D%26%2B%25&%E6%97%A5=%f0%9f%91%8D");
  CHECK(form.text("a") == "1");
  CHECK(form.text("b c") == "d e");
  CHECK(form.text("foo") == "=&+%");
  CHECK(form.text("日") == "👍");
  CHECK(form.fields().size() == 4);
}

TEST_CASE("a field may be empty, have no =, or have more than one") {
  const Form form = Form::parse("a=&b&c=x=y&&=z&");
  CHECK(form.fields().count("a") == 1);
  CHECK(form.text("a") == "");
  CHECK(form.fields().count("b") == 1);
  CHECK(form.text("c") == "x=y");
  CHECK(form.text("") == "z");
  CHECK(form.fields().size() == 4);
  CHECK(Form::parse("").fields().empty());
  CHECK(Form::parse("&&&").fields().empty());
}

TEST_CASE("what is not there is empty") {
  const Form form = Form::parse("b=1");
  CHECK(form.text("a") == "");
  CHECK(form.text("c") == "");
  CHECK(form.texts("a").empty());
}

TEST_CASE("a field that is there more than once keeps its order, and the first counts") {
  const Form form = Form::parse("choice=b&x=1&choice=a&choice=b");
  CHECK(form.texts("choice") == Texts{"b", "a", "b"});
  CHECK(form.text("choice") == "b");
}

TEST_CASE("a % without two hex digits makes the form unreadable") {
  for (const std::string body : {"a=%", "a=%4", "a=%4&b=1", "a=%zz", "a=%4g", "a=%g4", "%=1",
                                 "a=%%41", "a=%u0041", "a=% 41", "a=%+1", "a=%-1"}) {
    CAPTURE(body);
    CHECK(complaint_about(body) == "body: is not a form: a % without two hex digits");
  }
}

TEST_CASE("broken UTF-8 and NUL make the form unreadable, escaped or not") {
  for (const std::string& body :
       {std::string("a=%00"), std::string("a=x%00y"), std::string("%00=1"), std::string("a=%ff"),
        std::string("a=%c0%80"), std::string("a=%ed%a0%80"), std::string("a=%e6%97"),
        std::string("a=\xff"), std::string("a=\0", 3), std::string("\xc3=1")}) {
    CAPTURE(body);
    CHECK(complaint_about(body) == "body: is not a form in UTF-8");
  }
}

TEST_CASE("a character that is cut over two fields is none") {
  CHECK(complaint_about("a=%e6&b=%97%a5") == "body: is not a form in UTF-8");
}

TEST_CASE("a form has at most 100 fields") {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "&a=1";
  CHECK(Form::parse(body).fields().size() == 100);
  CHECK(complaint_about(body + "&") == "");
  CHECK(complaint_about(body + "&b=1") == "body: has more than 100 fields");
}

TEST_CASE("what is escaped for a URL comes back as it was") {
  std::string text = "/a?b=c&d+e%f#g é日👍\t\r\n\"'<>\\";
  for (char c = 1; c < 127; ++c) text += c;
  const std::string escaped = escape_url(text);
  CHECK(unescape_url(escaped) == text);
  CHECK(escaped.find_first_of("/?&=+# \"'<>\\\r\n") == std::string::npos);
  CHECK(Form::parse("a=" + escaped).text("a") == text);
  CHECK(escape_url("aZ09-_.~") == "aZ09-_.~");
  CHECK(escape_url("é") == "%C3%A9");
}

TEST_CASE("a + is a space in a form only") { CHECK(unescape_url("a+b%20c") == "a+b c"); }

TEST_CASE("an escape that is none is unreadable in a path too") {
  CHECK(complaint_of([] { return unescape_url("a%2"); }).field == "body");
  CHECK(complaint_of([] { return unescape_url("%ff"); }).field == "body");
}

}  // namespace
}  // namespace holdpoint
