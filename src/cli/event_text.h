#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace holdpoint::cli {

// Server-sent events as they come in, piece by piece. Knows of each only its number and what it
// says; the stream of a server that was restarted goes on after last_id().
class EventText {
 public:
  // `on_event` gets the data of each event.
  explicit EventText(std::function<void(const std::string& data)> on_event)
      : on_event_(std::move(on_event)) {}

  void feed(std::string_view piece);
  // A new stream begins: what was cut off of the last one is gone.
  void begin() {
    line_.clear();
    data_.clear();
  }
  const std::string& last_id() const { return last_id_; }

 private:
  void read_line(std::string_view line);

  const std::function<void(const std::string& data)> on_event_;
  std::string line_, data_, last_id_;
};

}  // namespace holdpoint::cli
