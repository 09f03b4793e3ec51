#include "net/websocket_frames.h"

#include <doctest/doctest.h>

#include <vector>

namespace holdpoint {
namespace {

using Frame = WebSocketFrame;

std::string reason(const std::string& bytes, bool masked = false) {
  WebSocketFrames frames(masked, 1000);
  frames.add(bytes);
  while (frames.next()) {
  }
  return frames.broken();
}

TEST_CASE("frames are the bytes of the standard's examples") {
  CHECK(to_bytes({Frame::text, true, "Hello"}, std::nullopt) == "\x81\x05Hello");
  CHECK(to_bytes({Frame::text, true, "Hello"}, 0x37fa213d) ==
        "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  CHECK(to_bytes({Frame::text, false, "Hel"}, std::nullopt) == "\x01\x03Hel");
  CHECK(to_bytes({Frame::binary, true, std::string(256, 'x')}, std::nullopt) ==
        std::string("\x82\x7e\x01\x00", 4) + std::string(256, 'x'));
  CHECK(to_bytes({Frame::binary, true, std::string(65536, 'x')}, std::nullopt) ==
        std::string("\x82\x7f\0\0\0\0\0\x01\0\0", 10) + std::string(65536, 'x'));
}

TEST_CASE("frames of every length come back, however their bytes are cut") {
  for (const bool masked : {false, true}) {
    for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U}) {
      CAPTURE(size);
      const Frame sent{Frame::text, true, std::string(size, 'x')};
      const auto mask = masked ? std::optional<std::uint32_t>(0x01020304) : std::nullopt;
      const std::string bytes = to_bytes(sent, mask) + to_bytes({Frame::ping, true, "p"}, mask);
      for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
        if (step == 1 && size > 1000) continue;
        WebSocketFrames frames(masked, 1 << 20);
        std::vector<Frame> got;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
          frames.add(std::string_view(bytes).substr(at, step));
          while (auto frame = frames.next()) got.push_back(*frame);
        }
        REQUIRE(got.size() == 2);
        CHECK(got[0].payload == sent.payload);
        CHECK(got[1].kind == Frame::ping);
        CHECK(got[1].payload == "p");
      }
    }
  }
}

TEST_CASE("who breaks the rules is not read any further") {
  CHECK(reason("\x81\x05Hello") == "");
  CHECK(reason("\xc1\x05Hello") == "a frame has an extension that was not agreed on");
  CHECK(reason("\x83\x05Hello") == "a frame is of no known kind");
  CHECK(reason("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58") == "a frame has the wrong mask");
  CHECK(reason("\x81\x05Hello", true) == "a frame has the wrong mask");
  CHECK(reason("\x09\x01p") == "a control frame is too long or in parts");
  CHECK(reason(std::string("\x89\x7e\x00\x7e", 4)) == "a control frame is too long or in parts");
  CHECK(reason("\x81\x7e\xff\xff") == "a frame is too long");
  CHECK(reason(std::string("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10)) ==
        "a frame is too long");
}

}  // namespace
}  // namespace holdpoint
