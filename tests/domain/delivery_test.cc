#include "domain/delivery.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

const Time kNow = parse_iso("2026-11-16T09:00:00.000Z").value();

TEST_CASE("the mark of a link's token names its delivery, so that no two are alike") {
  const auto id = DeliveryId::make(kNow);
  const auto next = DeliveryId::make(kNow);
  CHECK(token_mark(id).find(id.text()) != std::string::npos);
  CHECK(token_mark(id) != token_mark(next));
  CHECK(token_mark(id).find(token_mark(next)) == std::string::npos);
}

TEST_CASE("the mark stands in JSON as it is") {
  const std::string mark = token_mark(DeliveryId::make(kNow));
  for (const char c : mark) {
    CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(static_cast<unsigned char>(c) < 0x7f);
  }
  CHECK(mark.find_first_of("\"\\/") == std::string::npos);
}

TEST_CASE("a delivery's states have names, and only those") {
  for (const auto status : kDeliveryStatuses) {
    CHECK(delivery_status_from(to_text(status)) == status);
  }
  CHECK_FALSE(delivery_status_from("lost"));
}

TEST_CASE("incoming webhooks of Slack's are Slack") {
  CHECK(platform_behind("slack-webhook") == "slack");
  for (const char* name : {"url", "slack", "discord", "email"})
    CHECK(platform_behind(name) == name);
}

}  // namespace
}  // namespace holdpoint
