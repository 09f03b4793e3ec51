#include "cli/print.h"

#include <cstdio>
#include <string>

namespace holdpoint::cli {
namespace {

// As people read it: texts plain, lists joined, anything else as JSON. Control characters never
// reach the terminal.
std::string plain(const Json& value) {
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else if (value.is_array()) {
    for (const auto& item : value) text += (text.empty() ? "" : ", ") + plain(item);
  } else if (value.is_null()) {
    text = "-";
  } else {
    text = value.dump();
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

void line(const char* name, const Json& value) {
  std::printf("  %-12s %s\n", name, plain(value).c_str());
}

}  // namespace

void print_questions(const Json& questions) {
  if (questions.empty()) std::puts("no questions");
  for (const auto& q : questions) {
    std::printf("%s\n", plain(q["question"]).c_str());
    int number = 0;
    for (const auto& choice : q["choices"]) {
      std::string text = plain(choice["label"]);
      if (choice["recommended"].get<bool>()) text += " (recommended)";
      if (!choice["description"].is_null()) text += " — " + plain(choice["description"]);
      std::printf("  %d. %s\n", ++number, text.c_str());
    }
    if (q["options"].empty()) std::puts("  any text answers it");
    if (q["multi_select"].get<bool>()) std::puts("  several may be chosen");
    line("agent", q["agent_name"]);
    line("status", q["status"]);
    if (!q["answer"].is_null()) line("answer", q["answer"]);
    if (!q["answered_by"].is_null()) line("by", q["answered_by"]);
    if (q["status"] == "pending") line("expires", q["expires_at"]);
    line("question", q["id"]);
    line("session", q["session_id"]);
  }
}

void print_session(const Json& s) {
  std::printf("session %s\n", plain(s["id"]).c_str());
  line("agent", s["agent_name"]);
  line("status", s["status"]);
  line("turn", s["turn"]);
  line("asked", s["questions_asked"]);
  line("created", s["created_at"]);
  if (!s["completed_at"].is_null()) line("ended", s["completed_at"]);
  if (!s["result"].is_null()) line("result", s["result"].dump());
  if (!s["error"].is_null()) line("error", s["error"]);
  if (s.contains("questions") && !s["questions"].empty()) {
    std::puts("waiting for an answer:");
    print_questions(s["questions"]);
  }
}

void print_events(const Json& events) {
  for (const auto& event : events) {
    std::string facts;
    for (const auto& [name, value] : event["data"].items()) {
      facts += "  " + name + "=" + plain(value);
    }
    std::printf("%s  %s%s\n", plain(event["at"]).c_str(), plain(event["type"]).c_str(),
                facts.c_str());
  }
}

void print_deliveries(const Json& deliveries) {
  if (deliveries.empty()) std::puts("no deliveries");
  for (const auto& d : deliveries) {
    std::printf("%s to %s\n", plain(d["event"]).c_str(), plain(d["destination"]).c_str());
    line("delivery", d["id"]);
    line("session", d["session_id"]);
    line("status", d["status"]);
    line("attempts", d["attempts"]);
    if (!d["last_error"].is_null()) line("last error", d["last_error"]);
    if (!d["next_attempt_at"].is_null()) line("next", d["next_attempt_at"]);
  }
}

}  // namespace holdpoint::cli
