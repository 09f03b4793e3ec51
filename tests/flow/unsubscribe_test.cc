#include "flow/unsubscribe.h"

#include <doctest/doctest.h>

#include "tests/flow/mail_world.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("who unsubscribes gets no more mails, others still do") {
  MailWorld m;
  const auto id = m.ask();
  Unsubscribe unsubscribe(m.world.db(), m.world.process().journal, m.tokens);
  CHECK_FALSE(unsubscribe.find("nonsense"));
  CHECK_FALSE(unsubscribe.find(m.tokens.make(DeliveryId::make(m.world.now()))));
  const auto mail = unsubscribe.find(m.tokens.make(m.asked().id));
  REQUIRE(mail);
  CHECK(mail->destination == "ana@example.org");
  unsubscribe.stop(*mail, "1.2.3.4", m.world.now());
  unsubscribe.stop(*mail, "1.2.3.4", m.world.now());
  CHECK(m.world.count_events(id, "destination_disabled") == 1);

  m.letters.sent.clear();
  m.ask();
  REQUIRE(m.letters.sent.size() == 1);
  CHECK(m.letters.sent[0].to == "bo@example.org");
}

TEST_CASE("mails that are owed to who unsubscribes die") {
  MailWorld m;
  m.world.channels.clear();
  m.ask();
  const auto first = m.asked();
  m.world.runner.reply = [](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    return std::string(R"({"ask":{"questions":[{"question":"Again?"}]}})");
  };
  const auto second = m.world.trigger();
  for (const auto& turn : m.world.process().turns.claim(m.world.now(), 10)) {
    m.world.process().turns.run(turn);
  }
  Unsubscribe unsubscribe(m.world.db(), m.world.process().journal, m.tokens);
  unsubscribe.stop(*unsubscribe.find(m.tokens.make(first.id)), "", m.world.now());
  const auto before = m.letters.sent.size();
  m.world.run_until_idle();
  CHECK(m.letters.sent.size() == before + 1);  // Bo's.
  CHECK(m.world.count_events(second, "delivery_dead") == 1);
}
