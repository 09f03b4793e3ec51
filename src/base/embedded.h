#pragma once

#include <string_view>
#include <vector>

// Files compiled into the binary by cmake/embed.cmake, each in the library of the layer that owns
// it.
namespace holdpoint::embedded {

extern const std::string_view schema_sql;
extern const std::string_view openapi_json;
extern const std::string_view settings_example_toml;

struct File {
  std::string_view name;
  std::string_view content;
};
// All of src/web, by name.
std::vector<File> files_of_web();

}  // namespace holdpoint::embedded
