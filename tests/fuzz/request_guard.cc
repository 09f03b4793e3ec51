// The guard on any bytes, cut in any way; and on chunks, against a second reading of them.
#include "http/request_guard.h"

#include <algorithm>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/framing.h"

namespace holdpoint {
namespace {

using Verdict = RequestGuard::Verdict;

constexpr std::size_t kMaxHead = 200;
const std::string kChunkedHead = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";

struct Seen {
  Verdict verdict = Verdict::fine;
  bool head_complete = false;
  bool operator==(const Seen&) const = default;
};

// What the guard says of bytes that come in pieces; `next_size` gives the size of each.
template <class NextSize>
Seen see(std::string_view bytes, NextSize next_size) {
  RequestGuard guard(kMaxHead);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, next_size());
    const Verdict verdict = guard.see(piece);
    if (verdict != Verdict::fine) return {verdict, guard.head_complete()};
    bytes.remove_prefix(piece.size());
  }
  return {Verdict::fine, guard.head_complete()};
}

void check_cuts(std::string_view bytes) {
  const Seen whole = see(bytes, [&] { return bytes.size(); });
  const Seen single = see(bytes, [] { return 1; });
  std::uint32_t state = static_cast<std::uint32_t>(bytes.size());
  const Seen pieces = see(bytes, [&] {
    state = state * 1664525 + 1013904223;
    return 1 + (state >> 28);
  });
  expect(whole == single && whole == pieces, "the verdict is the same however the bytes are cut");
  const auto end = bytes.find("\r\n\r\n");
  const bool ends_in_time = end != std::string_view::npos && end + 4 <= kMaxHead;
  if (whole.verdict != Verdict::bad_chunk) {
    expect(!whole.head_complete || ends_in_time, "a head is complete at its empty line");
    expect(bytes.size() <= kMaxHead || whole.head_complete || whole.verdict != Verdict::fine,
           "a head without end is refused");
  }
}

// Short, so that the bounds on extensions and trailers are out of the picture.
void check_chunks(std::string_view bytes) {
  if (bytes.size() > 200) return;
  RequestGuard guard(kMaxHead);
  expect(guard.see(kChunkedHead) == Verdict::fine, "the head is fine");
  const Verdict verdict = guard.see(bytes);
  expect(verdict == (read_chunks(bytes) ? Verdict::fine : Verdict::bad_chunk),
         "chunks are fine if they are framed to the letter, and else not");
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::check_cuts(holdpoint::text_of(data, size));
  holdpoint::check_chunks(holdpoint::text_of(data, size));
  return 0;
}
