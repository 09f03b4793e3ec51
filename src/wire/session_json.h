#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/delivery.h"
#include "domain/question.h"
#include "domain/session.h"
#include "domain/session_record.h"
#include "wire/json_writer.h"

namespace holdpoint {

// Millionths of a dollar as a JSON number of dollars, exactly; nothing for nothing.
std::optional<std::string> to_dollars(std::optional<std::int64_t> micros);

// A session as lists show it.
void write_session(JsonWriter& out, const Session& session);
// The same with the questions that wait.
void write_session(JsonWriter& out, const Session& session, const std::vector<Question>& pending);

// What a caller may do to a session as it is.
struct SessionRights {
  bool cancel = false;
  bool retry = false;
  bool message = false;
};
void write_record(JsonWriter& out, const SessionId& id, const SessionRecord& record,
                  const SessionRights& rights);

void write_delivery(JsonWriter& out, const Delivery& delivery);

}  // namespace holdpoint
