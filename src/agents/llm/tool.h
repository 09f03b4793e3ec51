#pragma once

#include <string>

namespace holdpoint {

// A tool as the model is told of it.
struct ToolSpec {
  std::string name;  // 1 to 64 letters, digits, _ and -: what both APIs take.
  std::string description;
  std::string schema;  // JSON Schema of the input: an object's.
};

// What the model wants done.
struct ToolCall {
  std::string id;
  std::string name;
  std::string input;  // As the model wrote it: JSON, if it made no mistake.
};

// What came of it, for the model to read.
struct ToolResult {
  std::string id;  // Of the call.
  std::string content;
  bool is_error = false;
};

}  // namespace holdpoint
