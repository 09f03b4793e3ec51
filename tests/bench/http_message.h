#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdpoint::bench {

struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One HTTP/1.1 request or response; its views live as long as the bytes it was read from.
struct Message {
  std::string_view start_line;
  std::string_view body;
  bool close = false;
  std::size_t size = 0;  // bytes of the whole message
};

// The message at the start of `bytes`; nothing while it is incomplete. Only bodies with a
// Content-Length are understood: anything else throws WireError, as does a response without one.
std::optional<Message> read_message(std::string_view bytes);

// The status of a response's start line; throws WireError.
int read_status(std::string_view start_line);

std::string get_request(const std::string& host, const std::string& target);
std::string post_request(const std::string& host, const std::string& target,
                         const std::string& body);

}  // namespace holdpoint::bench
