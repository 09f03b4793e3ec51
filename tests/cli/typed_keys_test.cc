#include "cli/typed_keys.h"

#include <doctest/doctest.h>

#include "cli/event_text.h"

using namespace holdpoint::cli;

namespace {

using Keys = std::vector<Key>;
using Kind = Key::Kind;

Key character(const char* text) { return {Kind::character, text}; }

}  // namespace

TEST_CASE("what a terminal sends becomes keys, wherever it is cut") {
  const std::string sent =
      "1j\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\r\x7f\x15ü日🚀\x1b[200~1\rq\x1b[201~q";
  const Keys wanted{character("1"),         character("j"),        {Kind::up, ""},
                    {Kind::down, ""},       {Kind::up, ""},        {Kind::page_up, ""},
                    {Kind::page_down, ""},  {Kind::enter, ""},     {Kind::backspace, ""},
                    {Kind::erase_line, ""}, character("ü"),        character("日"),
                    character("🚀"),         {Kind::paste, "1\nq"}, character("q")};
  for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
    TypedKeys typed;
    Keys got;
    for (std::size_t at = 0; at < sent.size(); at += piece) {
      for (auto& key : typed.feed(sent.substr(at, piece))) got.push_back(std::move(key));
    }
    CAPTURE(piece);
    CHECK(got == wanted);
  }
}

TEST_CASE("no part of an unknown sequence counts as a key") {
  TypedKeys typed;
  for (const char* unknown :
       {"\x1b[3~", "\x1b[1;5C", "\x1b[15~", "\x1bx", "\x1bOP", "\x1b[M", "\xff", "\xc3(", "\x01"}) {
    CAPTURE(unknown);
    Keys got = typed.feed(unknown);
    if (std::string(unknown) == "\xc3(")
      CHECK(got == Keys{character("(")});
    else
      CHECK(got.empty());
  }
}

TEST_CASE("an escape is a key when nothing follows it for a while") {
  TypedKeys typed;
  CHECK(typed.feed("\x1b").empty());
  CHECK(typed.is_unsure());
  CHECK(typed.be_sure() == Keys{{Kind::escape, ""}});
  CHECK(!typed.is_unsure());
  CHECK(typed.be_sure().empty());
  CHECK(typed.feed("\x1b\x1b[A") == Keys{{Kind::escape, ""}, {Kind::up, ""}});
}

TEST_CASE("events are read wherever they are cut, and the last id is kept for the next stream") {
  const std::string sent =
      ": following\nid: 4\n\nid: 5\nevent: state_change\r\ndata: {\"a\":1}\n\nid: 9\n\n";
  for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
    std::vector<std::string> got;
    EventText events([&](const std::string& data) { got.push_back(data); });
    for (std::size_t at = 0; at < sent.size(); at += piece) events.feed(sent.substr(at, piece));
    CHECK(got == std::vector<std::string>{"{\"a\":1}"});
    CHECK(events.last_id() == "9");
    events.feed("data: half");
    events.begin();
    events.feed("\n\n");
    CHECK(got.size() == 1);
  }
}
