#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdpoint {

// Watches the bytes of a connection's requests go by, between the socket and the HTTP parser, and
// says when they must go no further: a head that is too large, or chunks that are not framed to the
// letter. (The parser would take a chunk size of
// "-2" for a huge number.) One object a request.
class RequestGuard {
 public:
  enum class Verdict { fine, head_too_large, bad_chunk };

  explicit RequestGuard(std::size_t max_head_bytes) : max_head_bytes_(max_head_bytes) {}

  // The next bytes as they came.
  Verdict see(std::string_view bytes);
  bool head_complete() const { return state_ != State::head; }

 private:
  enum class State { head, plain_body, size, extension, size_lf, data, data_cr, data_lf, trailer };

  void end_head();
  bool see_chunk_byte(char c);

  const std::size_t max_head_bytes_;
  State state_ = State::head;
  std::string head_;
  std::size_t chunk_left_ = 0;
  int digits_ = 0;
  std::size_t line_length_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace holdpoint
