#include "base/secret.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace holdpoint {

std::string read_secret(const std::string& text, const std::filesystem::path& folder) {
  if (text.starts_with("env:")) {
    const char* value = std::getenv(text.c_str() + 4);
    if (!value || !*value) {
      throw std::runtime_error("the environment has no " + text.substr(4));
    }
    return value;
  }
  if (text.starts_with("file:")) {
    const auto path = folder / text.substr(5);
    std::ifstream in(path);
    std::ostringstream content;
    content << in.rdbuf();
    if (!in) throw std::runtime_error("cannot read the file " + path.string());
    std::string value = content.str();
    while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
    if (value.empty()) throw std::runtime_error("the file " + path.string() + " holds no secret");
    return value;
  }
  return text;
}

}  // namespace holdpoint
