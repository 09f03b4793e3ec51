#include "wire/message_stream.h"

#include <algorithm>

namespace holdpoint {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// JSON has line ends only between its tokens.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

bool MessageStream::take(std::string_view piece, std::vector<std::string>& messages) {
  if (kind_ == Kind::unknown) {
    const auto first = piece.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return true;
    piece.remove_prefix(first);
    kind_ = piece.front() == '{' || piece.front() == '[' ? Kind::json : Kind::events;
  }
  if (text_.size() + data_.size() + piece.size() > longest_) return false;
  if (kind_ == Kind::json) {
    text_.append(piece);
    return true;
  }
  for (const char c : piece) {
    // A line ends with CR, LF or both.
    const bool second_half = c == '\n' && after_cr_;
    after_cr_ = c == '\r';
    if (second_half) continue;
    if (c == '\r' || c == '\n') {
      end_line(messages);
    } else {
      text_ += c;
    }
  }
  return true;
}

void MessageStream::finish(std::vector<std::string>& messages) {
  if (kind_ == Kind::json) messages.push_back(on_one_line(std::move(text_)));
  text_.clear();
  kind_ = Kind::unknown;
}

void MessageStream::end_line(std::vector<std::string>& messages) {
  const std::string_view line = text_;
  if (line.empty()) return end_event(messages);
  const auto colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    data_.append(data_.empty() ? "" : "\n").append(value);
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    last_event_id_ = value;
  }
  text_.clear();
}

void MessageStream::end_event(std::vector<std::string>& messages) {
  const bool is_message = type_.empty() || type_ == "message";
  if (is_message && !data_.empty()) messages.push_back(on_one_line(std::move(data_)));
  data_.clear();
  type_.clear();
}

}  // namespace holdpoint
