#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "domain/session.h"

namespace holdpoint {

// What a session holds besides what lists show of it. Texts are JSON that nobody reads.
struct SessionRecord {
  struct Message {
    MessageId id;
    std::string body;
    Time created_at;
    std::optional<std::int64_t> turn;  // That it was handed over with; none: it waits.
  };
  struct Child {
    SessionId id;
    std::string agent_name;
    SessionStatus status = SessionStatus::running;
    Time created_at;
  };

  std::string payload;
  std::optional<std::string> state;
  std::optional<std::string> resume;
  std::vector<Message> messages;  // The oldest first.
  std::vector<Child> children;    // The oldest first.
};

}  // namespace holdpoint
