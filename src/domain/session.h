#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "domain/transitions.h"

namespace holdpoint {

// What a session's model has used up so far.
struct ModelSpent {
  std::int64_t steps = 0;  // Replies of the model.
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;           // Of the input's.
  std::optional<std::int64_t> cost_micros;  // Millionths of a dollar; nothing: no price is known.
};

// One run of an agent. Payload, state, result and resume are JSON texts that nobody between the
// agent and its caller reads.
struct Session {
  SessionId id;
  std::string agent_name;
  SessionStatus status = SessionStatus::running;
  std::optional<SessionId> parent_id;
  std::int64_t turn = 1;
  std::int64_t attempts = 0;
  std::int64_t questions_asked = 0;
  ModelSpent spent;  // No steps: no model was asked.
  std::optional<std::string> result;
  std::optional<std::string> error;
  Time created_at;
  Time updated_at;
  std::optional<Time> completed_at;
};

// Why a turn runs.
enum class TurnReason { start, answer, timeout, message, agents, carry_on };
std::string_view to_text(TurnReason reason);
TurnReason turn_reason_from(std::string_view text);

// Permission to run one turn. Every claim raises `number`, so that the writes of an earlier holder
// match no row.
struct Lease {
  SessionId session;
  std::int64_t number = 0;
};

}  // namespace holdpoint
