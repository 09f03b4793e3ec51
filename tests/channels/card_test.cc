// Cards on each platform: what they say, and that no text breaks a limit, calls anybody or links
// anywhere.
#include <doctest/doctest.h>

#include "channels/discord_card.h"
#include "channels/discord_text.h"
#include "channels/email_message.h"
#include "channels/slack_card.h"
#include "tests/channels/slack_limits.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kPage = "https://hp.example.org/session/s1";

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

// Texts of all kinds that a card may hold.
const std::vector<Card> kCards{
    {"", "Done.", {}},
    {"Build 118", "Line one\nline two", {}},
    {repeated("T", 150), repeated("x", 4000), {}},
    {repeated("&", 150), repeated("&", 4000), {}},
    {repeated("🚀", 150), repeated("🚀", 4000), {}},
    {"*_~`|<>", repeated("*", 4000), {}},
    {"<!channel> @here", "<!channel> @everyone <https://evil.example|click>", {}},
    {"\n \t", repeated("a line\n", 570), {}},
};

Json slack(const Card& card) { return check_message(slack_card(card, "pager", kPage)); }
Json discord(const Card& card) {
  return Json::parse(discord_card(card, "pager", kPage, "0123456789"));
}

std::string words(const Json& parts, const char* member) {
  std::string out;
  for (const auto& part : parts) {
    if (!part.contains(member)) continue;
    const Json& text = part[member];
    out += text.is_string() ? text.get<std::string>() : text["text"].get<std::string>();
  }
  return out;
}

Mail mail_of(const Card& card) {
  static const Delivery delivery = [] {
    Delivery d;
    d.id = DeliveryId("d-1");
    d.session_id = SessionId("s1");
    d.agent_name = "pager";
    d.destination = "ana@example.org";
    d.event = "card_posted";
    return d;
  }();
  Outgoing message{delivery, {}, false, {}};
  message.card = card;
  return email_message(message,
                       {{"Holdpoint", "hp@example.org"},
                        "https://hp.example.org",
                        "reply+r1@example.org",
                        "https://hp.example.org/unsubscribe/u1"},
                       *parse_iso("2024-01-01T12:00:00.000Z"));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a card on Slack has its title, its text and whose it is, within the limits") {
  const Json plain = slack({"Build 118", "All green.", {}});
  CHECK(plain["blocks"][0]["text"]["text"] == "Build 118");
  CHECK(plain["blocks"][1]["text"]["text"] == "All green.");
  CHECK(plain["blocks"][2]["elements"][0]["text"] == "From pager");
  CHECK(plain["text"] == "Build 118: All green.");
  CHECK(slack({"", "Done.", {}})["blocks"][0]["text"]["text"] == "pager");
  for (const auto& card : kCards) {
    const Json message = slack(card);
    std::size_t length = 0;
    for (const auto& block : message["blocks"]) {
      if (block["type"] == "section") length += utf16_length(block["text"]["text"]);
    }
    CHECK(length <= 6800);
    CHECK_FALSE(has(message["text"], "<"));
  }
}

TEST_CASE("a long card on Slack goes on in the next section, and nothing is lost") {
  const std::string text = repeated("a line\n", 570);
  const Json message = slack({"Log", text, {}});
  CHECK(message["blocks"].size() == 4);
  std::string all;
  for (const auto& block : message["blocks"]) {
    if (block["type"] == "section") all += block["text"]["text"].get<std::string>();
  }
  CHECK(all == text);
  // Ends with a line, not within one.
  CHECK(message["blocks"][1]["text"]["text"].get<std::string>().back() == '\n');
  const Json cut = slack({"", repeated("&", 4000), {}});
  CHECK(has(cut.dump(), "read it in full"));
  CHECK(has(cut.dump(), kPage));
}

TEST_CASE("a card on Discord is within 4,000 units, formats nothing and mentions nobody") {
  const Json plain = discord({"Build 118", "All green.", {}});
  CHECK(plain["flags"] == 32768);
  CHECK(plain["nonce"] == "0123456789");
  CHECK(words(plain["components"][0]["components"], "content") ==
        "**Build 118**All green.-# From pager");
  for (const auto& card : kCards) {
    const Json message = discord(card);
    CHECK(message["allowed_mentions"] == Json{{"parse", Json::array()}});
    const std::string all = words(message["components"][0]["components"], "content");
    CHECK(discord_length(all) <= 4000);
    CHECK_FALSE(has(all, " @everyone"));
  }
  CHECK(has(discord({"", repeated("*", 4000), {}}).dump(), kPage));
}

TEST_CASE("a mail with a card has nothing to answer, and no replies") {
  const Mail mail = mail_of({"Build <118>", "All & green.", {}});
  CHECK(mail.subject == "[pager] Build <118>");
  CHECK(mail.reply_to.empty());
  CHECK(mail.message_id == "<d-1@example.org>");
  CHECK(mail.references == std::vector<std::string>{"<s1@example.org>"});
  CHECK(has(mail.text, "pager says:\n\nBuild <118>\n\nAll & green.\n"));
  CHECK(has(mail.text, "There is nothing to answer."));
  CHECK(has(mail.text, "https://hp.example.org/session/s1"));
  CHECK(has(mail.text, "unsubscribe/u1"));
  CHECK(has(mail.html, "Build &lt;118&gt;"));
  CHECK(has(mail.html, "All &amp; green."));
  CHECK_FALSE(has(mail.html, "/agent/answer/"));
  CHECK(mail_of({"", "Done.\nReally.", {}}).subject == "[pager] Done. Really.");
}
