#include "http/request_guard.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

using Verdict = RequestGuard::Verdict;

constexpr std::size_t kMaxHead = 20000;
constexpr std::size_t kMaxHeaders = 20;
constexpr RequestGuard::Limits kLimits{kMaxHead, kMaxHeaders};
const std::string kStart = "POST /agent/ask HTTP/1.1\r\nHost: h\r\n";
const std::string kChunkedHead = kStart + "Transfer-Encoding: chunked\r\n\r\n";

Verdict verdict_at_once(const std::string& bytes) { return RequestGuard(kLimits).see(bytes); }

// The first verdict that is not fine, when the bytes come one by one.
Verdict verdict_bytewise(const std::string& bytes) {
  RequestGuard guard(kLimits);
  for (const char c : bytes) {
    if (const Verdict verdict = guard.see({&c, 1}); verdict != Verdict::fine) return verdict;
  }
  return Verdict::fine;
}

// The same, however the bytes come.
Verdict verdict_on(const std::string& bytes) {
  const Verdict verdict = verdict_at_once(bytes);
  CHECK(verdict_bytewise(bytes) == verdict);
  return verdict;
}

Verdict verdict_on_body(const std::string& body) { return verdict_on(kChunkedHead + body); }
Verdict verdict_on_headers(const std::string& lines) { return verdict_on(kStart + lines + "\r\n"); }

std::string header_of(std::size_t line_size) {
  return "X: " + std::string(line_size - 5, 'x') + "\r\n";
}

TEST_CASE("a head up to the limit is fine, and one byte more is not") {
  const auto head_of = [](std::size_t size) {
    const std::size_t rest = size - kStart.size() - 2 * 8000 - 2;
    return kStart + header_of(8000) + header_of(8000) + header_of(rest) + "\r\n";
  };
  REQUIRE(head_of(kMaxHead).size() == kMaxHead);
  CHECK(verdict_on(head_of(kMaxHead)) == Verdict::fine);
  CHECK(verdict_on(head_of(kMaxHead + 1)) == Verdict::head_too_large);
}

TEST_CASE("a header's line has at most 8192 bytes with its end") {
  CHECK(verdict_on_headers(header_of(8192)) == Verdict::fine);
  CHECK(verdict_on_headers(header_of(8193)) == Verdict::header_too_long);
  // Without ever ending.
  CHECK(verdict_on(kStart + "X: " + std::string(9000, 'x')) == Verdict::header_too_long);
}

TEST_CASE("there may be just so many headers") {
  const auto with_headers = [](std::size_t count) {
    std::string lines;
    for (std::size_t i = 1; i < count; ++i) lines += "X-" + std::to_string(i) + ": 1\r\n";
    return verdict_on_headers(lines);  // And the Host.
  };
  CHECK(with_headers(kMaxHeaders) == Verdict::fine);
  CHECK(with_headers(kMaxHeaders + 1) == Verdict::too_many_headers);
  CHECK(with_headers(100'000) == Verdict::too_many_headers);
}

TEST_CASE("a request line that is far too long is no matter of headers") {
  CHECK(verdict_on("GET /" + std::string(8000, 'x')) == Verdict::fine);
  CHECK(verdict_on("GET /" + std::string(9000, 'x')) == Verdict::uri_too_long);
  // The whole head's limit is there too.
  CHECK(RequestGuard({1000, 10}).see(std::string(1001, 'x')) == Verdict::head_too_large);
}

TEST_CASE("a head is complete at its empty line, and not before") {
  RequestGuard guard(kLimits);
  CHECK(guard.see("GET / HTTP/1.1\r\nHost: h\r\n\r") == Verdict::fine);
  CHECK_FALSE(guard.head_complete());
  CHECK(guard.see("\n") == Verdict::fine);
  CHECK(guard.head_complete());
  CHECK(guard.complete());
}

TEST_CASE("lines end in CRLF, and hold no control character but the tab") {
  CHECK(verdict_on_headers("X: a\tb\r\n") == Verdict::fine);
  CHECK(verdict_on_headers("X: \xc3\xa4\xff\r\n") == Verdict::fine);
  for (const char* line :
       {"X: a\rb\r\n", "X: a\nY: b\r\n", "X: a\r\r\n", "X: a\n\r\n", "\rX: a\r\n", "X: \x01\r\n",
        "X\x1f: 1\r\n", "X: \x7f\r\n", "X: \x1b[2J\r\n"}) {
    CAPTURE(line);
    CHECK(verdict_on_headers(line) == Verdict::bad_line);
  }
  CHECK(verdict_on_headers(std::string("X: a\0b\r\n", 9)) == Verdict::bad_line);
  CHECK(verdict_on(std::string("GET /a\0b HTTP/1.1\r\n", 20)) == Verdict::bad_line);
  CHECK(verdict_on("GET / HTTP/1.1\nHost: h\n\n") == Verdict::bad_line);
  CHECK(verdict_on("GET /\rX HTTP/1.1\r\n") == Verdict::bad_line);
  CHECK(verdict_on("\r\nGET / HTTP/1.1\r\n") == Verdict::bad_line);
  CHECK(verdict_on("\x16\x03\x01") == Verdict::bad_line);
}

TEST_CASE("a header is a name, a colon and a value on one line") {
  for (const char* line : {"X:\r\n", "X:1\r\n", "X: \t 1 \t\r\n", "X-y_z.1!#$%&'*+^`|~: :\r\n"}) {
    CAPTURE(line);
    CHECK(verdict_on_headers(line) == Verdict::fine);
  }
  for (const char* line :
       {"X : 1\r\n", "X\t: 1\r\n", " X: 1\r\n", "\tX: 1\r\n", "X: 1\r\n 2\r\n", "X: 1\r\n\t2\r\n",
        ": 1\r\n", "X\r\n", "X y: 1\r\n", "X\xc3\xa4: 1\r\n", "X(: 1\r\n", "Content-Length : 5\r\n",
        "Transfer-Encoding\t: chunked\r\n", " Content-Length: 5\r\n"}) {
    CAPTURE(line);
    CHECK(verdict_on_headers(line) == Verdict::bad_header);
  }
}

TEST_CASE("HTTP/1.1 needs one Host, and nothing has two") {
  CHECK(verdict_on("GET / HTTP/1.1\r\nhOST: h:8080\r\n\r\n") == Verdict::fine);
  CHECK(verdict_on("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n") == Verdict::fine);
  CHECK(verdict_on("GET / HTTP/1.0\r\n\r\n") == Verdict::fine);
  CHECK(verdict_on("GET / HTTP/1.1\r\n\r\n") == Verdict::bad_host);
  CHECK(verdict_on("GET / HTTP/1.1\r\nX-Host: h\r\n\r\n") == Verdict::bad_host);
  CHECK(verdict_on_headers("Host: h\r\n") == Verdict::bad_host);
  CHECK(verdict_on_headers("HOST: other\r\n") == Verdict::bad_host);
  CHECK(verdict_on("GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n") == Verdict::bad_host);
  for (const char* host : {"a b", "a, b", "a,b", "a/b", "u@h", "a\\b", "a?b", "a#b"}) {
    CAPTURE(host);
    CHECK(verdict_on("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n") ==
          Verdict::bad_host);
  }
}

TEST_CASE("a Content-Length is given once, in digits") {
  for (const char* value : {"0", "5", " 5 ", "00005", "18446744073709551615"}) {
    CAPTURE(value);
    CHECK(verdict_on_headers("Content-Length:" + std::string(value) + "\r\n") == Verdict::fine);
  }
  for (const char* value :
       {"", " ", "-1", "-0", "+5", "5 5", "5,5", "5, 5", "0x5", "5.0", "5e1", "five", "%35", "5%",
        "\"5\"", "5;", "18446744073709551616", "99999999999999999999999999"}) {
    CAPTURE(value);
    CHECK(verdict_on_headers("Content-Length: " + std::string(value) + "\r\n") ==
          Verdict::bad_length);
  }
  CHECK(verdict_on_headers("Content-Length: 5\r\ncontent-length: 5\r\n") == Verdict::bad_length);
  CHECK(verdict_on_headers("Content-Length: 5\r\nX: 1\r\nCONTENT-LENGTH: 6\r\n") ==
        Verdict::bad_length);
}

TEST_CASE("a Transfer-Encoding is chunked, once, with HTTP/1.1 and without a Content-Length") {
  for (const char* line : {"transfer-encoding:chunked\r\n", "TRANSFER-ENCODING:\t Chunked \r\n"}) {
    CAPTURE(line);
    CHECK(verdict_on_headers(line) == Verdict::fine);
  }
  for (const char* value : {"", "identity", "gzip", "gzip, chunked", "chunked, chunked", "chunked,",
                            "xchunked", "chunked x", "chunked;q=1", "%63hunked", "\"chunked\""}) {
    CAPTURE(value);
    CHECK(verdict_on_headers("Transfer-Encoding: " + std::string(value) + "\r\n") ==
          Verdict::bad_encoding);
  }
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  CHECK(verdict_on_headers(chunked + chunked) == Verdict::bad_encoding);
  CHECK(verdict_on_headers(chunked + "transfer-encoding: identity\r\n") == Verdict::bad_encoding);
  CHECK(verdict_on("POST / HTTP/1.0\r\n" + chunked + "\r\n") == Verdict::bad_encoding);
  CHECK(verdict_on_headers(chunked + "Content-Length: 5\r\n") == Verdict::two_lengths);
  CHECK(verdict_on_headers("Content-Length: 0\r\n" + chunked) == Verdict::two_lengths);
  // As a value it is just text.
  CHECK(verdict_on(kStart + "X: transfer-encoding: chunked\r\nContent-Length: 4\r\n\r\n-2\r\n") ==
        Verdict::fine);
}

TEST_CASE("a body of a given length passes whatever it is, and ends where it was said to") {
  const std::string body = "-2\r\n\r\n" + std::string(50, '\0') + "GET / HTTP/1.1\r\n\r\n";
  const std::string head = kStart + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  CHECK(verdict_on(head + body) == Verdict::fine);
  CHECK(verdict_on(head + body + "x") == Verdict::past_end);
  RequestGuard guard(kLimits);
  CHECK(guard.see(head + body.substr(1)) == Verdict::fine);
  CHECK_FALSE(guard.complete());
  CHECK(guard.see("x") == Verdict::fine);
  CHECK(guard.complete());
}

TEST_CASE("a request without either length has no body") {
  CHECK(verdict_on(kStart + "\r\n") == Verdict::fine);
  CHECK(verdict_on(kStart + "\r\nx") == Verdict::past_end);
  CHECK(verdict_on(kStart + "Content-Length: 0\r\n\r\nx") == Verdict::past_end);
}

TEST_CASE("chunks framed to the letter are fine, however the bytes are split") {
  const std::string text = kChunkedHead +
                           "5\r\nhello\r\n"
                           "00a;name=value;flag\r\n\r\n-2\r\n\r\nxx\r\n"
                           "B\r\n12345678901\r\n"
                           "0\r\nTrailer: x\r\n\r\n";
  CHECK(verdict_on(text) == Verdict::fine);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      RequestGuard guard(kLimits);
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
    RequestGuard guard(kLimits);
    const bool first = guard.see(text.substr(0, split)) == Verdict::bad_chunk;
    REQUIRE((first || guard.see(text.substr(split)) == Verdict::bad_chunk));
  }
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

TEST_CASE("trailers are few, on lines of their own, and end with an empty one") {
  CHECK(verdict_on_body("0\r\nA: " + std::string(4000, 'x') + "\r\n\r\n") == Verdict::fine);
  CHECK(verdict_on_body("0\r\nA: " + std::string(5000, 'x') + "\r\n\r\n") == Verdict::bad_chunk);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "A: x\r\n";
  CHECK(verdict_on_body("0\r\n" + many) == Verdict::bad_chunk);
  for (const char* trailer : {"A: x\n\r\n", "A: \rx\r\n\r\n", "\n", "\r\r\n"}) {
    CAPTURE(trailer);
    CHECK(verdict_on_body("0\r\n" + std::string(trailer)) == Verdict::bad_chunk);
  }
  CHECK(verdict_on_body("0\r\nA: x\r\n\r\nGET") == Verdict::past_end);
}

TEST_CASE("a chunked body is complete after the empty line that ends it, and not before") {
  const std::string text = kChunkedHead + "5\r\nhello\r\n0\r\nA: x\r\n\r\n";
  RequestGuard guard(kLimits);
  for (const char c : text) {
    CHECK_FALSE(guard.complete());
    REQUIRE(guard.see({&c, 1}) == Verdict::fine);
  }
  CHECK(guard.complete());
}

TEST_CASE("every verdict has a status that says whose fault it is") {
  for (int i = 1; i <= static_cast<int>(Verdict::past_end); ++i) {
    const Refusal refusal = refusal_for(static_cast<Verdict>(i));
    CAPTURE(refusal.message);
    CHECK((refusal.status == 400 || refusal.status == 414 || refusal.status == 431));
  }
  CHECK(refusal_for(Verdict::head_too_large).status == 431);
  CHECK(refusal_for(Verdict::too_many_headers).status == 431);
  CHECK(refusal_for(Verdict::header_too_long).status == 431);
  CHECK(refusal_for(Verdict::uri_too_long).status == 414);
  CHECK(std::string(refusal_for(Verdict::bad_host).field) == "Host");
}

}  // namespace
}  // namespace holdpoint
