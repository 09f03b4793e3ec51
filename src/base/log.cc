#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <unistd.h>

#include <atomic>

#include "base/clock.h"

namespace holdpoint {
namespace {

std::atomic<Level> least_level{Level::info};

std::string_view name_of(Level level) {
  switch (level) {
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
    case Level::silent:
      return "error";
  }
  return "";
}

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
    case Level::silent:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// spdlog owns the stream and its lock; the line is ready when it gets there.
spdlog::logger& output() {
  static spdlog::logger logger = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    sink->set_pattern("%^%v%$");
    spdlog::logger made("holdpoint", sink);
    made.set_level(spdlog::level::info);
    return made;
  }();
  return logger;
}

bool valid_sequence(std::string_view text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  if (first < 0xc2) return false;
  if (first < 0xe0) return length = 2, continues(at + 1);
  if (first < 0xf0) {
    length = 3;
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return false;
    return continues(at + 1) && continues(at + 2);
  }
  if (first < 0xf5) {
    length = 4;
    const unsigned second = byte(at + 1);
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return false;
    return continues(at + 1) && continues(at + 2) && continues(at + 3);
  }
  return false;
}

std::string human_line(Level level, std::string_view event, const Facts& facts) {
  std::string line = to_iso(SystemClock{}.now()).substr(11, 12);
  line += ' ';
  if (level != Level::info) line.append(name_of(level)).append(": ");
  line.append(event);
  for (const Fact& fact : facts) {
    line.append(" ").append(fact.name).append("=");
    if (const auto* text = std::get_if<std::string>(&fact.value)) {
      if (text->find_first_of(" \"\n\t\x1b") == std::string::npos && !text->empty()) {
        line.append(*text);
      } else {
        append_json_string(line, *text);
      }
    } else {
      line.append(std::to_string(std::get<std::int64_t>(fact.value)));
    }
  }
  return line;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    if (c >= 0x80) {
      if (valid_sequence(text, i, length)) {
        out.append(text, i, length);
      } else {
        length = 1;
        out.append("\xef\xbf\xbd");
      }
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      constexpr char hex[] = "0123456789abcdef";
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    } else {
      out += static_cast<char>(c);
    }
    i += length;
  }
  out += '"';
}

std::string to_json_members(const Facts& facts) {
  std::string out;
  for (const Fact& fact : facts) {
    if (!out.empty()) out += ',';
    append_json_string(out, fact.name);
    out += ':';
    if (const auto* text = std::get_if<std::string>(&fact.value)) {
      append_json_string(out, *text);
    } else {
      out.append(std::to_string(std::get<std::int64_t>(fact.value)));
    }
  }
  return out;
}

void log(Level level, std::string_view event, const Facts& facts) {
  if (level < least_level) return;
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) {
    output().log(spdlog_level(level), human_line(level, event, facts));
    return;
  }
  std::string line = "{\"at\":\"" + to_iso(SystemClock{}.now()) + "\",\"level\":\"";
  line.append(name_of(level)).append("\",\"event\":");
  append_json_string(line, event);
  if (!facts.empty()) line.append(",").append(to_json_members(facts));
  line += '}';
  output().log(spdlog_level(level), line);
}

void set_log_level(Level least) { least_level = least; }

}  // namespace holdpoint
