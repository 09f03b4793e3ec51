#include "wire/signature.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// Each expected value was computed with Python's hmac, hashlib and base64.
const std::string kSecret = "whsec_aG9sZHBvaW50LWtub3duLWFuc3dlci1rZXktMQ==";
const std::string kOtherSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const std::string kId = "0190a0b0-c0d0-7e0f-8123-456789abcdef";
const std::string kBody = R"({"event":"question_pending"})";
const std::string kSignature = "v1,/o3APhbwaAhMjhPKTvbVLseDappmafgbTKB4d0ivsjQ=";
const std::string kOtherSignature = "v1,HmwnPo+RoiPTdj/zU0pqzTNR3kmEQoGZ046OZljkTiM=";
constexpr Time kWhen{1700000000s};

std::string signed_with(std::initializer_list<std::string> secrets, Time when = kWhen,
                        const std::string& body = kBody) {
  std::vector<WebhookSecret> parsed;
  for (const auto& secret : secrets) parsed.push_back(WebhookSecret::parse(secret));
  return sign_webhook(parsed, kId, when, body);
}

std::string field_blamed_for(const std::string& secret) {
  return test::complaint_of([&] { return WebhookSecret::parse(secret); }).field;
}

TEST_CASE("a signature is the one that others compute") {
  CHECK(signed_with({kSecret}) == kSignature);
  CHECK(signed_with({kOtherSecret}) == kOtherSignature);
}

TEST_CASE("the example of Standard Webhooks itself comes out right") {
  CHECK(sign_webhook({WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")},
                     "msg_p5jXN8AQM9LWM0D4loKWxJek", Time{1614265330s},
                     R"({"test": 2432232314})") ==
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_CASE("two secrets give two signatures, so that receivers can change over") {
  CHECK(signed_with({kSecret, kOtherSecret}) == kSignature + " " + kOtherSignature);
  CHECK(signed_with({kOtherSecret, kSecret}) == kOtherSignature + " " + kSignature);
}

TEST_CASE("the time counts in whole seconds, as the header gives it") {
  CHECK(signed_with({kSecret}, kWhen + 999ms) == kSignature);
  CHECK(signed_with({kSecret}, kWhen + 1s) != kSignature);
  CHECK(signed_with({kSecret}, kWhen - 1ms) != kSignature);
}

TEST_CASE("another body or id has another signature") {
  CHECK(signed_with({kSecret}, kWhen, kBody + " ") != kSignature);
  CHECK(sign_webhook({WebhookSecret::parse(kSecret)}, "another", kWhen, kBody) != kSignature);
}

TEST_CASE("a secret may stand without whsec_") {
  CHECK(WebhookSecret::parse(kSecret).key() == "holdpoint-known-answer-key-1");
  CHECK(WebhookSecret::parse(kSecret.substr(6)).key() == "holdpoint-known-answer-key-1");
}

TEST_CASE("a secret has at least 16 bytes") {
  CHECK(WebhookSecret::parse("AAECAwQFBgcICQoLDA0ODw==").key().size() == 16);
  CHECK(field_blamed_for("AAECAwQFBgcICQoLDA0O") == "callback_secret");
}

TEST_CASE("what is no base64 is no secret") {
  for (const std::string text :
       {"", "whsec_", "not base64 at all, is it?",
        "AAECAwQFBgcICQoLDA0ODw=", "AAECAwQFBgcICQoLDA0ODw",
        "AAECAwQFBgcICQoLDA0O*w==", "AAECAwQFBgcICQoLDA0O_w==", "WHSEC_AAECAwQFBgcICQoLDA0ODw==",
        "========================", "AAECAwQFBgcICQoLDA0ODw======", "AAE=AAE=AAE=AAE=AAE=AAE=",
        "   AAECAwQFBgcICQoLDA0ODw== ", "AAECAwQFBgcICQoLDA0ODw==\r\n\r\n"}) {
    CAPTURE(text);
    CHECK(field_blamed_for(text) == "callback_secret");
  }
}

}  // namespace
}  // namespace holdpoint
