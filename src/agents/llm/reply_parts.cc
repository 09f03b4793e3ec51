#include "agents/llm/reply_parts.h"

#include <algorithm>
#include <set>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

// A state nests each message deeper, and may itself be nested no deeper than kMaxJsonDepth.
constexpr int kMaxReplyDepth = 48;
constexpr std::size_t kMaxIdBytes = 256;
constexpr std::size_t kMaxErrorChars = 400;

// Of JSON that is valid.
int depth_of(std::string_view json) {
  int depth = 0, most = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      most = std::max(most, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return most;
}

// In one line, without what a terminal or a log would take for more than text.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool space = byte <= 0x20 || byte == 0x7f;
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return shorten(line, kMaxErrorChars);
}

}  // namespace

Json parse_reply(const std::string& body) {
  Json reply = parse_json(body, "body");
  if (!reply.is_object()) throw BadRequest("body", "is no JSON object");
  if (depth_of(body) > kMaxReplyDepth) {
    throw BadRequest("body", "is nested deeper than " + std::to_string(kMaxReplyDepth) + " levels");
  }
  return reply;
}

std::string_view raw_member(std::string_view object, std::string_view name) {
  for (const auto& [key, value] : members_of(object)) {
    if (key == name) return value;
  }
  return {};
}

std::string text_member(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::int64_t token_count(const Json& usage, const char* name) {
  constexpr double kMost = 1e9;
  if (!usage.is_object()) return 0;
  const auto it = usage.find(name);
  if (it == usage.end() || !it->is_number()) return 0;
  return static_cast<std::int64_t>(std::clamp(it->get<double>(), 0.0, kMost));
}

void check_calls(const std::vector<ToolCall>& calls) {
  std::set<std::string_view> ids;
  for (const auto& call : calls) {
    if (call.id.empty() || call.id.size() > kMaxIdBytes) {
      throw BadRequest("body", "has a tool call without an id of 1 to " +
                                   std::to_string(kMaxIdBytes) + " bytes");
    }
    if (call.name.empty()) throw BadRequest("body", "has a tool call without a name");
    if (!ids.insert(call.id).second) {
      throw BadRequest("body", "has two tool calls with the id " + shorten(call.id, 60));
    }
  }
}

Json error_of(const std::string& body) {
  try {
    Json json = parse_json(body, "body");
    if (!json.is_object()) return nullptr;
    return json.contains("error") ? Json(json["error"]) : json;
  } catch (const BadRequest&) {
    return nullptr;
  }
}

std::string error_sentence(const std::string& body) {
  const Json error = error_of(body);
  if (error.is_string()) return in_one_line(error.get<std::string>());
  if (error.is_object()) {
    std::string kind = in_one_line(text_member(error, "type"));
    for (const char* name : {"message", "detail"}) {
      const std::string said = in_one_line(text_member(error, name));
      if (!said.empty()) return kind.empty() || kind == "error" ? said : kind + ": " + said;
    }
    return kind;
  }
  const bool plain = is_clean_utf8(body) && body.find_first_of("<{[") == std::string::npos;
  return plain ? in_one_line(body) : "";
}

}  // namespace holdpoint
