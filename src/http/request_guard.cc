#include "http/request_guard.h"

#include <algorithm>
#include <charconv>

namespace holdpoint {
namespace {

// Without the line's end. The parser's own bounds are 8192 for the target, and for a header's line
// with its end.
constexpr std::size_t kMaxRequestLine = 8192 + 64;
constexpr std::size_t kMaxHeaderLine = 8192 - 2;
constexpr std::size_t kMaxExtension = 256;
constexpr std::size_t kMaxTrailers = 4096;

bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool equal_ignoring_case(std::string_view text, std::string_view lower_text) {
  return text.size() == lower_text.size() &&
         std::equal(text.begin(), text.end(), lower_text.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Whether the comma-separated `list` has `lower_text`.
bool lists(std::string_view list, std::string_view lower_text) {
  while (true) {
    const auto comma = list.find(',');
    if (equal_ignoring_case(trim(list.substr(0, comma)), lower_text)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// Three parts, one space between them; whether they make sense is the parser's to say.
bool is_request_line(std::string_view line) {
  return std::count(line.begin(), line.end(), ' ') == 2 && line.front() != ' ' &&
         line.back() != ' ' && line.find("  ") == std::string_view::npos &&
         line.find('\t') == std::string_view::npos;
}

// A name or an address, and perhaps a port.
bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("-._~!$&'()*+;=:[]").find(c) != std::string_view::npos;
  });
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t length = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc{}) return std::nullopt;
  return length;
}

}  // namespace

RequestGuard::Verdict RequestGuard::see(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::done) return Verdict::past_end;
    if (state_ == State::body || state_ == State::data) {
      const auto count = std::min<std::uint64_t>(left_, bytes.size());
      left_ -= count;
      bytes.remove_prefix(count);
      if (left_ == 0) state_ = state_ == State::body ? State::done : State::data_cr;
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (state_ == State::head) {
      const Verdict verdict = see_head_byte(c);
      if (verdict != Verdict::fine) return verdict;
    } else if (!see_chunk_byte(c)) {
      return Verdict::bad_chunk;
    }
  }
  return Verdict::fine;
}

RequestGuard::Verdict RequestGuard::see_head_byte(char c) {
  if (++head_bytes_ > limits_.max_head_bytes) return Verdict::head_too_large;
  if (after_cr_) {
    after_cr_ = false;
    return c == '\n' ? end_line() : Verdict::bad_line;
  }
  if (c == '\r') {
    after_cr_ = true;
    return Verdict::fine;
  }
  if (is_control(c)) return Verdict::bad_line;
  line_ += c;
  if (in_request_line_) {
    return line_.size() > kMaxRequestLine ? Verdict::uri_too_long : Verdict::fine;
  }
  return line_.size() > kMaxHeaderLine ? Verdict::header_too_long : Verdict::fine;
}

RequestGuard::Verdict RequestGuard::end_line() {
  Verdict verdict = Verdict::fine;
  if (in_request_line_) {
    in_request_line_ = false;
    is_http_1_1_ = line_.ends_with(" HTTP/1.1");
    if (!is_request_line(line_)) verdict = Verdict::bad_line;
  } else if (line_.empty()) {
    verdict = end_head();
  } else {
    verdict = end_header(line_);
  }
  line_.clear();
  return verdict;
}

RequestGuard::Verdict RequestGuard::end_header(std::string_view line) {
  if (headers_.size() == limits_.max_headers) return Verdict::too_many_headers;
  // A name of a token refuses folded lines and space before the colon too.
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return Verdict::bad_header;
  }
  const auto name = line.substr(0, colon);
  const auto value = trim(line.substr(colon + 1));
  if (equal_ignoring_case(name, "host")) {
    if (has_host_ || !is_host(value)) return Verdict::bad_host;
    has_host_ = true;
  } else if (equal_ignoring_case(name, "content-length")) {
    if (length_) return Verdict::bad_length;
    length_ = parse_length(value);
    if (!length_) return Verdict::bad_length;
  } else if (equal_ignoring_case(name, "transfer-encoding")) {
    if (is_chunked_ || !is_http_1_1_ || !equal_ignoring_case(value, "chunked")) {
      return Verdict::bad_encoding;
    }
    is_chunked_ = true;
  } else if (equal_ignoring_case(name, "connection")) {
    wants_close_ = wants_close_ || lists(value, "close");
  }
  headers_.emplace_back(name, value);
  return Verdict::fine;
}

RequestGuard::Verdict RequestGuard::end_head() {
  if (is_http_1_1_ && !has_host_) return Verdict::bad_host;
  if (is_chunked_ && length_) return Verdict::two_lengths;
  left_ = length_.value_or(0);
  state_ = is_chunked_ ? State::size : left_ > 0 ? State::body : State::done;
  if (is_chunked_) left_ = 0;
  return Verdict::fine;
}

bool RequestGuard::see_chunk_byte(char c) {
  switch (state_) {
    case State::size:
      if (is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f')) {
        if (++digits_ > 8) return false;
        const int digit = is_digit(c) ? c - '0' : lower(c) - 'a' + 10;
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
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
      return (c == '\r' || !is_control(c)) && ++line_length_ <= kMaxExtension;
    case State::size_lf:
      line_length_ = 0;
      digits_ = 0;
      state_ = left_ == 0 ? State::trailer : State::data;
      return c == '\n';
    case State::data_cr:
      state_ = State::data_lf;
      return c == '\r';
    case State::data_lf:
      state_ = State::size;
      return c == '\n';
    case State::trailer:
      if (c == '\r')
        state_ = State::trailer_lf;
      else
        ++line_length_;
      return (c == '\r' || !is_control(c)) && ++trailer_bytes_ <= kMaxTrailers;
    case State::trailer_lf:
      state_ = line_length_ == 0 ? State::done : State::trailer;
      line_length_ = 0;
      return c == '\n';
    case State::head:
    case State::body:
    case State::data:
    case State::done:
      break;
  }
  return false;
}

Refusal refusal_for(RequestGuard::Verdict verdict) {
  using Verdict = RequestGuard::Verdict;
  switch (verdict) {
    case Verdict::head_too_large:
      return {431, "headers_too_large", "the head has more bytes than [limits] max_header_bytes",
              ""};
    case Verdict::too_many_headers:
      return {431, "headers_too_large", "there are more headers than [limits] max_headers", ""};
    case Verdict::header_too_long:
      return {431, "headers_too_large", "a header's line has more than 8192 bytes", ""};
    case Verdict::uri_too_long:
      return {414, "uri_too_long", "the path has more than 8192 bytes", ""};
    case Verdict::bad_line:
      return {400, "bad_request",
              "each line of the head ends in CRLF and holds no control character, and the first is "
              "METHOD path HTTP/1.1",
              ""};
    case Verdict::bad_header:
      return {400, "bad_header", "a header is one line of the form name: value", ""};
    case Verdict::bad_host:
      return {400, "bad_header", "there must be one Host header, with one host", "Host"};
    case Verdict::bad_length:
      return {400, "bad_header", "Content-Length must be given once, in digits", "Content-Length"};
    case Verdict::bad_encoding:
      return {400, "bad_header",
              "the only Transfer-Encoding known is chunked, given once and with HTTP/1.1",
              "Transfer-Encoding"};
    case Verdict::two_lengths:
      return {400, "bad_header", "Content-Length and Transfer-Encoding exclude each other",
              "Content-Length"};
    case Verdict::bad_chunk:
      return {400, "bad_chunk", "the body's chunks are not framed as HTTP asks", "body"};
    case Verdict::fine:
    case Verdict::past_end:
      break;
  }
  return {400, "bad_request", "the request is not valid HTTP", ""};
}

}  // namespace holdpoint
