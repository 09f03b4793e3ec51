#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/router.h"

namespace holdpoint {

// The files of src/web as browsers fetch them. A file's address holds a hash of all of them, so
// that a browser may keep it for good and a new version never meets an old file.
std::string asset_path(std::string_view name);
Response asset_response(const std::string& version, const std::string& name);

// A file of src/web, for pages that are made of it; it must be there.
std::string_view web_file(std::string_view name);
// The modules that this one imports, and those they import, itself first. For pages to name them
// all at once: a browser would find them one after the other.
std::vector<std::string> modules_of(const std::string& name);

}  // namespace holdpoint
