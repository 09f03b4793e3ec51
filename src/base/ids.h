#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace holdpoint {

// A UUIDv7 for `now`. Ids made by one process sort in the order they were made, even within a
// millisecond.
std::string new_uuid(Time now);

// 36 characters of the 8-4-4-4-12 form, in lower case.
bool is_uuid(std::string_view text);

// An id that cannot be mistaken for another kind's.
template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  static Id make(Time now) { return Id(new_uuid(now)); }

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

using SessionId = Id<struct SessionTag>;
using QuestionId = Id<struct QuestionTag>;
using DeliveryId = Id<struct DeliveryTag>;
using MessageId = Id<struct MessageTag>;

// Uniform in [0, 1), for jitter.
double random_fraction();

}  // namespace holdpoint

template <class Tag>
struct std::hash<holdpoint::Id<Tag>> {
  std::size_t operator()(const holdpoint::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text());
  }
};
