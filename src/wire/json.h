#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Compiled once, in json.cc: each of the many files that use them would take about twice as long.
extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace holdpoint {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // Its objects keep the order they were written in.

inline constexpr std::size_t kMaxJsonDepth = 64;

// Throws BadRequest naming `field` unless `text` is JSON that everything behind us can hold: valid
// UTF-8, no NUL inside strings, at most kMaxJsonDepth levels. Builds nothing, so it is the check
// for texts that are passed on unread.
void check_json(std::string_view text, const std::string& field);

// check_json, then the value. No object may have a name twice: one of the two would be lost.
Json parse_json(std::string_view text, const std::string& field);

// Of a text that passed check_json, or that we wrote. Throws Json::exception for any other.
Json read_json(std::string_view text);

// Of any text: discarded, and so of no type, if it is no JSON.
Json try_json(std::string_view text);
OrderedJson try_ordered_json(std::string_view text);

// The members of an object as they are written, in their order; `object` must have passed
// check_json. A name that is there twice appears twice. Empty if it is no object.
std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object);

// The same of a list.
std::vector<std::string_view> elements_of(std::string_view list);

// Throws BadRequest for a member of `object` that is not among `known`, or if it is no object. `at`
// is its own name, empty for the body itself.
void check_members(const Json& object, const std::string& at,
                   std::span<const std::string_view> known);
void check_members(const Json& object, const std::string& at,
                   std::initializer_list<std::string_view> known);

// `at.name`, or `name` at the top.
std::string member_path(const std::string& at, std::string_view name);

}  // namespace holdpoint
