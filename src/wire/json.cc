#include "wire/json.h"

#include <algorithm>
#include <set>

#include "domain/bad_request.h"
#include "domain/text.h"

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace holdpoint {
namespace {

// Whether a name may stand in one object twice.
enum class Names { any, once };

// Looks at every token and keeps none but the way to it.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  explicit Checker(Names names) : names_(names) {}

  std::string reason;
  std::string path;  // Where the offence is; empty: it is the text as a whole.

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t& text) override { return value() && no_nul(text); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return descend(false); }
  bool key(string_t& name) override {
    levels_.back().name.clear();
    if (name.find('\0') != std::string::npos) return refuse_nul();
    levels_.back().name = name;
    if (names_ == Names::any || levels_.back().seen.insert(name).second) return true;
    return refuse("is there twice");
  }
  bool end_object() override { return ascend(); }
  bool start_array(std::size_t) override { return descend(true); }
  bool end_array() override { return ascend(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    if (!reason.empty()) return false;
    std::string_view what = e.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …" — people need the part
    // after the id.
    if (const auto bracket = what.find("] "); bracket != std::string_view::npos) {
      what.remove_prefix(bracket + 2);
    }
    reason = "is not valid JSON: " + shorten(printable(what), 200);
    return false;
  }

 private:
  struct Level {
    bool list = false;
    std::int64_t index = -1;
    std::string name;
    std::set<std::string> seen;
  };

  static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) out += c >= 0x20 && c < 0x7f ? c : '?';
    return out;
  }
  bool no_nul(const std::string& text) {
    return text.find('\0') == std::string::npos || refuse_nul();
  }
  bool refuse_nul() { return refuse("holds a NUL character (\\u0000) inside a string"); }
  bool refuse(const char* why) {
    reason = why;
    for (const auto& level : levels_) {
      if (level.list) {
        path += "[" + std::to_string(level.index) + "]";
      } else if (!level.name.empty()) {
        path = member_path(path, shorten(level.name, 60));
      }
    }
    return false;
  }
  bool value() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool descend(bool list) {
    value();
    levels_.push_back({list, -1, {}, {}});
    if (levels_.size() <= kMaxJsonDepth) return true;
    reason = "is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
    return false;
  }
  bool ascend() {
    levels_.pop_back();
    return true;
  }

  const Names names_;
  std::vector<Level> levels_;
};

// The end of the JSON value that starts at `i`.
std::size_t value_end(std::string_view text, std::size_t i) {
  int depth = 0;
  bool in_string = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
        if (depth == 0) return i + 1;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      return i;
    }
  }
  return i;
}

}  // namespace

namespace {

void check(std::string_view text, const std::string& field, Names names) {
  if (is_blank(text)) throw Unreadable(field, "is empty where JSON is expected");
  // The parser takes a NUL for the end of the text and skips a byte order mark; whoever reads the
  // text after us may not.
  if (text.find('\0') != std::string_view::npos) {
    throw Unreadable(field, "is not valid JSON: it holds a NUL byte");
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    throw Unreadable(field, "is not valid JSON: it begins with a byte order mark");
  }
  Checker checker(names);
  if (Json::sax_parse(text.begin(), text.end(), &checker)) return;
  if (checker.path.empty()) throw Unreadable(field, checker.reason);
  throw BadRequest(field == "body" ? checker.path : member_path(field, checker.path),
                   checker.reason);
}

}  // namespace

void check_json(std::string_view text, const std::string& field) { check(text, field, Names::any); }

Json parse_json(std::string_view text, const std::string& field) {
  check(text, field, Names::once);
  return read_json(text);
}

Json read_json(std::string_view text) { return Json::parse(text.begin(), text.end()); }

Json try_json(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

OrderedJson try_ordered_json(std::string_view text) {
  return OrderedJson::parse(text.begin(), text.end(), nullptr, false);
}

std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  const auto skip = [&](std::size_t i, std::string_view what) {
    return std::min(object.find_first_not_of(what, i), object.size());
  };
  std::size_t i = skip(0, " \n\r\t");
  if (i >= object.size() || object[i] != '{') return members;
  i = skip(i + 1, " \n\r\t");
  while (i < object.size() && object[i] == '"') {
    const std::size_t name_end = value_end(object, i);
    const std::string_view name = object.substr(i + 1, name_end - i - 2);
    const std::size_t value = skip(name_end, " \n\r\t:");
    const std::size_t end = value_end(object, value);
    members.emplace_back(name, object.substr(value, end - value));
    i = skip(end, " \n\r\t,");
  }
  return members;
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  const auto skip = [&](std::size_t i, std::string_view what) {
    return std::min(list.find_first_not_of(what, i), list.size());
  };
  std::size_t i = skip(0, " \n\r\t");
  if (i >= list.size() || list[i] != '[') return elements;
  i = skip(i + 1, " \n\r\t");
  while (i < list.size() && list[i] != ']') {
    const std::size_t end = value_end(list, i);
    elements.push_back(list.substr(i, end - i));
    i = skip(end, " \n\r\t,");
  }
  return elements;
}

std::string member_path(const std::string& at, std::string_view name) {
  return at.empty() ? std::string(name) : at + "." + std::string(name);
}

void check_members(const Json& object, const std::string& at,
                   std::initializer_list<std::string_view> known) {
  check_members(object, at, std::span(known.begin(), known.size()));
}

void check_members(const Json& object, const std::string& at,
                   std::span<const std::string_view> known) {
  if (!object.is_object()) {
    if (at.empty()) throw Unreadable("body", "must be a JSON object");
    throw BadRequest(at, "must be a JSON object");
  }
  for (const auto& [name, value] : object.items()) {
    if (!name.empty() && std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const auto k : known) {
      if (!k.empty()) names.append(names.empty() ? "" : ", ").append(k);
    }
    throw BadRequest(member_path(at, name.empty() ? "\"\"" : shorten(name, 60)),
                     names.empty() ? "is not known here; this call takes no fields"
                                   : "is not known here; known are: " + names);
  }
}

}  // namespace holdpoint
