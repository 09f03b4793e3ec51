#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/ask.h"
#include "domain/limits.h"
#include "wire/question_json.h"

namespace holdpoint {

// An ask of an agent that lives elsewhere, with what the session that it becomes is known by.
struct OutsideAsk {
  std::string agent_name;
  Ask ask;
  // The same key of the same agent is the same ask, whatever has become of it.
  std::optional<std::string> idempotency_key = {};
  // Joins the agent's open ask that has the same questions and options, if that may be joined too.
  bool dedupe = false;
  std::string payload = "{}";  // A JSON object of the asker's own, kept with the session.
};

// The agent that `body` names; `otherwise` if it names none. Throws BadRequest.
std::string asking_agent(std::string_view body, std::string_view otherwise);

// The body of POST /agent/ask. Throws BadRequest.
OutsideAsk parse_outside_ask(std::string_view body, std::string agent_name,
                             const AskDefaults& defaults, const Limits& limits);

// Throws BadRequest naming `field` for what cannot be an idempotency key.
void check_idempotency_key(std::string_view key, const std::string& field);

// What two asks have in common that may join each other: the agent, the questions' texts, their
// options, and whether several may be picked.
std::string fingerprint(const OutsideAsk& ask);

}  // namespace holdpoint
