#include "channels/discord_interaction.h"

#include <charconv>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

enum Type { ping = 1, component = 3, form = 5 };

// Null for what is not there, or is in what is no object.
const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto it = object.find(name);
  return it == object.end() ? none : *it;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::size_t read_place(std::string_view text, const char* field) {
  std::size_t place = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size()) {
    throw BadRequest(field, "must be the place of an option");
  }
  return place;
}

void read_places(const Json& values, Click& click) {
  if (!values.is_array()) throw BadRequest("data.values", "must be a list");
  for (const auto& value : values)
    click.options.push_back(read_place(text_of(value), "data.values"));
}

std::string trim(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Inputs stand in labels or rows; both may come to hold more than they do today.
void read_inputs(const Json& part, Click& click) {
  if (part.is_array()) {
    for (const auto& one : part) read_inputs(one, click);
    return;
  }
  if (!part.is_object()) return;
  const std::string id = text_of(member(part, "custom_id"));
  if (id == "t") {
    const std::string text = trim(text_of(member(part, "value")));
    if (!text.empty()) click.text = text;
  } else if (id == "s") {
    read_places(member(part, "values"), click);
  }
  read_inputs(member(part, "component"), click);
  read_inputs(member(part, "components"), click);
}

void read_person(const Json& body, Click& click) {
  const Json& in_server = member(member(body, "member"), "user");
  const Json& user = in_server.is_object() ? in_server : member(body, "user");
  click.person_id = text_of(member(user, "id"));
  if (click.person_id.empty()) throw BadRequest("user", "must say who it was");
  click.person_name = text_of(member(user, "global_name"));
  if (is_blank(click.person_name)) click.person_name = text_of(member(user, "username"));
}

// `what` is the custom_id's last part.
void read_component(std::string_view what, const Json& data, DiscordInteraction& interaction) {
  using Kind = DiscordInteraction::Kind;
  Click& click = interaction.click;
  if (what.starts_with("o:")) {
    click.kind = Click::Kind::answer;
    click.options.push_back(read_place(what.substr(2), "data.custom_id"));
  } else if (what == "s") {
    click.kind = Click::Kind::answer;
    read_places(member(data, "values"), click);
  } else if (what == "f") {
    click.kind = Click::Kind::open_form;
  } else if (what == "c") {
    interaction.kind = Kind::doubt;
  } else if (what == "y") {
    interaction.kind = Kind::notice;
    click.kind = Click::Kind::cancel;
  }
}

}  // namespace

DiscordInteraction read_discord_interaction(std::string_view body, const std::string& address) {
  const Json json = parse_json(body, "body");
  if (!json.is_object()) throw Unreadable("body", "must be a JSON object");
  if (!member(json, "type").is_number_integer()) throw BadRequest("type", "must be a number");
  const auto type = member(json, "type").get<std::int64_t>();
  DiscordInteraction interaction;
  if (type == ping) {
    interaction.kind = DiscordInteraction::Kind::ping;
    return interaction;
  }
  if (type != component && type != form) {
    throw BadRequest("type", "must be that of a component or of a form");
  }
  Click& click = interaction.click;
  click.channel = "discord";
  click.address = address;
  read_person(json, click);
  const Json& data = member(json, "data");
  const std::string custom_id = text_of(member(data, "custom_id"));
  const auto colon = custom_id.find(':', 3);
  if (!custom_id.starts_with("hp:") || colon == std::string::npos) return interaction;
  click.question = QuestionId(custom_id.substr(3, colon - 3));
  const std::string_view what = std::string_view(custom_id).substr(colon + 1);
  if (type == component) {
    read_component(what, data, interaction);
  } else if (what == "m") {
    click.kind = Click::Kind::answer;
    read_inputs(member(data, "components"), click);
  }
  return interaction;
}

}  // namespace holdpoint
