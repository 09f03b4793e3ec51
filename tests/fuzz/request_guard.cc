// The guard on any bytes, cut in any way; and on chunks, against a second reading of them.
#include "http/request_guard.h"

#include "tests/fuzz/expect.h"
#include "tests/fuzz/framing.h"

namespace holdpoint {
namespace {

using Verdict = RequestGuard::Verdict;

const RequestGuard::Limits kLimits{200, 5};
const std::string kChunkedHead = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

struct Seen {
  Verdict verdict = Verdict::fine;
  bool head_complete = false;
  bool complete = false;
  bool operator==(const Seen&) const = default;
};

// What the guard says of bytes that come in pieces; `next_size` gives the size of each.
template <class NextSize>
Seen see(std::string_view bytes, NextSize next_size) {
  RequestGuard guard(kLimits);
  Verdict verdict = Verdict::fine;
  while (!bytes.empty() && verdict == Verdict::fine) {
    const std::string_view piece = bytes.substr(0, next_size());
    verdict = guard.see(piece);
    bytes.remove_prefix(piece.size());
  }
  return {verdict, guard.head_complete(), guard.complete()};
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
  if (whole.head_complete) {
    expect(end != std::string_view::npos && end + 4 <= kLimits.max_head_bytes,
           "a head is complete at its first empty line");
  } else if (whole.verdict == Verdict::fine) {
    expect(bytes.size() <= kLimits.max_head_bytes, "a head without end is refused");
  }
  expect(refusal_for(whole.verdict).status >= 400, "every refusal has its status");
}

// Short, so that the bounds on extensions and trailers are out of the picture.
void check_chunks(std::string_view bytes) {
  if (bytes.size() > 200) return;
  RequestGuard guard(kLimits);
  expect(guard.see(kChunkedHead) == Verdict::fine, "the head is fine");
  const Verdict verdict = guard.see(bytes);
  const Chunks chunks = read_chunks(bytes);
  if (chunks.reading == Reading::complete) {
    expect(verdict == (chunks.end < bytes.size() ? Verdict::past_end : Verdict::fine),
           "a request ends where its chunks end");
    expect(guard.complete(), "complete chunks make a complete request");
  } else {
    expect(verdict == (chunks.reading == Reading::broken ? Verdict::bad_chunk : Verdict::fine),
           "chunks are fine if they are framed to the letter, and else not");
    expect(verdict != Verdict::fine || !guard.complete(),
           "incomplete chunks make no complete request");
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::check_cuts(holdpoint::text_of(data, size));
  holdpoint::check_chunks(holdpoint::text_of(data, size));
  return 0;
}
