#pragma once

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "wire/json.h"

// Slack's limits, as its documentation has them, checked without any code of ours.
namespace holdpoint::test {

inline std::size_t utf16_length(const std::string& text) {
  std::size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) length += byte >= 0xf0 ? 2 : 1;
  }
  return length;
}

inline void check_text(const Json& text, std::size_t most) {
  const std::size_t length = utf16_length(text.at("text").get<std::string>());
  CHECK(length >= 1);
  CHECK(length <= most);
  if (text.at("type") == "plain_text") {
    CHECK(text.at("emoji") == false);
  } else {
    CHECK(text.at("type") == "mrkdwn");
  }
}

inline void check_options(const Json& list, std::size_t most) {
  CHECK(list.size() >= 1);
  CHECK(list.size() <= most);
  std::set<std::string> values;
  for (const auto& option : list) {
    check_text(option.at("text"), 75);
    CHECK(values.insert(option.at("value").get<std::string>()).second);
    CHECK(option.at("value").get<std::string>().size() <= 75);
    if (option.contains("description")) check_text(option["description"], 75);
  }
}

inline void check_element(const Json& element) {
  const std::string type = element.at("type");
  CAPTURE(type);
  const std::string id = element.at("action_id");
  CHECK(id.size() >= 1);
  CHECK(id.size() <= 255);
  if (type == "button") {
    check_text(element.at("text"), 75);
    if (element.contains("url")) CHECK(element["url"].get<std::string>().size() <= 3000);
    if (element.contains("confirm")) {
      const Json& confirm = element["confirm"];
      check_text(confirm.at("title"), 100);
      check_text(confirm.at("text"), 300);
      check_text(confirm.at("confirm"), 30);
      check_text(confirm.at("deny"), 30);
    }
  } else if (type == "static_select" || type == "multi_static_select") {
    check_text(element.at("placeholder"), 150);
    check_options(element.at("options"), 100);
  } else if (type == "checkboxes") {
    check_options(element.at("options"), 10);
  } else {
    CHECK(type == "plain_text_input");
    CHECK(element.at("max_length") <= 3000);
  }
  for (const auto& chosen : element.value("initial_options", Json::array())) {
    CHECK(std::count(element["options"].begin(), element["options"].end(), chosen) == 1);
  }
}

// All that people can read in it.
inline std::size_t text_in(const Json& json) {
  std::size_t sum = 0;
  if (json.is_object() && json.contains("text") && json["text"].is_string()) {
    sum += utf16_length(json["text"].get<std::string>());
  }
  if (json.is_structured()) {
    for (const auto& part : json) sum += text_in(part);
  }
  return sum;
}

inline void check_blocks(const Json& blocks, std::size_t most) {
  CHECK(blocks.size() >= 1);
  CHECK(blocks.size() <= most);
  std::set<std::string> block_ids;
  for (const auto& block : blocks) {
    const std::string type = block.at("type");
    CAPTURE(type);
    if (block.contains("block_id")) {
      const std::string id = block["block_id"];
      CHECK(id.size() <= 255);
      CHECK(block_ids.insert(id).second);
    }
    if (type == "header") {
      check_text(block.at("text"), 150);
    } else if (type == "section") {
      check_text(block.at("text"), 3000);
      if (block.contains("accessory")) check_element(block["accessory"]);
    } else if (type == "actions") {
      CHECK(block.at("elements").size() >= 1);
      CHECK(block.at("elements").size() <= 25);
      std::set<std::string> action_ids;
      for (const auto& element : block["elements"]) {
        check_element(element);
        CHECK(element["type"] != "multi_static_select");
        CHECK(action_ids.insert(element["action_id"].get<std::string>()).second);
      }
    } else if (type == "context") {
      CHECK(block.at("elements").size() <= 10);
      for (const auto& text : block["elements"]) check_text(text, 3000);
    } else if (type == "input") {
      check_text(block.at("label"), 2000);
      check_element(block.at("element"));
    } else {
      CHECK(type == "divider");
    }
  }
  // More than that was refused in practice, though no document says so.
  CHECK(text_in(blocks) <= 9600);
}

inline Json check_message(const std::string& text) {
  const Json message = Json::parse(text);
  CHECK(utf16_length(message.at("text").get<std::string>()) <= 4000);
  check_blocks(message.at("blocks"), 50);
  return message;
}

inline Json check_view(const std::string& text) {
  const Json view = Json::parse(text);
  CHECK(view.at("type") == "modal");
  for (const char* part : {"title", "submit", "close"}) {
    if (view.contains(part)) check_text(view[part], 24);
  }
  CHECK(view.value("private_metadata", "").size() <= 3000);
  check_blocks(view.at("blocks"), 100);
  return view;
}

}  // namespace holdpoint::test
