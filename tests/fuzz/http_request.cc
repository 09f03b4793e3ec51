// Requests of one connection through the guard into the HTTP parser: both must read the same ones.
#include <httplib.h>

#include <optional>

#include "http/request_guard.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/framing.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxBody = 4096;

// The bytes of a connection, as http/connection.h hands them over: none that the guard has refused.
class Bytes final : public httplib::Stream {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  void begin_request() {
    bytes_.remove_prefix(consumed_);
    consumed_ = 0;
    guard_.emplace(RequestGuard::Limits{4096, 20});
  }
  // From the request's first one.
  std::string_view bytes() const { return bytes_; }
  std::size_t consumed() const { return consumed_; }
  const RequestGuard& guard() const { return *guard_; }

  ssize_t read(char* out, size_t size) override {
    const std::string_view piece = bytes_.substr(consumed_, size);
    if (refused_ || piece.empty()) return -1;
    std::copy(piece.begin(), piece.end(), out);
    consumed_ += piece.size();
    refused_ = guard_->see(piece) != RequestGuard::Verdict::fine;
    return refused_ ? -1 : static_cast<ssize_t>(piece.size());
  }
  ssize_t write(const char*, size_t size) override { return static_cast<ssize_t>(size); }
  bool is_readable() const override { return consumed_ < bytes_.size(); }
  bool wait_readable() const override { return is_readable(); }
  bool wait_writable() const override { return true; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }
  time_t duration() const override { return 0; }

 private:
  std::string_view bytes_;
  std::size_t consumed_ = 0;
  std::optional<RequestGuard> guard_;
  bool refused_ = false;
};

// The parser, set up as http/server.cc does it.
class Parser final : public httplib::Server {
 public:
  Parser() {
    set_payload_max_length(kMaxBody);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      check_head();
      if (!request.get_header_value("Content-Type").starts_with("multipart/")) {
        return HandlerResponse::Unhandled;
      }
      response.status = 415;
      return HandlerResponse::Handled;
    });
    Get(".*", [](const httplib::Request&, httplib::Response&) {});
    Post(".*", [this](const httplib::Request& request, httplib::Response&,
                      const httplib::ContentReader& read) {
      std::string body;
      const bool arrived = read([&](const char* bytes, size_t size) {
        body.append(bytes, size);
        return true;
      });
      if (arrived) check_body(request, body);
    });
  }

  void run(std::string_view bytes) {
    Bytes stream(bytes);
    stream_ = &stream;
    bool closed = false;
    do {
      stream.begin_request();
      process_request(stream, "", 0, "", 0, false, closed, [&stream](httplib::Request& request) {
        request.headers.clear();
        for (const auto& [name, value] : stream.guard().headers()) {
          request.headers.emplace(name, value);
        }
        if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
          request.headers.emplace("Content-Length", "0");
        }
        request.headers.erase("Range");
        request.ranges.clear();
      });
    } while (!closed && stream.guard().complete() && stream.is_readable());
  }

 private:
  void check_head() {
    expect(stream_->guard().head_complete(), "the guard knows that the head has ended");
    head_end_ = stream_->consumed();
    expect(stream_->bytes().find("\r\n\r\n") + 4 == head_end_,
           "the head ends at its first empty line");
  }
  void check_body(const httplib::Request& request, const std::string& body) const {
    const std::string_view rest = stream_->bytes().substr(head_end_);
    std::size_t end = request.get_header_value_u64("Content-Length", 0);
    if (request.has_header("Transfer-Encoding")) {
      const Chunks chunks = read_chunks(rest);
      expect(chunks.reading == Reading::complete, "the chunks are complete");
      expect(body == chunks.body, "the body is what the chunks hold");
      end = chunks.end;
    } else {
      expect(body == rest.substr(0, end) && body.size() == end, "the body is as long as was said");
    }
    expect(body.size() <= kMaxBody, "a body has its bounds");
    expect(stream_->guard().complete(), "the guard knows that the request has ended");
    expect(stream_->consumed() == head_end_ + end, "no byte of the next request was read");
  }

  const Bytes* stream_ = nullptr;
  std::size_t head_end_ = 0;
};

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static holdpoint::Parser parser;
  parser.run(holdpoint::text_of(data, size));
  return 0;
}
