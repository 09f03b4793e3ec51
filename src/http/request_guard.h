#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdpoint {

// Watches the bytes of a request go by, between the socket and the HTTP parser, and says when they
// must go no further. It is stricter than the parser wherever two readers could differ on where a
// request ends: the parser would take a chunk size of "-2" for a huge number, decode "%35" in a
// Content-Length, and skip lines that end in a lone LF. Keeps no more than a head within its
// limits, so that memory is bounded whatever comes. One object a request.
class RequestGuard {
 public:
  struct Limits {
    std::size_t max_head_bytes = 32768;
    std::size_t max_headers = 100;
  };
  enum class Verdict {
    fine,
    head_too_large,
    too_many_headers,
    header_too_long,
    uri_too_long,
    bad_line,
    bad_header,
    bad_host,
    bad_length,
    bad_encoding,
    two_lengths,
    bad_chunk,
    past_end,
  };

  explicit RequestGuard(const Limits& limits) : limits_(limits) {}

  // The next bytes as they came. After a verdict that is not fine there is nothing more to see.
  [[nodiscard]] Verdict see(std::string_view bytes);
  bool head_complete() const { return state_ != State::head; }
  // All of it went by, body included: the next byte is the next request's.
  bool complete() const { return state_ == State::done; }
  // The client wants the connection closed after this request.
  bool wants_close() const { return wants_close_; }

  // The headers as they were sent. (The parser decodes %-escapes in their values, which nobody
  // meant to be escapes: a signature over the value would be judged over another.)
  using Headers = std::vector<std::pair<std::string, std::string>>;
  const Headers& headers() const { return headers_; }

 private:
  enum class State {
    head,
    body,
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer,
    trailer_lf,
    done
  };

  Verdict see_head_byte(char c);
  Verdict end_line();
  Verdict end_header(std::string_view line);
  Verdict end_head();
  bool see_chunk_byte(char c);

  const Limits limits_;
  State state_ = State::head;
  std::string line_;  // Of the head, without its end.
  bool after_cr_ = false;
  bool in_request_line_ = true;
  bool is_http_1_1_ = false;
  std::size_t head_bytes_ = 0;
  Headers headers_;
  bool wants_close_ = false;
  bool has_host_ = false;
  bool is_chunked_ = false;
  std::optional<std::uint64_t> length_;

  std::uint64_t left_ = 0;  // Of the body, or of a chunk.
  int digits_ = 0;
  std::size_t line_length_ = 0;
  std::size_t trailer_bytes_ = 0;
};

// What the client is told.
struct Refusal {
  int status;
  const char* code;
  const char* message;
  const char* field;
};
Refusal refusal_for(RequestGuard::Verdict verdict);

}  // namespace holdpoint
