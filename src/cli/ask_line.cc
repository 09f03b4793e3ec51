#include "cli/ask_line.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint::cli {
namespace {

// More than any server takes; a device or a disk image named by mistake ends here.
constexpr std::size_t kMaxContextBytes = std::size_t{8} << 20;

std::string read_all(std::istream& in, const std::string& name) {
  std::string content;
  std::array<char, 65536> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    content.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (content.size() > kMaxContextBytes) {
      throw BadRequest("--context", name + " has more than 8 MiB");
    }
  }
  if (in.bad()) throw BadRequest("--context", name + " cannot be read");
  return content;
}

bool is_object(const std::string& text) { return try_json(text).is_object(); }

void write_list(JsonWriter& out, const char* name, const std::vector<std::string>& values) {
  out.key(name).begin_array();
  for (const auto& value : values) out.value(value);
  out.end_array();
}

}  // namespace

std::chrono::seconds parse_span(std::string_view text, const std::string& field) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const std::int64_t factor = unit.empty() || unit == "s" ? 1
                              : unit == "m"               ? 60
                              : unit == "h"               ? 3600
                              : unit == "d"               ? 86400
                                                          : 0;
  // Ten digits of days are still seconds that 64 bits hold.
  if (error != std::errc{} || factor == 0 || number < 1 || number > 9'999'999'999) {
    throw BadRequest(
        field, "must be a time like 90, 90s, 30m, 2h or 1d, not \"" + shorten(text, 40) + "\"");
  }
  return std::chrono::seconds{number * factor};
}

std::string read_context(const std::string& text) {
  std::string name = "standard input", content;
  if (text == "-") {
    content = read_all(std::cin, name);
  } else if (text.starts_with("@")) {
    const std::filesystem::path path = text.substr(1);
    std::ifstream file;
    if (!std::filesystem::is_directory(path)) file.open(path, std::ios::binary);
    if (!file.is_open()) throw BadRequest("--context", path.string() + " cannot be read");
    name = path.filename().string();
    content = read_all(file, path.string());
  } else {
    if (!is_object(text)) {
      throw BadRequest("--context", "must be a JSON object, @file, or - for standard input");
    }
    return text;
  }
  if (is_object(content)) return content;
  JsonWriter out;
  out.begin_object().member(name, content).end_object();
  return out.take();
}

std::string ask_body(const AskLine& line, const std::string& key) {
  JsonWriter out;
  out.begin_object().key("questions").begin_array().begin_object();
  out.member("question", line.question);
  if (line.header) out.member("header", *line.header);
  if (!line.options.empty()) write_list(out, "options", line.options);
  if (line.multi) out.member("multi_select", true);
  if (line.no_other) out.member("allow_other", false);
  if (line.multi && !line.defaults.empty()) {
    write_list(out, "default", line.defaults);
  } else if (line.defaults.size() > 1) {
    throw BadRequest("--default", "may be given once only, unless with --multi");
  } else if (!line.defaults.empty()) {
    out.member("default", line.defaults.front());
  }
  out.end_object().end_array();
  if (line.timeout) {
    out.member("timeout",
               static_cast<std::int64_t>(parse_span(*line.timeout, "--timeout").count()));
  }
  if (!line.defaults.empty()) out.member("on_timeout", "default");
  if (line.context) out.raw_member("context", read_context(*line.context));
  if (!line.channels.empty()) write_list(out, "channels", line.channels);
  if (line.agent) out.member("agent", *line.agent);
  if (line.dedupe) out.member("dedupe", true);
  return out.member("idempotency_key", key).end_object().take();
}

std::string option_of(std::string_view field) {
  const std::string_view mark = "questions[0].";
  if (field.starts_with(mark)) field.remove_prefix(mark.size());
  const std::string_view name = field.substr(0, field.find_first_of(".["));
  if (name == "question") return "the question";
  if (name == "options") return "--option";
  if (name == "multi_select") return "--multi";
  if (name == "allow_other") return "--no-other";
  if (name == "on_timeout") return "--default";
  if (name == "channels") return "--channel";
  if (name == "idempotency_key") return "--key";
  for (const char* same : {"header", "default", "timeout", "context", "agent", "dedupe"}) {
    if (name == same) return std::string("--") + same;
  }
  return std::string(field);
}

}  // namespace holdpoint::cli
