#include "agents/yaml_json.h"

#include <set>

#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxBytes = 65536;

bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    text.remove_prefix(count);
    return count;
  };
  const auto take = [&](std::string_view any) {
    const bool there = !text.empty() && any.find(text[0]) != std::string_view::npos;
    if (there) text.remove_prefix(1);
    return there;
  };
  take("-");
  const bool zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (take(".") && digits() == 0) return false;
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return text.empty();
}

class Writer {
 public:
  void write(const YAML::Node& node, int line, std::size_t depth) {
    if (depth > kMaxJsonDepth) throw YamlNotJson(line, "is nested too deeply");
    if (out.size() > kMaxBytes) {
      throw YamlNotJson(line,
                        "has more than " + std::to_string(kMaxBytes) + " bytes when written out");
    }
    if (node.IsMap()) {
      write_map(node, depth);
    } else if (node.IsSequence()) {
      out.begin_array();
      for (const auto& item : node) write(item, item.Mark().line, depth + 1);
      out.end_array();
    } else {
      write_scalar(node, line);
    }
  }
  JsonWriter out;

 private:
  void write_map(const YAML::Node& node, std::size_t depth) {
    out.begin_object();
    std::set<std::string> seen;
    for (const auto& item : node) {
      const int line = item.first.Mark().line;
      if (!item.first.IsScalar()) throw YamlNotJson(line, "has a key that is no text");
      const std::string& key = item.first.Scalar();
      if (!is_clean_utf8(key)) throw YamlNotJson(line, "must be UTF-8 without NUL");
      if (!seen.insert(key).second) throw YamlNotJson(line, "has \"" + key + "\" twice");
      out.key(key);
      write(item.second, line, depth + 1);
    }
    out.end_object();
  }
  void write_scalar(const YAML::Node& node, int line) {
    const std::string text = node.IsNull() ? "" : node.Scalar();
    if (!is_clean_utf8(text)) throw YamlNotJson(line, "must be UTF-8 without NUL");
    const bool plain = node.IsNull() || node.Tag() == "?";
    if (!plain) {
      out.value(text);
    } else if (text.empty() || text == "~" || text == "null") {
      out.value(nullptr);
    } else if (text == "true" || text == "false") {
      out.value(text == "true");
    } else if (is_json_number(text)) {
      out.raw(text);
    } else {
      out.value(text);
    }
  }
};

}  // namespace

std::string yaml_to_json(const YAML::Node& node) {
  Writer writer;
  writer.write(node, node.Mark().line, 1);
  return writer.out.take();
}

}  // namespace holdpoint
