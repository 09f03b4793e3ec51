#include "domain/target.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"

using namespace holdpoint;

TEST_CASE("a target is a channel, and a place on it or the settings' own") {
  CHECK(parse_target("slack", "f") == Target{"slack", ""});
  CHECK(parse_target("slack:#ops", "f") == Target{"slack", "#ops"});
  CHECK(parse_target("slack:#größe", "f") == Target{"slack", "#größe"});
  CHECK(parse_target("discord:80351110224678912", "f") == Target{"discord", "80351110224678912"});
  CHECK(parse_target("email:ana+x@example.org", "f") == Target{"email", "ana+x@example.org"});
  CHECK(parse_target("url", "f") == Target{"url", ""});
  CHECK(parse_target("slack:#ops", "f").text() == "slack:#ops");
}

TEST_CASE("what is no target is refused, naming the field") {
  for (const char* text :
       {"", "smoke", "Slack", "slack:", "slack:a b", "slack:<!here>", "discord:#ops",
        "discord:123456789012345678901", "email:ana", "email:a@b\r\nRCPT TO:<c@d>", "email:a b@c.d",
        "email:<a@b.c>", "email:a@b,c@d", "url:http://x", ":x"}) {
    CAPTURE(text);
    try {
      parse_target(text, "channels[2]");
      FAIL_CHECK("taken");
    } catch (const BadRequest& e) {
      CHECK(e.field() == "channels[2]");
    }
  }
}

TEST_CASE("an address is one that any mail server takes") {
  for (const char* good : {"a@b", "ana@example.org", "o'neil+tag@mail.example-1.org"}) {
    CHECK(is_mail_address(good));
  }
  for (const char* bad : {"", "@", "a@", "@b", "a@b@c", ".a@b", "a.@b", "a..b@c", "a@.b", "a@b.",
                          "a b@c", "a@b\n", "\"a\"@b", "a@[1.2.3.4]", "ä@b"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_mail_address(bad));
  }
  CHECK_FALSE(is_mail_address(std::string(65, 'a') + "@b"));
}
