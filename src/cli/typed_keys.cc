#include "cli/typed_keys.h"

#include <algorithm>

#include "domain/text.h"

namespace holdpoint::cli {
namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kLongestSequence = 32;
constexpr std::size_t kLongestPaste = 65536;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::vector<Key> TypedKeys::feed(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Key> keys;
  while (!rest_.empty() && take(keys)) {
  }
  return keys;
}

std::vector<Key> TypedKeys::be_sure() {
  if (!is_unsure()) return {};
  rest_.clear();
  return {{Key::Kind::escape, ""}};
}

bool TypedKeys::take(std::vector<Key>& keys) {
  if (pasting_) return take_paste(keys);
  const char c = rest_.front();
  if (c == '\x1b') return take_sequence(keys);
  if (static_cast<unsigned char>(c) >= 0x80) return take_character(keys);
  rest_.erase(0, 1);
  if (c == '\r' || c == '\n') {
    keys.push_back({Key::Kind::enter, ""});
  } else if (c == '\x7f' || c == '\b') {
    keys.push_back({Key::Kind::backspace, ""});
  } else if (c == '\x15') {
    keys.push_back({Key::Kind::erase_line, ""});
  } else if (c >= 0x20) {
    keys.push_back({Key::Kind::character, std::string(1, c)});
  }
  return true;
}

bool TypedKeys::take_sequence(std::vector<Key>& keys) {
  if (rest_.size() < 2) return false;
  if (rest_[1] != '[' && rest_[1] != 'O') {
    // With Alt: the other key is dropped too. Two escapes: the first was the key.
    if (rest_[1] == '\x1b') keys.push_back({Key::Kind::escape, ""});
    rest_.erase(0, rest_[1] == '\x1b' ? 1 : 2);
    return true;
  }
  std::size_t end = 2;
  while (end < rest_.size() && (rest_[end] < 0x40 || rest_[end] > 0x7e)) ++end;
  if (end == rest_.size()) {
    if (end > kLongestSequence) rest_.clear();
    return false;
  }
  const std::string sequence = rest_.substr(2, end - 1);
  rest_.erase(0, end + 1);
  if (sequence == "A") keys.push_back({Key::Kind::up, ""});
  if (sequence == "B") keys.push_back({Key::Kind::down, ""});
  if (sequence == "5~") keys.push_back({Key::Kind::page_up, ""});
  if (sequence == "6~") keys.push_back({Key::Kind::page_down, ""});
  pasting_ = sequence == "200~";
  return true;
}

bool TypedKeys::take_paste(std::vector<Key>& keys) {
  const auto end = rest_.find(kPasteEnd);
  if (end == std::string::npos) {
    // Too much to be meant; what follows is dropped with it.
    if (rest_.size() > kLongestPaste) rest_.erase(kLongestPaste / 2, rest_.size() - kLongestPaste);
    return false;
  }
  std::string text = rest_.substr(0, end);
  rest_.erase(0, end + kPasteEnd.size());
  pasting_ = false;
  std::replace(text.begin(), text.end(), '\r', '\n');
  if (is_clean_utf8(text)) keys.push_back({Key::Kind::paste, std::move(text)});
  return true;
}

bool TypedKeys::take_character(std::vector<Key>& keys) {
  const auto lead = static_cast<unsigned char>(rest_.front());
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  std::size_t have = 1;
  while (have < bytes && have < rest_.size() && is_continuation(rest_[have])) ++have;
  if (have < bytes && have == rest_.size()) return false;
  std::string text = rest_.substr(0, have);
  rest_.erase(0, have);
  if (is_clean_utf8(text)) keys.push_back({Key::Kind::character, std::move(text)});
  return true;
}

}  // namespace holdpoint::cli
