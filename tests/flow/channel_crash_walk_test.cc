// The store dies at every point of an ask that people see and click on a platform.
#include <doctest/doctest.h>

#include "tests/flow/crash_walk.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A platform, which outlives our crashes: the messages on it, as they show now.
class Board final : public Channel {
 public:
  SendOutcome send(const Outgoing& message, Time, const std::function<bool()>&) override {
    std::vector<QuestionStatus> shown;
    for (const auto& question : message.questions) shown.push_back(question.status);
    const std::string ref = message.message_ref.value_or("m" + std::to_string(messages.size() + 1));
    messages[ref] = shown;
    SendOutcome outcome;
    outcome.kind = SendOutcome::Kind::delivered;
    if (!message.message_ref) outcome.message_ref = ref;
    return outcome;
  }
  std::map<std::string, std::vector<QuestionStatus>> messages;
};

// Somebody who clicks again until it is taken, as platforms and people do.
struct Clicker {
  World& world;
  std::shared_ptr<Board> board;  // Shared with the world, which may be moved from.
  std::optional<SessionId> session;
  std::size_t clicked = 0;

  void act() {
    if (!session) session = world.trigger("poet", "{}", "walk");
    world.run_until_idle();
    while (clicked < world.questions(*session).size()) {
      Click click{Click::Kind::answer,
                  "slack",
                  world.questions(*session)[clicked].id,
                  {0},
                  {},
                  "U1",
                  "Ana",
                  ""};
      const auto kind = world.process().clicks.take(click, world.now()).kind;
      REQUIRE((kind == Clicks::Outcome::Kind::taken || kind == Clicks::Outcome::Kind::repeated));
      ++clicked;
      world.run_until_idle();
    }
  }
};

}  // namespace

TEST_CASE("the store dies at every point of a batch that is clicked: its message shows the end") {
  std::shared_ptr<Board> board;
  const auto points = walk(
      [&](World& world) {
        board = std::make_shared<Board>();
        Addresses::Options options;
        options.slack = "slack.example:443";
        options.slack_channel = "#all";
        options.defaults = {{"slack", ""}};
        world.notices_options.addresses = Addresses(options);
        world.channels = {{"slack", board.get()}};
        world.runner.reply = [](const AgentDefinition&, const TurnRequest& request,
                                const TurnContext&) -> std::string {
          if (request.reason != TurnReason::start) return R"({"result":1})";
          return R"({"ask":{"questions":[{"question":"A?","options":["x","y"]},)"
                 R"({"question":"B?","options":["x","y"]}]}})";
        };
        return Clicker{world, board, {}, 0};
      },
      [](Clicker& clicker) { clicker.act(); },
      [&](World& world, const SessionId& id) {
        REQUIRE(world.session(id).status == SessionStatus::completed);
        REQUIRE(world.count_events(id, "question_answered") == 2);
        int posts = 0;
        for (const auto& delivery : world.deliveries(id)) {
          if (delivery.channel != "slack") continue;
          REQUIRE(delivery.status == DeliveryStatus::delivered);
          if (delivery.event != "question_pending") continue;
          ++posts;
          REQUIRE(board->messages.at(delivery.message_ref.value()) ==
                  std::vector{QuestionStatus::answered, QuestionStatus::answered});
        }
        REQUIRE(posts == 1);
        // A post whose record was lost is made again, once.
        REQUIRE(board->messages.size() <= 2);
      });
  MESSAGE("points walked: " << points);
  CHECK(points > 100);
}
