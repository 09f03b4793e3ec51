#include "cli/print.h"

#include <cstdio>
#include <string>

#include "cli/terminal_text.h"

namespace holdpoint::cli {
namespace {

// As people read it: texts plain, lists joined, anything else as JSON.
std::string plain(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_null()) return "-";
  if (!value.is_array()) return printable(value.dump());
  std::string text;
  for (const auto& item : value) text += (text.empty() ? "" : ", ") + plain(item);
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
    for (const auto& choice : q["choices"]) {
      std::string text = plain(choice["label"]);
      if (choice["recommended"].get<bool>()) text += " (recommended)";
      if (!choice["description"].is_null()) text += " — " + plain(choice["description"]);
      std::printf("  - %s\n", text.c_str());
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
    if (q["status"] == "pending") {
      std::printf("  answer it:   holdpoint answer %s \"…\" --question %s\n",
                  plain(q["session_id"]).c_str(), plain(q["id"]).c_str());
    }
  }
}

void print_json(const std::string& text) { std::printf("%s\n", printable_json(text).c_str()); }

void complain(const std::string& what) {
  std::fprintf(stderr, "holdpoint: %s\n", printable(what).c_str());
}

void print_conflict(const Json& conflict) {
  std::fprintf(stderr, "holdpoint: what counts: %s", plain(conflict["answer"]).c_str());
  if (!conflict["answered_by"].is_null()) {
    std::fprintf(stderr, ", by %s", plain(conflict["answered_by"]).c_str());
  }
  if (!conflict["answered_at"].is_null()) {
    std::fprintf(stderr, ", at %s", plain(conflict["answered_at"]).c_str());
  }
  std::fprintf(stderr, "\n");
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
    // A URL or an address tells by itself what it is; a channel's name or number does not.
    const std::string channel = plain(d["channel"]);
    const bool chat = channel == "slack" || channel == "discord";
    std::printf("%s to %s%s\n", plain(d["event"]).c_str(), chat ? (channel + " ").c_str() : "",
                plain(d["destination"]).c_str());
    line("delivery", d["id"]);
    line("session", d["session_id"]);
    line("status", d["status"]);
    line("attempts", d["attempts"]);
    if (!d["last_error"].is_null()) line("last error", d["last_error"]);
    if (!d["next_attempt_at"].is_null()) line("next", d["next_attempt_at"]);
    if (!d["message_ref"].is_null()) line("message", d["message_ref"]);
    if (!d["follows"].is_null()) line("follows", d["follows"]);
  }
}

void print_keys(const Json& keys) {
  if (keys.empty()) std::puts("no keys");
  for (const auto& key : keys) {
    std::string scopes;
    for (const auto& scope : key["scopes"]) scopes += (scopes.empty() ? "" : " ") + plain(scope);
    std::printf("%s\n", plain(key["name"]).c_str());
    line("key", key["id"]);
    line("status", key["status"]);
    line("scopes", scopes);
    line("created", key["created_at"]);
    if (!key["expires_at"].is_null()) line("expires", key["expires_at"]);
    if (!key["last_used_at"].is_null()) {
      line("last used", plain(key["last_used_at"]) + " from " + plain(key["last_used_from"]));
    }
  }
}

void print_users(const Json& users) {
  if (users.empty()) std::puts("no users");
  for (const auto& user : users) {
    std::printf("%s\n", plain(user["name"]).c_str());
    line("role", user["role"]);
    if (!user["has_password"].get<bool>()) line("password", "none: comes through the proxy only");
    line("created", user["created_at"]);
    if (!user["last_login_at"].is_null()) line("last login", user["last_login_at"]);
  }
}

}  // namespace holdpoint::cli
