#include "agents/llm/tool_input.h"

#include <algorithm>
#include <cmath>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type == "integer") {
    // 3.0 is one, as JSON Schema has it.
    return value.is_number_integer() ||
           (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
  }
  return true;
}

// Follows schema and value together; the first complaint is all a model needs.
class Check {
 public:
  std::optional<std::string> run(const Json& schema, const Json& value, const std::string& at) {
    if (!schema.is_object()) return schema == false ? refuse(at, "is not allowed") : std::nullopt;
    if (auto wrong = type(schema, value, at)) return wrong;
    if (const auto it = schema.find("enum"); it != schema.end() && it->is_array()) {
      if (std::find(it->begin(), it->end(), value) == it->end()) {
        return refuse(at, "must be one of " + shorten(it->dump(), 500));
      }
    }
    if (value.is_object()) return object(schema, value, at);
    if (value.is_array()) return list(schema, value, at);
    if (value.is_string()) {
      return size(schema, "minLength", "maxLength", count_chars(value.get<std::string>()), at,
                  "characters");
    }
    if (value.is_number()) return number(schema, value, at);
    return std::nullopt;
  }

 private:
  static std::optional<std::string> refuse(const std::string& at, const std::string& rule) {
    return (at.empty() ? "the input" : at) + " " + rule;
  }

  std::optional<std::string> type(const Json& schema, const Json& value, const std::string& at) {
    const auto it = schema.find("type");
    if (it == schema.end()) return std::nullopt;
    const Json types = it->is_array() ? *it : Json::array({*it});
    std::string names;
    for (const auto& one : types) {
      if (!one.is_string()) return std::nullopt;
      if (is_of_type(value, one.get<std::string>())) return std::nullopt;
      names.append(names.empty() ? "" : " or ").append(one.get<std::string>());
    }
    if (names.empty()) return std::nullopt;
    return refuse(at, "must be of type " + names + ", not " + value.type_name());
  }

  std::optional<std::string> object(const Json& schema, const Json& value, const std::string& at) {
    if (const auto it = schema.find("required"); it != schema.end() && it->is_array()) {
      for (const auto& name : *it) {
        if (name.is_string() && !value.contains(name.get<std::string>())) {
          return refuse(member_path(at, name.get<std::string>()), "is missing: it is required");
        }
      }
    }
    const auto properties = schema.find("properties");
    const bool has_properties = properties != schema.end() && properties->is_object();
    const auto others = schema.find("additionalProperties");
    const bool closed = others != schema.end() && *others == false;
    for (const auto& [name, member] : value.items()) {
      const std::string path = member_path(at, shorten(name, 60));
      if (has_properties && properties->contains(name)) {
        if (auto wrong = run((*properties)[name], member, path)) return wrong;
      } else if (closed) {
        return refuse(path, "is not known here" + known(has_properties ? *properties : Json()));
      }
    }
    return std::nullopt;
  }
  static std::string known(const Json& properties) {
    std::string names;
    for (const auto& [name, property] : properties.items()) {
      names.append(names.empty() ? "; known are: " : ", ").append(name);
    }
    return shorten(names, 500);
  }

  std::optional<std::string> list(const Json& schema, const Json& value, const std::string& at) {
    if (auto wrong = size(schema, "minItems", "maxItems", value.size(), at, "items")) return wrong;
    const auto items = schema.find("items");
    if (items == schema.end()) return std::nullopt;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto wrong = run(*items, value[i], at + "[" + std::to_string(i) + "]")) return wrong;
    }
    return std::nullopt;
  }

  static std::optional<std::string> size(const Json& schema, const char* least, const char* most,
                                         std::size_t count, const std::string& at,
                                         const std::string& what) {
    const auto bound = [&](const char* name) -> std::optional<double> {
      const auto it = schema.find(name);
      if (it == schema.end() || !it->is_number()) return std::nullopt;
      return it->get<double>();
    };
    const auto low = bound(least), high = bound(most);
    if (low && static_cast<double>(count) < *low) {
      return refuse(at, "must have at least " + schema[least].dump() + " " + what);
    }
    if (high && static_cast<double>(count) > *high) {
      return refuse(at, "must have at most " + schema[most].dump() + " " + what);
    }
    return std::nullopt;
  }

  static std::optional<std::string> number(const Json& schema, const Json& value,
                                           const std::string& at) {
    if (const auto it = schema.find("minimum"); it != schema.end() && it->is_number()) {
      if (value < *it) return refuse(at, "must be at least " + it->dump());
    }
    if (const auto it = schema.find("maximum"); it != schema.end() && it->is_number()) {
      if (value > *it) return refuse(at, "must be at most " + it->dump());
    }
    return std::nullopt;
  }
};

}  // namespace

Json parse_tool_input(const std::string& input) {
  if (is_blank(input)) return Json::object();
  Json value = parse_json(input, "the input");
  if (!value.is_object()) throw BadRequest("the input", "must be a JSON object");
  return value;
}

std::optional<std::string> complaint_about_input(const Json& schema, const Json& input) {
  return Check().run(schema, input, "");
}

}  // namespace holdpoint
