#include "channels/email_channel.h"

#include <doctest/doctest.h>

#include "tests/wire/sample_question.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Kind = SendOutcome::Kind;

class FakeSender final : public MailSender {
 public:
  SmtpResult result{SmtpResult::Kind::sent, 250, ""};
  std::vector<std::string> messages;
  std::string from, to;

  SmtpResult send(const std::string& sender, const std::string& recipient,
                  const std::string& message, const std::function<bool()>&) override {
    from = sender;
    to = recipient;
    messages.push_back(message);
    return result;
  }
  SmtpResult check() override { return result; }
};

struct Post {
  FakeSender sender;
  EmailChannel channel{
      sender,
      {{"Holdpoint", "holdpoint@example.org"},
       "https://hp.example.org",
       [](const DeliveryId& id) { return "reply+" + id.text() + "@example.org"; },
       [](const DeliveryId& id) { return "https://hp.example.org/unsubscribe/" + id.text(); }}};
  Delivery delivery;

  Post() {
    delivery.id = DeliveryId("d-1");
    delivery.event = "question_pending";
    delivery.destination = "ana@example.org";
    delivery.tokens = {"t0ken"};
  }
  SendOutcome send(std::optional<std::string> ref = std::nullopt,
                   Time now = *parse_iso("2024-01-01T12:00:00.000Z")) {
    return channel.send({delivery, {test::sample_question()}, true, std::move(ref)}, now, nullptr);
  }
  bool sent(const std::string& part) const {
    return sender.messages.back().find(part) != std::string::npos;
  }
};

TEST_CASE("a mail that the server took is delivered under its Message-ID") {
  Post post;
  const SendOutcome outcome = post.send();
  CHECK(outcome.kind == Kind::delivered);
  CHECK(outcome.http_status == 250);
  CHECK(outcome.error == "");
  CHECK(outcome.message_ref == "<d-1@example.org>");
  CHECK(post.sender.from == "holdpoint@example.org");
  CHECK(post.sender.to == "ana@example.org");
  CHECK(post.sent("From: Holdpoint <holdpoint@example.org>\r\n"));
  CHECK(post.sent("Message-ID: <d-1@example.org>\r\n"));
  CHECK(post.sent("Reply-To: reply+d-1@example.org\r\n"));
  CHECK(post.sent("List-Unsubscribe: <https://hp.example.org/unsubscribe/d-1>\r\n"));
}

TEST_CASE("every attempt has the same Message-ID") {
  Post post;
  post.sender.result = {SmtpResult::Kind::failed, 451, "the mail server said 451 Later"};
  const SendOutcome outcome = post.send();
  CHECK(outcome.kind == Kind::failed);
  CHECK(outcome.http_status == 451);
  CHECK(outcome.error == "the mail server said 451 Later");
  CHECK_FALSE(outcome.message_ref);
  CHECK_FALSE(outcome.rest);
  post.delivery.tokens = {"another"};
  post.send(std::nullopt, *parse_iso("2024-01-01T12:01:00.000Z"));
  REQUIRE(post.sender.messages.size() == 2);
  for (const auto& message : post.sender.messages) {
    CHECK(message.find("Message-ID: <d-1@example.org>\r\n") != std::string::npos);
  }
}

TEST_CASE("how a mail failed decides whether, and when, it is tried again") {
  Post post;
  post.sender.result = {SmtpResult::Kind::refused, 550, "no such user"};
  CHECK(post.send().kind == Kind::refused);
  post.sender.result = {SmtpResult::Kind::failed, 0, "cannot be reached"};
  CHECK(post.send().kind == Kind::failed);
  CHECK_FALSE(post.send().http_status);
  post.sender.result = {SmtpResult::Kind::wrong_login, 535, "wrong"};
  CHECK(post.send().kind == Kind::failed);
  CHECK(post.send().rest == 60s);
  CHECK(post.send().rest_all);
  post.sender.result = {SmtpResult::Kind::failed, 421, "too many"};
  CHECK(post.send().rest == 30s);
  CHECK_FALSE(post.send().rest_all);
}

TEST_CASE("what is no address is refused before anything is written") {
  Post post;
  post.delivery.destination = "ana@example.org\r\nBcc: eve@example.org";
  const SendOutcome outcome = post.send();
  CHECK(outcome.kind == Kind::refused);
  CHECK(post.sender.messages.empty());
}

TEST_CASE("a question that is gone is refused, not thrown about") {
  Post post;
  const SendOutcome outcome =
      post.channel.send({post.delivery, {}, false, std::nullopt}, Time{}, nullptr);
  CHECK(outcome.kind == Kind::refused);
  CHECK(outcome.error == "the question is no longer there");
}

TEST_CASE("without functions for them there are neither replies nor ways to unsubscribe") {
  FakeSender sender;
  EmailChannel channel(sender, {{"", "h@example.org"}, "https://hp.example.org", nullptr, nullptr});
  Post post;
  channel.send({post.delivery, {test::sample_question()}, true, std::nullopt}, Time{}, nullptr);
  CHECK(sender.messages.back().find("Reply-To") == std::string::npos);
  CHECK(sender.messages.back().find("Unsubscribe") == std::string::npos);
}

}  // namespace
}  // namespace holdpoint
