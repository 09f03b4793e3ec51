// A request through the guard into the HTTP parser: both must read the same request.
#include <httplib.h>

#include <optional>

#include "http/request_guard.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/framing.h"

namespace holdpoint {
namespace {

// The bytes of a connection, as http/connection.h hands them over: none that the guard has refused.
class Bytes final : public httplib::Stream {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t consumed() const { return consumed_; }
  bool head_complete() const { return guard_.head_complete(); }

  ssize_t read(char* out, size_t size) override {
    const std::string_view piece = bytes_.substr(consumed_, size);
    if (refused_ || piece.empty()) return -1;
    std::copy(piece.begin(), piece.end(), out);
    consumed_ += piece.size();
    refused_ = guard_.see(piece) != RequestGuard::Verdict::fine;
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
  const std::string_view bytes_;
  std::size_t consumed_ = 0;
  RequestGuard guard_{4096};
  bool refused_ = false;
};

// The parser, set up as http/server.cc does it.
class Parser final : public httplib::Server {
 public:
  Parser() {
    set_payload_max_length(4096);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      head_end_ = stream_->consumed();
      const std::string encoding = request.get_header_value("Transfer-Encoding", "chunked");
      const std::string type = request.get_header_value("Content-Type");
      if (encoding == "chunked" && !type.starts_with("multipart/")) {
        return HandlerResponse::Unhandled;
      }
      response.status = 400;
      return HandlerResponse::Handled;
    });
    Post(".*", [this](const httplib::Request& request, httplib::Response&) {
      chunked_ = request.has_header("Transfer-Encoding");
      length_ = request.get_header_value_u64("Content-Length", 0);
      body_ = request.body;
    });
  }

  void run(std::string_view bytes) {
    Bytes stream(bytes);
    stream_ = &stream;
    head_end_.reset();
    body_.reset();
    bool closed = false;
    process_request(stream, "", 0, "", 0, false, closed, [](httplib::Request& request) {
      if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
        request.headers.emplace("Content-Length", "0");
      }
      request.headers.erase("Range");
      request.ranges.clear();
    });
    if (head_end_) check_head(bytes);
    if (body_) check_body(bytes.substr(*head_end_));
  }

 private:
  void check_head(std::string_view bytes) const {
    expect(stream_->head_complete(), "the guard knows that the head has ended");
    expect(bytes.find("\r\n\r\n") + 4 == *head_end_, "the head ends at its first empty line");
  }
  void check_body(std::string_view rest) const {
    expect(body_->size() <= 4096, "a body has its bounds");
    if (!chunked_) {
      expect(*body_ == rest.substr(0, length_) && body_->size() == length_,
             "the body is as long as was said");
      return;
    }
    const auto chunks = read_chunks(rest);
    expect(chunks && chunks->complete, "the chunks are framed to the letter and complete");
    expect(*body_ == chunks->body, "the body is what the chunks hold");
  }

  const Bytes* stream_ = nullptr;
  std::optional<std::size_t> head_end_;
  std::optional<std::string> body_;
  bool chunked_ = false;
  std::size_t length_ = 0;
};

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static holdpoint::Parser parser;
  parser.run(holdpoint::text_of(data, size));
  return 0;
}
