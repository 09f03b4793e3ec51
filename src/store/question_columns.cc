#include "store/question_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace holdpoint::question_columns {

using Json = nlohmann::json;

std::string from_options(const std::vector<Option>& options) {
  std::string out = "[";
  for (const auto& option : options) {
    if (out.size() > 1) out += ',';
    out += "{\"label\":";
    append_json_string(out, option.label);
    if (!option.description.empty()) {
      out += ",\"description\":";
      append_json_string(out, option.description);
    }
    if (!option.emoji.empty()) {
      out += ",\"emoji\":";
      append_json_string(out, option.emoji);
    }
    if (option.recommended) out += ",\"recommended\":true";
    out += '}';
  }
  return out + "]";
}

std::vector<Option> to_options(std::string_view column) {
  std::vector<Option> options;
  if (column == "[]") return options;
  for (const auto& item : Json::parse(column)) {
    options.push_back({item.at("label").get<std::string>(), item.value("description", ""),
                       item.value("emoji", ""), item.value("recommended", false)});
  }
  return options;
}

std::string from_labels(const std::vector<std::string>& labels) {
  std::string out = "[";
  for (const auto& label : labels) {
    if (out.size() > 1) out += ',';
    append_json_string(out, label);
  }
  return out + "]";
}

std::vector<std::string> to_labels(std::string_view column) {
  return Json::parse(column).get<std::vector<std::string>>();
}

std::string from_choice(const Choice& choice) {
  std::string out = "{\"selected\":" + from_labels(choice.selected);
  if (choice.text) {
    out += ",\"text\":";
    append_json_string(out, *choice.text);
  }
  return out + "}";
}

Choice to_choice(std::string_view column) {
  const Json json = Json::parse(column);
  Choice choice{json.at("selected").get<std::vector<std::string>>(), std::nullopt};
  if (json.contains("text")) choice.text = json.at("text").get<std::string>();
  return choice;
}

std::string from_channels(const std::vector<std::string>& channels) {
  std::string out;
  for (const auto& channel : channels) out.append(out.empty() ? "" : " ").append(channel);
  return out;
}

std::vector<std::string> to_channels(std::string_view column) {
  std::vector<std::string> channels;
  while (!column.empty()) {
    const auto space = std::min(column.find(' '), column.size());
    channels.emplace_back(column.substr(0, space));
    column.remove_prefix(std::min(space + 1, column.size()));
  }
  return channels;
}

}  // namespace holdpoint::question_columns
