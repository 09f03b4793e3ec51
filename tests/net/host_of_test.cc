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

TEST_CASE("a host is what libcurl will connect to, however the address is spelt") {
  for (const std::string host : {"127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1",
                                 "017700000001", "0177.0.0.01", "0x7f.0.0x0.01"}) {
    CAPTURE(host);
    CHECK(host_of("http://" + host + "/").value_or("(none)") == "127.0.0.1:80");
  }
  CHECK(host_of("http://0/") == "0.0.0.0:80");
  for (const std::string host : {"[0:0:0:0:0:0:0:1]", "[::0:1]", "[0000::0001]"}) {
    CAPTURE(host);
    CHECK(host_of("http://" + host + ":8080").value_or("(none)") == "[::1]:8080");
  }
  // Numbers that make no address are names, for the resolver to know or not.
  CHECK(host_of("http://256.0.0.1/") == "256.0.0.1:80");
  CHECK(host_of("http://4294967296/") == "4294967296:80");
  CHECK(host_of("http://127.0.0.1./") == "127.0.0.1.:80");
}

TEST_CASE("a host that may look like another to people is refused") {
  for (const std::string host : {"%31%32%37.0.0.1",
                                 "127%2e0.0.1",
                                 "example.org%2f",
                                 "example.org%00",
                                 "example.org%40x",
                                 "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",
                                 "127\xe3\x80\x82"
                                 "0\xe3\x80\x82"
                                 "0\xe3\x80\x82"
                                 "1",
                                 "\xe2\x91\xa0.0.0.1",
                                 "ex\xc3\xa4mple.org",
                                 "\xff",
                                 "example.org\\",
                                 "\\example.org",
                                 "example.org\\@10.0.0.1",
                                 "10.0.0.1\\.example.org",
                                 "example.org;10.0.0.1",
                                 "example.org,10.0.0.1",
                                 "example.org&10.0.0.1",
                                 "{10.0.0.1,10.0.0.2}",
                                 "10.0.0.[1-9]",
                                 "example.org!",
                                 "~example.org",
                                 "a@b@10.0.0.1",
                                 "a:b@10.0.0.1",
                                 "[fe80::1%25eth0]",
                                 "[fe80::1%eth0]",
                                 "[fe80::1%251]",
                                 "[127.0.0.1]",
                                 "[v1.x]",
                                 "[::1",
                                 "::1",
                                 "[::1]]",
                                 "[[::1]]",
                                 "[::1]8080",
                                 "[::1][::2]",
                                 "10.0.0.1:80:443",
                                 "[::1]:80:443",
                                 "10.0.0.1:+80",
                                 "10.0.0.1:0x50",
                                 "10.0.0.1:80 "}) {
    CAPTURE(host);
    CHECK_FALSE(host_of("http://" + host));
    CHECK_FALSE(host_of("http://" + host + "/in"));
    CHECK_FALSE(host_of("https://" + host + "/in"));
  }
}

TEST_CASE("what stands after the host is not looked at") {
  CHECK(host_of("http://example.org/a@b:c//d") == "example.org:80");
  CHECK(host_of("http://example.org?next=http://u@other:1/") == "example.org:80");
}

TEST_CASE("a URL of another scheme, or none, has no host") {
  for (const std::string url : {"",
                                "example.org",
                                "//example.org",
                                "http:example.org",
                                "http:/example.org",
                                "ftp://example.org",
                                "file:///etc/passwd",
                                "javascript://x",
                                "http",
                                "httpx://example.org",
                                " http://example.org",
                                "http//example.org",
                                "gopher://example.org:70/x",
                                "http:/x?u=http://example.org",
                                "http:\\\\example.org",
                                "http:///example.org",
                                "http:////example.org",
                                "\\\\example.org",
                                "http://\\example.org",
                                "ht\ttp://example.org",
                                "unix:///run/x.sock",
                                "http+unix://%2Frun%2Fx.sock",
                                "http:http://example.org",
                                "url:http://example.org",
                                "dict://example.org:11211/",
                                "ldap://example.org",
                                "tftp://example.org",
                                "smb://example.org"}) {
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
