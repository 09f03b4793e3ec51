#pragma once

#include <string>
#include <vector>

#include "flow/replies.h"
#include "flow/unsubscribe.h"
#include "tests/support/world.h"

namespace holdpoint::test {

// A world that asks by mail, and reads what comes back.
class MailWorld {
 public:
  // Keeps what would have gone out.
  class Letters final : public Channel {
   public:
    struct Sent {
      DeliveryId id;
      std::string event, to, body;
      QuestionStatus status;
    };
    SendOutcome send(const Outgoing& message, Time, const std::function<bool()>&) override {
      sent.push_back({message.delivery.id, message.delivery.event, message.delivery.destination,
                      message.delivery.body, message.questions.at(0).status});
      SendOutcome outcome;
      outcome.kind = SendOutcome::Kind::delivered;
      outcome.message_ref = "<" + message.delivery.id.text() + "@example.org>";
      return outcome;
    }
    std::vector<Sent> sent;
  };

  MailWorld() {
    Addresses::Options options;
    options.email = "smtp://mail.example";
    options.email_to = {"Ana@Example.org", "bo@example.org"};
    options.defaults = {{"email", ""}};
    world.notices_options.addresses = Addresses(options);
    world.channels = {{"email", &letters}};
    world.restart();
  }

  // One question, sent to both.
  SessionId ask(const std::string& question =
                    R"({"question":"Deploy?","options":["Yes","No"],"allow_other":false})") {
    world.runner.reply = [=](const AgentDefinition&, const TurnRequest& request,
                             const TurnContext&) {
      if (request.reason != TurnReason::start) return std::string(R"({"result":1})");
      return R"({"ask":{"questions":[)" + question + "]}}";
    };
    const auto id = world.trigger();
    world.run_until_idle();
    return id;
  }

  // The mail that asked `to` last.
  const Letters::Sent& asked(const std::string& to = "ana@example.org") const {
    for (auto it = letters.sent.rbegin(); it != letters.sent.rend(); ++it) {
      if (it->to == to && it->event == "question_pending") return *it;
    }
    throw std::runtime_error("nobody asked " + to);
  }
  std::string address_of(const DeliveryId& id) const {
    return reply_address("reply@example.org", tokens.make(id));
  }

  InboundMail reply(const std::string& text, const std::string& from = "ana@example.org") {
    InboundMail mail;
    mail.message_id = std::to_string(++mails_) + "@example.org";
    mail.from = from;
    mail.recipients = {"someone@example.org", address_of(asked().id)};
    mail.text = text;
    return mail;
  }
  std::string take(const InboundMail& mail) {
    Replies replies(world.db(), world.process().journal, world.process().answers,
                    world.process().notices, tokens, {"reply@example.org", {}});
    const auto outcome = replies.take(mail, "imap.example", world.now());
    return std::string(to_text(outcome.kind));
  }

  std::size_t mails_back() const {
    return static_cast<std::size_t>(
        std::count_if(letters.sent.begin(), letters.sent.end(),
                      [](const auto& sent) { return sent.event == "reply_unclear"; }));
  }

  World world;
  Letters letters;
  ReplyTokens tokens{"a secret"};

 private:
  int mails_ = 0;
};

}  // namespace holdpoint::test
