#pragma once

#include <string_view>

// Files compiled into the binary by cmake/embed.cmake, each in the library of the layer that owns
// it.
namespace holdpoint::embedded {

extern const std::string_view schema_sql;
extern const std::string_view openapi_json;
extern const std::string_view icon_svg;
extern const std::string_view page_css;
extern const std::string_view settings_example_toml;

}  // namespace holdpoint::embedded
