// read_discord_interaction on any bytes; and any text as Discord shows it.
#include "channels/discord_interaction.h"

#include "channels/discord_message.h"
#include "channels/discord_response.h"
#include "channels/discord_text.h"
#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

void check_interaction(std::string_view text) {
  const auto read = unless_refused([&] { return read_discord_interaction(text, "here"); });
  if (!read || read->kind == DiscordInteraction::Kind::ping) return;
  const Click& click = read->click;
  expect(click.channel == "discord" && click.address == "here", "it says where it comes from");
  expect(!click.person_id.empty(), "it says who it was");
  expect(is_clean_utf8(click.person_name) && is_clean_utf8(click.question.text()),
         "its texts can be stored");
  expect(!click.text || (!is_blank(*click.text) && is_clean_utf8(*click.text)), "its text is one");
  const bool answer = click.kind == Click::Kind::answer;
  expect(answer || (click.options.empty() && !click.text), "only answers choose");
}

// Without its escapes an escaped text is what was written.
void check_escape(std::string_view text) {
  const auto whole = discord_escape(text, text.size() * 2 + 1);
  expect(!whole.cut, "an escape is at most one more for each character");
  for (const std::size_t most : {0U, 1U, 9U, 40U}) {
    const auto shown = discord_escape(text, most);
    expect(discord_length(shown.text) <= most, "a text fits");
    expect(shown.cut == (discord_length(whole.text) > most), "it is cut if it must be");
    expect(discord_length(discord_label(text, most + 1, "").text) <= most + 1, "a label fits");
  }
  for (std::size_t i = 0; i < whole.text.size(); ++i) {
    if (whole.text[i] == '\\') {
      ++i;
    } else {
      expect(std::string_view("*`|~<>[]").find(whole.text[i]) == std::string_view::npos,
             "nothing that formats stands without its backslash");
    }
  }
}

void check_message(std::string_view text) {
  Question question;
  question.id = QuestionId("q");
  question.spec.question = question.agent_name = std::string(text);
  question.spec.options = {{std::string(text), std::string(text), "", true}, {"b", "", "", false}};
  const Json message = Json::parse(discord_message({question}, {"https://h", true}));
  expect(message["components"].size() == 1, "a question is one container");
  (void)Json::parse(discord_form(question));
  (void)Json::parse(discord_notice(std::string(text)));
}

void run(std::string_view text) {
  check_interaction(text);
  check_escape(text);
  check_message(text);
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
