#include "wire/message_stream.h"

#include <doctest/doctest.h>

using namespace holdpoint;
using Messages = std::vector<std::string>;

namespace {

Messages read(MessageStream& stream, std::string_view body, std::size_t piece) {
  Messages messages;
  for (std::size_t i = 0; i < body.size(); i += piece) {
    CHECK(stream.take(body.substr(i, piece), messages));
  }
  stream.finish(messages);
  return messages;
}

}  // namespace

TEST_CASE("a JSON body is one message, on one line, however it comes") {
  for (const std::size_t piece : {1u, 3u, 100u}) {
    MessageStream stream;
    CHECK(read(stream, " \r\n{\"a\":\n [1]\r\n}", piece) == Messages{"{\"a\":  [1]  }"});
    CHECK(stream.last_event_id().empty());
  }
}

TEST_CASE("events are messages as they end, and comments and other events are none") {
  const std::string body =
      ": still waiting\n\nid: 1\nretry: 3000\ndata: \n\n"
      "id: 2\nevent: message\ndata: {\"a\":1}\n\n"
      "event: other\ndata: {\"b\":1}\n\n"
      "data:{\"c\":\ndata: 1}\n\nnonsense\n\n"
      "id: 3\r\ndata: {\"d\":1}\r\n\r\n"
      "data: {\"e\":1}\r\rdata: {\"broken\":";
  for (const std::size_t piece : {1u, 2u, 7u, 1000u}) {
    MessageStream stream;
    CHECK(read(stream, body, piece) ==
          Messages{R"({"a":1})", R"({"c": 1})", R"({"d":1})", R"({"e":1})"});
    CHECK(stream.last_event_id() == "3");
  }
}

TEST_CASE("an event is a message before the next begins") {
  MessageStream stream;
  Messages messages;
  CHECK(stream.take("data: {}\n", messages));
  CHECK(messages.empty());
  CHECK(stream.take("\n", messages));
  CHECK(messages == Messages{"{}"});
}

TEST_CASE("a message has a greatest length") {
  Messages messages;
  MessageStream json(10);
  CHECK(json.take("{\"a\":", messages));
  CHECK_FALSE(json.take("\"123456\"}", messages));
  MessageStream events(10);
  CHECK(events.take("data: {}\n\n", messages));
  CHECK(events.take("data: {}\n\n", messages));
  CHECK_FALSE(events.take("data: 12345", messages));
}
