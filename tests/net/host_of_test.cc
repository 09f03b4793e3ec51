#include <doctest/doctest.h>

#include "net/http_client.h"

namespace holdpoint {
namespace {

TEST_CASE("a URL's host comes with its port, given or not") {
  for (const auto& [url, host] : std::vector<std::pair<std::string, std::string>>{
           {"http://example.org", "example.org:80"},
           {"https://example.org", "example.org:443"},
           {"http://example.org/", "example.org:80"},
           {"http://example.org?x=1", "example.org:80"},
           {"http://example.org#top", "example.org:80"},
           {"http://example.org:8080/a/b?c=d#e", "example.org:8080"},
           {"https://example.org:80", "example.org:80"},
           {"http://10.0.0.1:1", "10.0.0.1:1"},
           {"http://example.org:0080/", "example.org:80"},
           {"http://[::1]", "[::1]:80"},
           {"https://[fd00::2]/x", "[fd00::2]:443"},
           {"http://[::1]:8080/x", "[::1]:8080"},
           {"http://a-b.c_d.example", "a-b.c_d.example:80"}}) {
    CAPTURE(url);
    CHECK(host_of(url).value_or("(none)") == host);
  }
}

TEST_CASE("hosts and schemes are the same in every case") {
  CHECK(host_of("HTTP://Example.ORG") == "example.org:80");
  CHECK(host_of("hTTpS://EXAMPLE.org:8443/Path") == "example.org:8443");
}

TEST_CASE("what stands after the host is not looked at") {
  CHECK(host_of("http://example.org/a@b:c//d") == "example.org:80");
  CHECK(host_of("http://example.org?next=http://u@other:1/") == "example.org:80");
}

TEST_CASE("a URL of another scheme, or none, has no host") {
  for (const std::string url :
       {"", "example.org", "//example.org", "http:example.org", "http:/example.org",
        "ftp://example.org", "file:///etc/passwd", "javascript://x", "http", "httpx://example.org",
        " http://example.org", "http//example.org", "gopher://example.org:70/x",
        "http:/x?u=http://example.org"}) {
    CAPTURE(url);
    CHECK_FALSE(host_of(url));
  }
}

TEST_CASE("a URL without a host has none") {
  for (const std::string url : {"http://", "https:///path", "http://?x", "http://#x"}) {
    CAPTURE(url);
    CHECK_FALSE(host_of(url));
  }
}

TEST_CASE("a URL with a name and password in it is refused") {
  for (const std::string url : {"http://ana@example.org", "http://ana:secret@example.org/",
                                "http://example.org@10.0.0.1/", "http://@example.org"}) {
    CAPTURE(url);
    CHECK_FALSE(host_of(url));
  }
}

TEST_CASE("a URL with white space or control characters is refused") {
  for (const std::string url :
       {"http://exam ple.org", "http://example.org/a b", "http://example.org/\r\nX: y",
        "http://example.org/\t", "http://example.org/\x7f", "http://example.org "}) {
    CAPTURE(url);
    CHECK_FALSE(host_of(url));
  }
  CHECK_FALSE(host_of(std::string("http://example.org/\0x", 21)));
}

TEST_CASE("a URL with no host or no real port before its path is refused, not kept for later") {
  for (const std::string url :
       {"http://:80/", "http://example.org:abc/", "http://example.org:70000/",
        "http://example.org:-1/", "http://[::1/", "http://a:1:2/", "http://[::1]x/",
        "http://[::1]x:80/", "http://[]/", "http://example.org:0/"}) {
    CAPTURE(url);
    CHECK_FALSE(host_of(url));
  }
  // An empty port is the scheme's own (RFC 3986 3.2.3); refusing it is fine, another host is not.
  CHECK(host_of("http://example.org:/").value_or("example.org:80") == "example.org:80");
}

}  // namespace
}  // namespace holdpoint
