#include "http/request_guard.h"

#include <algorithm>
#include <cctype>

namespace holdpoint {
namespace {

constexpr std::size_t kMaxExtension = 256;
constexpr std::size_t kMaxTrailers = 4096;

bool is_chunked(std::string_view head) {
  // Names are compared without case; the parser has refused folded lines and bad names by now.
  std::string lower(head);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("\ntransfer-encoding:") != std::string::npos;
}

}  // namespace

RequestGuard::Verdict RequestGuard::see(std::string_view bytes) {
  for (const char c : bytes) {
    if (state_ == State::plain_body) return Verdict::fine;
    if (state_ == State::head) {
      head_ += c;
      if (head_.size() > max_head_bytes_) return Verdict::head_too_large;
      if (c == '\n' && head_.ends_with("\r\n\r\n")) end_head();
    } else if (!see_chunk_byte(c)) {
      return Verdict::bad_chunk;
    }
  }
  return Verdict::fine;
}

void RequestGuard::end_head() {
  state_ = is_chunked(head_) ? State::size : State::plain_body;
  head_.clear();
  head_.shrink_to_fit();
}

bool RequestGuard::see_chunk_byte(char c) {
  switch (state_) {
    case State::size:
      if (std::isxdigit(static_cast<unsigned char>(c))) {
        if (++digits_ > 8) return false;
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        chunk_left_ = chunk_left_ * 16 + static_cast<std::size_t>(digit);
        return true;
      }
      if (digits_ == 0) return false;
      line_length_ = 0;
      if (c == ';')
        state_ = State::extension;
      else if (c == '\r')
        state_ = State::size_lf;
      else
        return false;
      return true;
    case State::extension:
      if (c == '\r') state_ = State::size_lf;
      return c != '\n' && ++line_length_ <= kMaxExtension;
    case State::size_lf:
      line_length_ = 0;
      digits_ = 0;
      state_ = chunk_left_ == 0 ? State::trailer : State::data;
      return c == '\n';
    case State::data:
      if (--chunk_left_ == 0) state_ = State::data_cr;
      return true;
    case State::data_cr:
      state_ = State::data_lf;
      return c == '\r';
    case State::data_lf:
      state_ = State::size;
      return c == '\n';
    case State::trailer:
      return ++trailer_bytes_ <= kMaxTrailers;
    case State::head:
    case State::plain_body:
      return true;
  }
  return false;
}

}  // namespace holdpoint
