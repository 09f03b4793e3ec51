#include "http/assets.h"

#include <algorithm>
#include <stdexcept>

#include "base/embedded.h"
#include "wire/digest.h"

namespace holdpoint {
namespace {

using embedded::File;

const std::vector<File>& files() {
  static const std::vector<File> all = embedded::files_of_web();
  return all;
}

const File* find(std::string_view name) {
  const auto it = std::find_if(files().begin(), files().end(),
                               [&](const File& file) { return file.name == name; });
  return it == files().end() ? nullptr : &*it;
}

const std::string& current_version() {
  static const std::string version = [] {
    std::string all;
    for (const auto& file : files()) all.append(file.name).append("\n").append(file.content);
    return sha256_hex(all).substr(0, 16);
  }();
  return version;
}

// What browsers may fetch; templates of pages are none of it.
const char* type_of(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return nullptr;
}

}  // namespace

std::string asset_path(std::string_view name) {
  return "/assets/" + current_version() + "/" + std::string(name);
}

Response asset_response(const std::string& version, const std::string& name) {
  const File* file = find(name);
  const char* type = type_of(name);
  if (!file || !type) return error_response(404, "unknown_path", "there is no such file");
  if (version != current_version()) {
    return error_response(404, "unknown_path",
                          "this file is of another version of the server; load the page again");
  }
  Response response;
  response.body = std::string(file->content);
  response.content_type = type;
  response.headers = {{"Cache-Control", "public, max-age=31536000, immutable"}};
  return response;
}

std::string_view web_file(std::string_view name) {
  const File* file = find(name);
  if (!file) throw std::logic_error("src/web has no " + std::string(name));
  return file->content;
}

std::vector<std::string> modules_of(const std::string& name) {
  std::vector<std::string> modules{name};
  const auto add_imports = [&](std::string_view text, std::string_view start) {
    for (auto at = text.find(start); at != std::string_view::npos; at = text.find(start, at)) {
      at += start.size();
      std::string imported(text.substr(at, text.find('\'', at) - at));
      if (std::find(modules.begin(), modules.end(), imported) == modules.end()) {
        modules.push_back(std::move(imported));
      }
    }
  };
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string_view text = web_file(modules[i]);
    add_imports(text, "from './");
    add_imports(text, "import './");
  }
  return modules;
}

}  // namespace holdpoint
