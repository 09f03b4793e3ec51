// read_slack_interaction: any bytes as the payload that Slack sends with a click.
#include "channels/slack_interaction.h"

#include <algorithm>

#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"

namespace holdpoint {
namespace {

void run(std::string_view payload) {
  const auto read = unless_refused([&] { return read_slack_interaction(payload); });
  if (!read) return;
  const Click& click = read->click;
  if (click.kind == Click::Kind::nothing) {
    expect(!read->from_form, "a form that is not ours is not answered as one");
    return;
  }
  expect(click.channel == "slack", "a click comes from Slack");
  expect(is_uuid(click.question.text()), "a click is bound to a question");
  expect(!click.person_id.empty(), "somebody clicked");
  expect(std::is_sorted(click.options.begin(), click.options.end()) &&
             std::adjacent_find(click.options.begin(), click.options.end()) == click.options.end(),
         "options are there once, in their order");
  expect(!click.text || (read->from_form && !is_blank(*click.text)), "only forms have a text");
  for (const auto& text : {click.person_id, click.person_name, click.text.value_or("")}) {
    expect(is_clean_utf8(text), "its texts can be stored");
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
