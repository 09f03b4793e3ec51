#pragma once

#include <string>
#include <vector>

#include "channels/discord_message.h"
#include "wire/json.h"

namespace holdpoint::test {

inline const DiscordStyle kStyle{"https://hold.example.org", false};

inline Question discord_question(std::vector<Option> options = {}) {
  Question q;
  q.id = QuestionId("0193e1f0-0000-7000-8000-000000000001");
  q.session_id = SessionId("0193e1f0-0000-7000-8000-0000000000ff");
  q.agent_name = "poet";
  q.spec.question = "Ship it?";
  q.spec.options = std::move(options);
  q.deadline_at = *parse_iso("2026-11-16T13:00:00.000Z");
  return q;
}

// `count` questions of one ask.
inline std::vector<Question> discord_batch(std::size_t count, const Question& like) {
  std::vector<Question> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(like);
    all.back().id = QuestionId("0193e1f0-0000-7000-8000-00000000000" + std::to_string(i));
    all.back().position = static_cast<std::int64_t>(i);
  }
  return all;
}

// All components of a message or a form, in the order they are written.
inline void collect_components(const Json& part, std::vector<Json>& into) {
  if (part.is_array()) {
    for (const auto& one : part) collect_components(one, into);
  } else if (part.is_object() && part.contains("type")) {
    into.push_back(part);
    for (const char* name : {"components", "accessory", "component"}) {
      if (part.contains(name)) collect_components(part[name], into);
    }
  }
}

inline std::vector<Json> components_of(const Json& message, int type = 0) {
  std::vector<Json> all, wanted;
  collect_components(message["components"], all);
  for (auto& one : all) {
    if (type == 0 || one["type"] == type) wanted.push_back(std::move(one));
  }
  return wanted;
}

// All texts, one after the other.
inline std::string text_of(const Json& message) {
  std::string text;
  for (const auto& one : components_of(message, 10)) {
    text += one["content"].get<std::string>() + "\n";
  }
  return text;
}

inline std::vector<std::string> labels_of(const Json& message) {
  std::vector<std::string> labels;
  for (const auto& one : components_of(message, 2)) labels.push_back(one["label"]);
  return labels;
}

}  // namespace holdpoint::test
