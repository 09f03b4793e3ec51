#include "cli/event_text.h"

namespace holdpoint::cli {

void EventText::feed(std::string_view piece) {
  for (const char c : piece) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    if (line_.ends_with('\r')) line_.pop_back();
    read_line(line_);
    line_.clear();
  }
}

void EventText::read_line(std::string_view line) {
  if (line.empty()) {
    if (!data_.empty()) on_event_(data_);
    data_.clear();
    return;
  }
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "id") last_id_ = value;
  if (name == "data") data_ += value;
}

}  // namespace holdpoint::cli
