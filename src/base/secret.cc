#include "base/secret.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace holdpoint {

Secret read_secret(const std::string& text, const std::filesystem::path& folder) {
  if (text.starts_with("env:")) {
    const char* value = std::getenv(text.c_str() + 4);
    if (!value || !*value) {
      throw std::runtime_error("the environment has no " + text.substr(4));
    }
    return Secret(value);
  }
  if (text.starts_with("file:")) {
    const auto path = folder / text.substr(5);
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0) {
      throw std::runtime_error("the file " + path.string() +
                               " can be read by everybody on this machine; chmod 600 it");
    }
    std::ifstream in(path);
    std::ostringstream content;
    content << in.rdbuf();
    if (!in) throw std::runtime_error("cannot read the file " + path.string());
    std::string value = content.str();
    while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
    if (value.empty()) throw std::runtime_error("the file " + path.string() + " holds no secret");
    return Secret(std::move(value));
  }
  return Secret(text);
}

std::string hide_password(std::string url) {
  const auto start = url.find("://");
  const auto query = url.find('?');
  const auto at = url.rfind('@', query);  // Whatever stands before the last one may be of it.
  if (start != std::string::npos && at != std::string::npos && at > start) {
    const auto colon = url.find(':', start + 3);
    if (colon != std::string::npos && colon < at) url.replace(colon + 1, at - colon - 1, "***");
  }
  constexpr std::string_view kWord = "password=";
  for (auto word = url.find(kWord); word != std::string::npos;
       word = url.find(kWord, word + kWord.size())) {
    const auto begin = word + kWord.size();
    const auto end = url.find_first_of("& ", begin);
    url.replace(begin, end == std::string::npos ? end : end - begin, "***");
  }
  return url;
}

}  // namespace holdpoint
