#include "http/request_guard.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

using Verdict = RequestGuard::Verdict;

constexpr std::size_t kMaxHead = 1000;
const std::string kChunkedHead =
    "POST /agent/ask HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

Verdict verdict_on(const std::string& bytes) { return RequestGuard(kMaxHead).see(bytes); }
Verdict verdict_on_body(const std::string& body) { return verdict_on(kChunkedHead + body); }

// The first verdict that is not fine, when the bytes come one by one.
Verdict verdict_bytewise(const std::string& bytes) {
  RequestGuard guard(kMaxHead);
  for (const char c : bytes) {
    if (const Verdict verdict = guard.see({&c, 1}); verdict != Verdict::fine) return verdict;
  }
  return Verdict::fine;
}

std::string head_of(std::size_t size) {
  const std::string start = "GET / HTTP/1.1\r\nX: ", end = "\r\n\r\n";
  return start + std::string(size - start.size() - end.size(), 'x') + end;
}

TEST_CASE("a head up to the limit is fine, and one byte more is not") {
  CHECK(verdict_on(head_of(kMaxHead)) == Verdict::fine);
  CHECK(verdict_bytewise(head_of(kMaxHead)) == Verdict::fine);
  CHECK(verdict_on(head_of(kMaxHead + 1)) == Verdict::head_too_large);
  CHECK(verdict_bytewise(head_of(kMaxHead + 1)) == Verdict::head_too_large);
}

TEST_CASE("a head that never ends is stopped at the limit") {
  CHECK(verdict_bytewise(std::string(kMaxHead, 'x')) == Verdict::fine);
  CHECK(verdict_bytewise(std::string(kMaxHead + 1, 'x')) == Verdict::head_too_large);
  CHECK(verdict_on(std::string(1'000'000, '\n')) == Verdict::head_too_large);
}

TEST_CASE("a head is complete at its empty line, and not before") {
  RequestGuard guard(kMaxHead);
  guard.see("GET / HTTP/1.1\r\nHost: h\r\n\r");
  CHECK_FALSE(guard.head_complete());
  guard.see("\n");
  CHECK(guard.head_complete());
}

TEST_CASE("a body that is not chunked passes whatever it is") {
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n";
  CHECK(verdict_on(head + "-2\r\n" + std::string(5000, 'x')) == Verdict::fine);
  CHECK(verdict_bytewise(head + "zz\r\n\r\n" + std::string(5000, '\0')) == Verdict::fine);
}

TEST_CASE("chunks framed to the letter are fine, however the bytes are split") {
  const std::string text = kChunkedHead +
                           "5\r\nhello\r\n"
                           "00a;name=value;flag\r\n\r\n-2\r\n\r\nxx\r\n"
                           "B\r\n12345678901\r\n"
                           "0\r\nTrailer: x\r\n\r\n";
  CHECK(verdict_on(text) == Verdict::fine);
  CHECK(verdict_bytewise(text) == Verdict::fine);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      RequestGuard guard(kMaxHead);
      const bool fine = guard.see(text.substr(0, first)) == Verdict::fine &&
                        guard.see(text.substr(first, second - first)) == Verdict::fine &&
                        guard.see(text.substr(second)) == Verdict::fine;
      REQUIRE(fine);
    }
  }
}

TEST_CASE("a bad chunk is found in every split of the bytes") {
  const std::string text = kChunkedHead + "5\r\nhello\r\n-2\r\n";
  for (std::size_t split = 0; split <= text.size(); ++split) {
    RequestGuard guard(kMaxHead);
    const bool first = guard.see(text.substr(0, split)) == Verdict::bad_chunk;
    REQUIRE((first || guard.see(text.substr(split)) == Verdict::bad_chunk));
  }
}

TEST_CASE("Transfer-Encoding is found in any case and at any place of the head") {
  for (const std::string head :
       {"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTRANSFER-ENCODING:chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 9\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"}) {
    CAPTURE(head);
    CHECK(verdict_on(std::string(head) + "-2\r\n") == Verdict::bad_chunk);
  }
  // As a value it is just text.
  CHECK(verdict_on("POST / HTTP/1.1\r\nX: transfer-encoding: chunked\r\n\r\n-2\r\n") ==
        Verdict::fine);
}

TEST_CASE("a chunk size is 1 to 8 hexadecimal digits, and nothing else") {
  for (const std::string size : {"5", "0005", "00000005", "aB", "ffffffff"}) {
    CAPTURE(size);
    CHECK(verdict_on_body(std::string(size) + "\r\nhello") == Verdict::fine);
  }
  for (const std::string size :
       {"", "-2", "-0", "+5", " 5", "5 ", "0x5", "5h", "g", "5.0", "1_0", "\t5", "000000005",
        "fffffffff", "ffffffffffffffff", "10000000000000000"}) {
    CAPTURE(size);
    CHECK(verdict_on_body(std::string(size) + "\r\nhello") == Verdict::bad_chunk);
  }
  CHECK(verdict_on_body(";ext\r\nhello") == Verdict::bad_chunk);
}

TEST_CASE("a chunk is followed by CRLF, right where it ends") {
  CHECK(verdict_on_body("5\r\nhello\r\n0\r\n\r\n") == Verdict::fine);
  for (const std::string body :
       {"5\nhello\r\n", "5\rhello\r\n", "5\r\rhello", "5\n\rhello", "5\r\nhello\n0", "5\r\nhello0",
        "5\r\nhello\r0", "5\r\nhello\n\r", "5\r\nhellox\r\n", "5\r\nhello\r\n\r\n",
        "4\r\nhello\r\n", "6\r\nhello\r\n0\r\n"}) {
    CAPTURE(body);
    CHECK(verdict_on_body(body) == Verdict::bad_chunk);
  }
}

TEST_CASE("a chunk's data may hold anything") {
  std::string data;
  for (int c = 0; c < 256; ++c) data += static_cast<char>(c);
  CHECK(verdict_on_body("100\r\n" + data + "\r\n0\r\n\r\n") == Verdict::fine);
}

TEST_CASE("a chunk's extension is short and on one line") {
  const auto extended = [](const std::string& extension) {
    return verdict_on_body("5;" + extension + "\r\nhello\r\n0\r\n\r\n");
  };
  CHECK(extended("") == Verdict::fine);
  CHECK(extended("a=\"b c\"") == Verdict::fine);
  CHECK(extended(std::string(250, 'x')) == Verdict::fine);
  CHECK(extended(std::string(257, 'x')) == Verdict::bad_chunk);
  CHECK(extended("a\nb") == Verdict::bad_chunk);
  CHECK(extended("a\rb") == Verdict::bad_chunk);
}

TEST_CASE("the limit on an extension is for each chunk, not for all together") {
  std::string body;
  for (int i = 0; i < 50; ++i) body += "1;" + std::string(200, 'x') + "\r\ny\r\n";
  CHECK(verdict_on_body(body + "0\r\n\r\n") == Verdict::fine);
}

TEST_CASE("trailers are few") {
  CHECK(verdict_on_body("0\r\nA: " + std::string(4000, 'x') + "\r\n\r\n") == Verdict::fine);
  CHECK(verdict_on_body("0\r\nA: " + std::string(5000, 'x') + "\r\n\r\n") == Verdict::bad_chunk);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "A: x\r\n";
  CHECK(verdict_on_body("0\r\n" + many) == Verdict::bad_chunk);
}

}  // namespace
}  // namespace holdpoint
