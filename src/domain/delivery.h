#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace holdpoint {

// `obsolete`: its question was settled before the message could be sent again.
enum class DeliveryStatus { pending, delivered, dead, obsolete };
inline constexpr std::array kDeliveryStatuses{DeliveryStatus::pending, DeliveryStatus::delivered,
                                              DeliveryStatus::dead, DeliveryStatus::obsolete};
std::string_view to_text(DeliveryStatus status);
std::optional<DeliveryStatus> delivery_status_from(std::string_view text);

// One message owed to one channel; a row of the outbox. Its id stays the same over retries, so that
// receivers can drop repeats.
struct Delivery {
  DeliveryId id;
  SessionId session_id;
  std::optional<QuestionId> question_id;
  std::string agent_name;
  std::string channel;
  std::string event;
  std::string destination;
  std::string host;  // What shares a receiver's capacity.
  std::string body;
  DeliveryStatus status = DeliveryStatus::pending;
  std::int64_t attempts = 0;
  std::optional<Time> next_attempt_at;
  std::optional<std::int64_t> last_status;
  std::optional<std::string> last_error;
  Time created_at;
  std::optional<Time> delivered_at;
  // Whom the message's answer link is for. The link's token is made anew for each attempt and never
  // stored: in the body token_mark(id) stands for it.
  std::optional<std::string> link_for;
  // The turn that asked: the message is about all questions of that ask. None: about `question_id`
  // alone, or about the session.
  std::optional<std::int64_t> ask;
  std::optional<std::string> message_ref;  // What the platform calls the message, once it is there.
  std::optional<DeliveryId> follows;       // The delivery whose message this edits or answers.

  // Of this attempt's answer links, one for each question; never stored.
  std::vector<std::string> tokens;
};

// Whether a message of this channel can be changed once it is there. It shows each step; one that
// can only be followed by another waits for the end.
bool can_be_edited(std::string_view channel);

// The platform behind a channel: `url`, `slack`, `discord` or `email`.
std::string_view platform_behind(std::string_view channel);

// Holds the delivery's id, which no agent can know while it writes its question: else it could have
// the token put into a text of its own.
std::string token_mark(const DeliveryId& id);

}  // namespace holdpoint
