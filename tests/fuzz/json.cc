// check_json, parse_json and members_of on any bytes; and JSON written of any text.
#include "wire/json.h"

#include <algorithm>
#include <set>

#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

bool is_checked(std::string_view text) {
  const auto check = [&] { return check_json(text, "body"), true; };
  return unless_refused(check).has_value();
}

std::size_t depth_of(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t deepest = 0;
  for (const auto& item : value) deepest = std::max(deepest, depth_of(item));
  return deepest + 1;
}

bool holds_nul(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find('\0') != std::string::npos;
  for (const auto& [name, item] : value.items()) {
    if (value.is_object() && name.find('\0') != std::string::npos) return true;
    if (value.is_structured() && holds_nul(item)) return true;
  }
  return false;
}

bool has_a_name_twice(std::string_view text) {
  std::vector<std::set<std::string>> names;
  bool twice = false;
  const auto look = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) {
      twice |= !names.back().insert(value.get<std::string>()).second;
    }
    return true;
  };
  (void)Json::parse(text, look);
  return twice;
}

// Of a name that is there twice the parser keeps the last, as this does.
Json gather(std::string_view object) {
  Json gathered = Json::object();
  for (const auto& member : members_of(object)) {
    const std::string name = "\"" + std::string(member.first) + "\"";
    expect(is_checked(member.second), "a member's text is JSON");
    gathered[Json::parse(name).get<std::string>()] = Json::parse(member.second);
  }
  return gathered;
}

void check_written(std::string_view text) {
  JsonWriter out;
  out.begin_object().member(text, text).end_object();
  const Json written = Json::parse(out.take());
  if (is_clean_utf8(text)) {
    expect(written == Json{{std::string(text), text}}, "a text is written as it is");
  }
}

void run(std::string_view text) {
  check_written(text);
  const bool checked = is_checked(text);
  const auto read = unless_refused([&] { return parse_json(text, "body"); });
  if (!checked) {
    expect(!read, "what check_json refuses parse_json refuses");
    return;
  }
  const Json value = Json::parse(text, nullptr, false);
  expect(!value.is_discarded(), "what check_json accepts the parser accepts");
  expect(depth_of(value) <= kMaxJsonDepth, "what is accepted is no deeper than kMaxJsonDepth");
  expect(!holds_nul(value), "what is accepted holds no NUL");
  expect(Json::parse(value.dump()) == value, "what is accepted can be written and read again");
  expect(read.has_value() != has_a_name_twice(text),
         "parse_json refuses just those with a name twice");
  if (read) expect(*read == value, "parse_json gives what the parser gives");
  if (value.is_object()) {
    expect(gather(text) == value, "members_of gives all members and no others");
    if (read) expect(members_of(text).size() == value.size(), "members_of gives each member once");
  } else {
    expect(members_of(text).empty(), "what is no object has no members");
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
