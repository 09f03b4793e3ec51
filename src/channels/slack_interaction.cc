#include "channels/slack_interaction.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "channels/slack_form.h"
#include "channels/slack_message.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

const Json kNothing;

// A member, or null where there is none.
const Json& in(const Json& object, std::string_view name) {
  if (!object.is_object()) return kNothing;
  const auto it = object.find(name);
  return it == object.end() ? kNothing : *it;
}

std::string text_in(const Json& object, std::string_view name) {
  const Json& value = in(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<std::size_t> read_place(std::string_view text) {
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return place;
}

// The question that a block of ours is about; nothing if it is none of ours.
std::optional<QuestionId> question_of(std::string_view block_id) {
  if (!block_id.starts_with(kSlackBlockPrefix)) return std::nullopt;
  block_id.remove_prefix(kSlackBlockPrefix.size());
  const auto id = block_id.substr(0, block_id.find(':'));
  if (id.size() == block_id.size() || !is_uuid(id)) return std::nullopt;
  return QuestionId(std::string(id));
}

// What is ticked in the question's blocks, in the order of the options.
std::vector<std::size_t> ticked(const Json& state, const QuestionId& question) {
  std::vector<std::size_t> places;
  const Json& blocks = in(state, "values");
  if (!blocks.is_object()) return places;
  for (const auto& [block_id, actions] : blocks.items()) {
    if (question_of(block_id) != question) continue;
    const Json& chosen = in(in(actions, kSlackTick), "selected_options");
    if (!chosen.is_array()) continue;
    for (const auto& option : chosen) {
      const auto place = read_place(text_in(option, "value"));
      if (!place) throw BadRequest("payload.state", "has an option that is none of ours");
      places.push_back(*place);
    }
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

// Nothing but white space is nothing written.
std::optional<std::string> own_text(const Json& state, const QuestionId& question) {
  const Json& field = in(in(in(state, "values"), slack_form_text_block(question)), kSlackOwn);
  std::string text = text_in(field, "value");
  std::erase(text, '\r');
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (is_blank(text)) return std::nullopt;
  return text;
}

// One click on a message.
void read_action(const Json& action, const Json& state, Click& click) {
  const auto question = question_of(text_in(action, "block_id"));
  if (!question) return;
  const std::string id = text_in(action, "action_id");
  click.question = *question;
  if (id == kSlackCancel) {
    click.kind = Click::Kind::cancel;
  } else if (id == kSlackOther) {
    click.kind = Click::Kind::open_form;
    click.options = ticked(state, *question);
  } else if (id == kSlackSubmit) {
    click.kind = Click::Kind::answer;
    click.options = ticked(state, *question);
  } else if (id == kSlackChoose || id.starts_with(kSlackPick)) {
    const auto place =
        read_place(id == kSlackChoose ? text_in(in(action, "selected_option"), "value")
                                      : std::string_view(id).substr(kSlackPick.size()));
    if (!place) throw BadRequest("payload.actions", "chooses an option that is none of ours");
    click.kind = Click::Kind::answer;
    click.options = {*place};
  }
}

void read_form(const Json& view, Click& click) {
  const std::string id = text_in(view, "private_metadata");
  if (text_in(view, "callback_id") != kSlackFormId) return;
  if (!is_uuid(id)) throw BadRequest("payload.view.private_metadata", "is no question of ours");
  click.kind = Click::Kind::answer;
  click.question = QuestionId(id);
  click.options = ticked(in(view, "state"), click.question);
  click.text = own_text(in(view, "state"), click.question);
}

}  // namespace

SlackInteraction read_slack_interaction(std::string_view text) {
  const Json payload = parse_json(text, "payload");
  if (!payload.is_object()) throw Unreadable("payload", "must be a JSON object");
  SlackInteraction out;
  out.click.channel = "slack";
  out.response_url = text_in(payload, "response_url");
  out.trigger_id = text_in(payload, "trigger_id");
  const std::string type = text_in(payload, "type");
  if (type == "block_actions") {
    const Json& actions = in(payload, "actions");
    if (actions.is_array() && !actions.empty()) {
      read_action(actions.front(), in(payload, "state"), out.click);
    }
  } else if (type == "view_submission") {
    read_form(in(payload, "view"), out.click);
    out.from_form = out.click.kind != Click::Kind::nothing;
  }
  if (out.click.kind == Click::Kind::nothing) return out;
  const Json& user = in(payload, "user");
  out.click.person_id = text_in(user, "id");
  if (out.click.person_id.empty()) throw BadRequest("payload.user.id", "is required");
  out.click.person_name = text_in(user, "username");
  if (out.click.person_name.empty()) out.click.person_name = text_in(user, "name");
  return out;
}

}  // namespace holdpoint
