#include "cli/inbox_desk.h"

#include <doctest/doctest.h>

#include "cli/inbox_view.h"
#include "cli/terminal_text.h"

using namespace holdpoint;
using namespace holdpoint::cli;
using namespace std::chrono_literals;

namespace {

const Time kNow = *parse_iso("2026-11-18T08:00:00.000Z");

Json question(const std::string& id, const std::vector<std::string>& options, bool multi = false,
              bool other = true) {
  Json made{{"id", id},
            {"session_id", "s-" + id},
            {"agent_name", "ci"},
            {"question", "About " + id + "?"},
            {"header", nullptr},
            {"options", options},
            {"multi_select", multi},
            {"allow_other", other},
            {"channels", Json::array({"slack"})},
            {"context", {{"asked_at", "x"}, {"why", "because"}}},
            {"created_at", "2026-11-18T07:59:00.000Z"},
            {"expires_at", "2026-11-18T08:30:00.000Z"}};
  made["choices"] = Json::array();
  for (const auto& option : options) {
    made["choices"].push_back(
        {{"label", option}, {"description", nullptr}, {"recommended", false}});
  }
  return made;
}

// A desk with these questions, whose first moment is over.
InboxDesk desk_with(std::vector<Json> questions) {
  InboxDesk desk;
  desk.refresh(std::move(questions), false, kNow - 10s);
  return desk;
}

Effect type(InboxDesk& desk, const std::string& text) {
  Effect last;
  for (const char c : text) last = desk.press({Key::Kind::character, std::string(1, c)}, kNow);
  return last;
}

Effect press(InboxDesk& desk, Key::Kind kind) { return desk.press({kind, ""}, kNow); }

std::vector<std::string> values_of(const Effect& effect) {
  const auto* answer = std::get_if<SendAnswer>(&effect);
  return answer ? answer->values : std::vector<std::string>{"(nothing)"};
}

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE("a number answers the question that is looked at, once") {
  auto desk = desk_with({question("a", {"yes", "no"}), question("b", {"x", "y"})});
  const Effect effect = type(desk, "2");
  REQUIRE(std::holds_alternative<SendAnswer>(effect));
  CHECK(std::get<SendAnswer>(effect).question == "a");
  CHECK(std::get<SendAnswer>(effect).session == "s-a");
  CHECK(values_of(effect) == Values{"no"});
  CHECK(values_of(type(desk, "2")) == Values{"(nothing)"});
  desk.succeed("a", "Answered: no");
  desk.refresh({question("b", {"x", "y"})}, false, kNow);
  // Still there, so that the next key cannot mean another question by accident.
  CHECK(desk.current()->text("id") == "a");
  CHECK(values_of(type(desk, "1")) == Values{"(nothing)"});
  type(desk, "j");
  CHECK(desk.rows().size() == 1);
  CHECK(values_of(type(desk, "1")) == Values{"x"});
}

TEST_CASE(
    "a question that goes while it is looked at takes no answers, and tells what became of it") {
  auto desk = desk_with({question("a", {"yes", "no"}), question("b", {"x", "y"})});
  CHECK(desk.refresh({question("b", {"x", "y"})}, false, kNow) == "a");
  CHECK(desk.current()->text("id") == "a");
  CHECK(values_of(type(desk, "1")) == Values{"(nothing)"});
  desk.tell({{"id", "a"}, {"status", "answered"}, {"answered_by", "bo"}, {"answer", "yes"}});
  CHECK(desk.current()->outcome == "bo was first: yes");
  CHECK(!desk.refresh({question("b", {"x", "y"})}, false, kNow));
  press(desk, Key::Kind::down);
  CHECK(desk.current()->text("id") == "b");
}

TEST_CASE("new questions leave the person where they were") {
  auto desk = desk_with({question("b", {"x", "y"})});
  desk.refresh({question("a", {"yes", "no"}), question("b", {"x", "y"})}, false, kNow);
  CHECK(desk.current()->text("id") == "b");
  CHECK(desk.selected() == 1);
}

TEST_CASE("a question that shows up by itself takes no answer for a moment") {
  auto desk = desk_with({});
  desk.refresh({question("a", {"yes", "no"})}, false, kNow);
  CHECK(values_of(desk.press({Key::Kind::character, "1"}, kNow + 100ms)) == Values{"(nothing)"});
  CHECK(values_of(desk.press({Key::Kind::character, "1"}, kNow + 600ms)) == Values{"yes"});
}

TEST_CASE(
    "several are chosen by their numbers and sent by Enter, with own words if there are any") {
  auto desk = desk_with({question("a", {"x", "y", "z"}, true)});
  CHECK(values_of(press(desk, Key::Kind::enter)) == Values{"(nothing)"});
  CHECK(!desk.notice().empty());
  type(desk, "312");
  type(desk, "2");
  CHECK(values_of(press(desk, Key::Kind::enter)) == Values{"x", "z"});

  auto other = desk_with({question("a", {"x", "y"}, true)});
  type(other, "2tmore");
  CHECK(values_of(press(other, Key::Kind::enter)) == Values{"y", "more"});
}

TEST_CASE("own words are typed, mended, pasted, and left again") {
  auto desk = desk_with({question("a", {"x", "y"})});
  type(desk, "tq1");
  CHECK(desk.draft() == "q1");
  desk.press({Key::Kind::character, "ü"}, kNow);
  press(desk, Key::Kind::backspace);
  CHECK(desk.draft() == "q1");
  desk.press({Key::Kind::paste, "two\nlines"}, kNow);
  CHECK(values_of(press(desk, Key::Kind::enter)) == Values{"q1two\nlines"});

  auto left = desk_with({question("a", {"x", "y"})});
  type(left, "o");
  press(left, Key::Kind::enter);
  CHECK(left.mode() == InboxDesk::Mode::typing);
  CHECK(!left.notice().empty());
  press(left, Key::Kind::escape);
  CHECK(values_of(type(left, "1")) == Values{"x"});

  auto closed = desk_with({question("a", {"x", "y"}, false, false)});
  type(closed, "t");
  CHECK(closed.mode() == InboxDesk::Mode::reading);
}

TEST_CASE("an answer that is being typed is not sent to a question that is settled meanwhile") {
  auto desk = desk_with({question("a", {})});
  type(desk, "tlong story");
  desk.refresh({question("b", {})}, false, kNow);
  CHECK(values_of(press(desk, Key::Kind::enter)) == Values{"(nothing)"});
  CHECK(desk.draft() == "long story");
}

TEST_CASE("a paste answers nothing by accident") {
  auto desk = desk_with({question("a", {"x", "y"})});
  CHECK(values_of(desk.press({Key::Kind::paste, "1"}, kNow)) == Values{"(nothing)"});
}

TEST_CASE("with more options than keys a number is typed and sent by Enter") {
  std::vector<std::string> many;
  for (int i = 1; i <= 12; ++i) many.push_back("option " + std::to_string(i));
  auto desk = desk_with({question("a", many)});
  type(desk, "12");
  CHECK(values_of(press(desk, Key::Kind::enter)) == Values{"option 12"});
  auto wrong = desk_with({question("a", many)});
  type(wrong, "13");
  CHECK(values_of(press(wrong, Key::Kind::enter)) == Values{"(nothing)"});
}

TEST_CASE("cancelling asks first") {
  auto desk = desk_with({question("a", {"x", "y"})});
  CHECK(std::holds_alternative<std::monostate>(type(desk, "cn")));
  const Effect effect = type(desk, "cy");
  REQUIRE(std::holds_alternative<CancelSession>(effect));
  CHECK(std::get<CancelSession>(effect).session == "s-a");
}

TEST_CASE("a refused answer leaves the question open, and the reason on the screen") {
  auto desk = desk_with({question("a", {"x", "y"})});
  type(desk, "1");
  desk.refuse("a", "the answerers of ci do not list you");
  CHECK(desk.notice() == "the answerers of ci do not list you");
  CHECK(values_of(type(desk, "2")) == Values{"y"});
}

TEST_CASE("quitting while an answer is on its way takes a second q") {
  auto desk = desk_with({question("a", {"x", "y"})});
  type(desk, "1");
  CHECK(!std::holds_alternative<Quit>(type(desk, "q")));
  CHECK(std::holds_alternative<Quit>(type(desk, "q")));
  auto idle = desk_with({});
  CHECK(std::holds_alternative<Quit>(type(idle, "q")));
}

TEST_CASE("keys on an empty desk do nothing") {
  auto desk = desk_with({});
  for (const char* keys : {"1", "t", "c", "j", "k", " ", "b", "0"}) type(desk, keys);
  for (const auto kind :
       {Key::Kind::up, Key::Kind::down, Key::Kind::enter, Key::Kind::escape, Key::Kind::page_up})
    press(desk, kind);
  CHECK(desk.mode() == InboxDesk::Mode::reading);
}

TEST_CASE("the screen has its size whatever it is, and nothing on it steers the terminal") {
  Json evil = question("a", {"\x1b[31mred\u009b", "日本語の長い選択肢"});
  evil["question"] = "Wide 日本語 \x1b]0;title\x07 " + std::string(500, 'w') + "\nnew \u202eline";
  evil["agent_name"] = "\x1b[2Jci";
  evil["header"] = "\x1b[A";
  evil["context"]["\x1b[H"] = "\x1b[1mdeep\r\n\u009b";
  evil["context"]["list"] = {1, "\x1b", nullptr};
  auto desk = desk_with({evil, question("b", {})});
  for (int state = 0; state < 4; ++state) {
    if (state == 1) type(desk, "t\x1b");
    if (state == 1) desk.press({Key::Kind::paste, "p\x1b[31m" + std::string(300, 'x')}, kNow);
    if (state == 2) press(desk, Key::Kind::enter);
    if (state == 3) desk.succeed("a", "\x1b[31mbo\x1b was first");
    for (std::size_t columns = 1; columns < 130; columns += 3) {
      for (std::size_t lines = 1; lines < 40; lines += 3) {
        const auto screen = draw_inbox(desk, "http://x\x1b",
                                       "\x1b"
                                       "away",
                                       kNow, {columns, lines});
        REQUIRE(screen.size() == lines);
        for (const auto& line : screen) {
          REQUIRE(columns_of(line.text) <= columns);
          REQUIRE(printable(line.text) == line.text);
        }
      }
    }
  }
}

TEST_CASE(
    "the screen shows who asks, since when, how long there is, what helps to decide, and what to "
    "press") {
  auto desk = desk_with({question("a", {"yes", "no"})});
  std::string all;
  for (const auto& line : draw_inbox(desk, "http://x", "", kNow, {80, 24})) all += line.text + "\n";
  for (const char* part :
       {"1 question waits at http://x", "About a?", "1 yes", "2 no", "t type", "ci asked 1m00s ago",
        "slack and the inbox", "times out in 30m00s", "why: because", "q quit"}) {
    CAPTURE(part);
    CHECK(all.find(part) != std::string::npos);
  }
  CHECK(all.find("asked_at") == std::string::npos);
  auto none = desk_with({});
  all.clear();
  for (const auto& line : draw_inbox(none, "http://x", "no route", kNow, {80, 24}))
    all += line.text + "\n";
  CHECK(all.find("Nothing waits") != std::string::npos);
  CHECK(all.find("the server is away: http://x") != std::string::npos);
  CHECK(all.find("Trying again: no route") != std::string::npos);
}

TEST_CASE("a question that is longer than the screen says so, and can be read to its end") {
  Json tall = question("a", {"yes", "no"});
  tall["question"] = std::string(2000, 'x') + " END";
  auto desk = desk_with({tall});
  const auto shown = [&] {
    std::string all;
    for (const auto& line : draw_inbox(desk, "http://x", "", kNow, {60, 20}))
      all += line.text + "\n";
    return all;
  };
  CHECK(shown().find("more lines: space") != std::string::npos);
  CHECK(shown().find("END") == std::string::npos);
  type(desk, "          ");
  CHECK(shown().find("END") != std::string::npos);
  CHECK(shown().find("2 no") != std::string::npos);
}
