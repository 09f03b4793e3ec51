#include "wire/card_json.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "wire/json.h"

using namespace holdpoint;

namespace {

OutsideCard parse(const std::string& body) { return parse_outside_card(body, "pager", Limits{}); }

// The field that is blamed.
std::string blamed(const std::string& body) {
  try {
    (void)parse(body);
  } catch (const BadRequest& e) {
    CHECK_FALSE(std::string(e.what()).empty());
    return e.field();
  }
  return "(taken)";
}

}  // namespace

TEST_CASE("a message to people needs its text alone") {
  const auto least = parse(R"({"message":"Done."})");
  CHECK(least.agent_name == "pager");
  CHECK(least.card.text == "Done.");
  CHECK(least.card.title.empty());
  CHECK(least.card.channels.empty());
  CHECK_FALSE(least.idempotency_key);
  const auto all = parse(R"({"message":"Done.","title":"Build","channels":["slack:#ops","email"],)"
                         R"("idempotency_key":"k","agent":"pager"})");
  CHECK(all.card.title == "Build");
  CHECK(all.card.channels == std::vector<Target>{{"slack", "#ops"}, {"email", ""}});
  CHECK(all.idempotency_key == "k");
}

TEST_CASE("what is wrong with a message is blamed on its field") {
  CHECK(blamed("{}") == "message");
  CHECK(blamed(R"({"message":" \n"})") == "message");
  CHECK(blamed(R"({"message":7})") == "message");
  CHECK(blamed(R"({"message":")" + std::string(4001, 'x') + "\"}") == "message");
  CHECK(blamed(R"({"message":")" + std::string(4000, 'x') + "\"}") == "(taken)");
  CHECK(blamed(R"({"message":"x","title":")" + std::string(151, 'x') + "\"}") == "title");
  CHECK(blamed(R"({"message":"x","title":[]})") == "title");
  CHECK(blamed(R"({"message":"x","channels":"slack"})") == "channels");
  CHECK(blamed(R"({"message":"x","channels":["slack",7]})") == "channels[1]");
  CHECK(blamed(R"({"message":"x","channels":["pigeon"]})") == "channels[0]");
  CHECK(blamed(R"({"message":"x","idempotency_key":""})") == "idempotency_key");
  CHECK(blamed(R"({"message":"x","text":"y"})") == "text");
  CHECK(blamed("[]") == "body");
}

TEST_CASE("a card comes back from the outbox as it was") {
  const SessionId session("019a8b3c-5d6e-7f80-9a1b-2c3d4e5f6071");
  for (const char* title : {"", "Build \"118\" <b>"}) {
    const Card card{title, "Line\nü 🚀", {}};
    const std::string body = card_posted_json(session, "pager", card);
    const Card read = read_card_posted(body);
    CHECK(read.title == card.title);
    CHECK(read.text == card.text);
    CHECK(Json::parse(body)["session_id"] == session.text());
    CHECK(Json::parse(card_json(card))["message"] == card.text);
  }
}
