#include "agents/llm/mcp_message.h"

#include <array>
#include <functional>

#include "agents/llm/tool_text.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxDescription = 10'000;
constexpr std::size_t kMaxEvents = 10'000;

// A schema's properties are told to the model in the order they were written in.
OrderedJson parse_ordered(std::string_view text) {
  try {
    check_json(text, "its answer");
    return try_ordered_json(text);
  } catch (const BadRequest& e) {
    throw McpError(e.field() + " " + e.what());
  }
}

std::string text_of(const OrderedJson& object, const char* name) {
  if (!object.is_object()) return "";
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string error_of(const OrderedJson& message) {
  const auto error = message.find("error");
  std::string text = text_of(*error, "message");
  if (text.empty()) text = error->dump();
  return shorten(text, 2000);
}

// The result, if this message is the response with our id; a list of messages is looked through.
std::optional<std::string> find_response(const OrderedJson& message, std::int64_t id) {
  if (message.is_array()) {
    for (const auto& one : message) {
      if (auto found = one.is_array() ? std::nullopt : find_response(one, id)) return found;
    }
    return std::nullopt;
  }
  if (!message.is_object() || message.contains("method")) return std::nullopt;
  const auto its_id = message.find("id");
  if (its_id == message.end() || *its_id != OrderedJson(id)) return std::nullopt;
  if (message.contains("error")) throw McpError("it answered with an error: " + error_of(message));
  const auto result = message.find("result");
  if (result == message.end()) throw McpError("its answer has neither a result nor an error");
  return result->dump();
}

// Calls `see` with the data of each event until that says to stop. An event that the stream ends in
// the middle of does not count.
void for_each_event(std::string_view stream, const std::function<bool(const std::string&)>& see) {
  std::string data;
  bool has_data = false;
  std::size_t events = 0;
  if (stream.starts_with("\xef\xbb\xbf")) stream.remove_prefix(3);
  while (true) {
    const auto end = stream.find_first_of("\r\n");
    if (end == std::string_view::npos) return;
    const std::string_view line = stream.substr(0, end);
    stream.remove_prefix(end + (stream.substr(end).starts_with("\r\n") ? 2 : 1));
    if (line.empty()) {
      if (has_data && (++events > kMaxEvents || !see(data))) return;
      data.clear();
      has_data = false;
    } else if (line.starts_with("data:") || line == "data") {
      std::string_view value = line.substr(std::min<std::size_t>(5, line.size()));
      if (value.starts_with(' ')) value.remove_prefix(1);
      if (has_data) data += '\n';
      data += value;
      has_data = true;
    }
  }
}

std::string describe(const OrderedJson& block, const std::string& type) {
  const std::string mime = text_of(block, "mimeType");
  std::string what = "[" + (type.empty() ? "something" : type);
  if (!mime.empty()) what += " " + mime;
  if (const std::string data = text_of(block, "data"); !data.empty()) {
    const auto padding = data.size() - std::min(data.size(), data.find_last_not_of('=') + 1);
    what +=
        ", " + std::to_string(data.size() * 3 / 4 - std::min<std::size_t>(padding, 2)) + " bytes";
  }
  for (const char* name : {"name", "uri"}) {
    if (const std::string text = text_of(block, name); !text.empty()) what += " " + text;
  }
  return shorten(what, 500) + "]";
}

// Anthropic and OpenAI both refuse a schema without it.
std::optional<std::string> schema_of(const OrderedJson& tool) {
  const auto schema = tool.find("inputSchema");
  if (schema == tool.end() || !schema->is_object()) return std::nullopt;
  const auto type = schema->find("type");
  if (type == schema->end()) {
    OrderedJson typed = *schema;
    typed["type"] = "object";
    return typed.dump();
  }
  return *type == "object" ? std::optional(schema->dump()) : std::nullopt;
}

}  // namespace

std::string mcp_request(std::int64_t id, const std::string& method, const std::string& params) {
  return JsonWriter()
      .begin_object()
      .member("jsonrpc", "2.0")
      .member("id", id)
      .member("method", method)
      .raw_member("params", params)
      .end_object()
      .take();
}

std::string mcp_notification(const std::string& method) {
  return JsonWriter()
      .begin_object()
      .member("jsonrpc", "2.0")
      .member("method", method)
      .end_object()
      .take();
}

std::string initialize_params() {
  return std::string(R"({"protocolVersion":")") + kMcpVersion +
         R"(","capabilities":{},"clientInfo":{"name":"holdpoint","version":"0.1.0"}})";
}

std::string list_params(const std::optional<std::string>& cursor) {
  JsonWriter out;
  out.begin_object();
  if (cursor) out.member("cursor", *cursor);
  return out.end_object().take();
}

std::string call_params(const std::string& tool, const std::string& input, const std::string& key) {
  return JsonWriter()
      .begin_object()
      .member("name", tool)
      .raw_member("arguments", input)
      .key("_meta")
      .begin_object()
      .member("holdpoint/call", key)
      .end_object()
      .end_object()
      .take();
}

std::string result_of(const std::string& body, bool is_event_stream, std::int64_t id) {
  std::optional<std::string> found;
  if (!is_event_stream) {
    found = find_response(parse_ordered(body), id);
  } else {
    for_each_event(body, [&](const std::string& data) {
      OrderedJson message;
      try {
        message = parse_ordered(data);
      } catch (const McpError&) {
        return true;  // Not ours to read.
      }
      found = find_response(message, id);
      return !found;
    });
  }
  if (!found) throw McpError("its answer has no response to our request");
  return *found;
}

std::string error_text_of(const std::string& body) {
  try {
    const OrderedJson message = parse_ordered(body);
    return message.is_object() && message.contains("error") ? error_of(message) : "";
  } catch (const McpError&) {
    return "";
  }
}

std::string read_initialized(const std::string& result) {
  const std::string version = text_of(parse_ordered(result), "protocolVersion");
  for (const char* known : {kMcpVersion, "2025-03-26", "2025-11-25"}) {
    if (version == known) return version;
  }
  throw McpError("it speaks version \"" + shorten(version, 60) + "\" of the protocol, not " +
                 kMcpVersion);
}

McpPage read_tools(const std::string& result) {
  const OrderedJson page = parse_ordered(result);
  const auto tools = page.is_object() ? page.find("tools") : page.end();
  if (tools == page.end() || !tools->is_array()) throw McpError("its answer has no list of tools");
  McpPage read;
  for (const auto& tool : *tools) {
    const std::string name = text_of(tool, "name");
    const auto schema = name.empty() ? std::nullopt : schema_of(tool);
    if (schema) {
      read.tools.push_back({name, shorten(text_of(tool, "description"), kMaxDescription), *schema});
    } else {
      read.unusable.push_back(shorten(name, 100));
    }
  }
  if (const std::string next = text_of(page, "nextCursor"); !next.empty()) read.next = next;
  return read;
}

ToolResult read_call(const std::string& result) {
  const OrderedJson said = parse_ordered(result);
  if (!said.is_object()) throw McpError("its answer to the call is no object");
  const auto is_error = said.find("isError");
  std::string text;
  bool has_text = false;
  const auto add = [&](const std::string& part) {
    text.append(text.empty() ? "" : "\n").append(part);
  };
  if (const auto content = said.find("content"); content != said.end() && content->is_array()) {
    for (const auto& block : *content) {
      if (text_of(block, "type") == "text") {
        add(text_of(block, "text"));
        has_text = true;
      } else if (block.is_object() && block.contains("resource")) {
        const auto& resource = block["resource"];
        add(describe(resource, "resource"));
        if (const std::string inside = text_of(resource, "text"); !inside.empty()) add(inside);
      } else {
        add(describe(block, text_of(block, "type")));
      }
    }
  }
  if (const auto structured = said.find("structuredContent");
      !has_text && structured != said.end()) {
    add(structured->dump());
  }
  return {"", text.empty() ? "(no content)" : tool_text(text),
          is_error != said.end() && *is_error == true};
}

}  // namespace holdpoint
