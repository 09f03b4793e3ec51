#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint {

// The messages in an HTTP body that comes piece by piece: a JSON text, or server-sent events. Which
// of the two it is shows in its first character: no event begins with a brace or a bracket.
class MessageStream {
 public:
  explicit MessageStream(std::size_t longest = std::size_t{64} << 20) : longest_(longest) {}

  // Adds the messages that `piece` completes, each on one line. False: one is longer than may be.
  [[nodiscard]] bool take(std::string_view piece, std::vector<std::string>& messages);
  // The body is over: adds what it ended with. An event that was broken off is none.
  void finish(std::vector<std::string>& messages);

  // Where the stream can be taken up again; empty: nowhere.
  const std::string& last_event_id() const { return last_event_id_; }

 private:
  enum class Kind { unknown, json, events };
  void end_line(std::vector<std::string>& messages);
  void end_event(std::vector<std::string>& messages);

  const std::size_t longest_;
  Kind kind_ = Kind::unknown;
  std::string text_;  // Of a JSON text, or of a line.
  bool after_cr_ = false;
  std::string type_;
  std::string data_;
  std::string last_event_id_;
};

}  // namespace holdpoint
