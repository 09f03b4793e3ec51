#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "store/postgres.h"

namespace holdpoint {

namespace {

// One for each host, separated by commas.
bool are_ports(std::string_view list) {
  while (true) {
    const auto comma = list.find(',');
    const std::string_view port = list.substr(0, comma);
    int number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool fine = error == std::errc{} && end == port.data() + port.size();
    if (!port.empty() && (!fine || number < 1 || number > 65535)) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string check_postgres_url(const std::string& url) {
  char* wrong = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &wrong);
  std::string said;
  if (!options) said = wrong ? wrong : "out of memory";
  for (const auto* option = options; option && option->keyword; ++option) {
    if (std::string_view(option->keyword) == "port" && option->val && !are_ports(option->val)) {
      said = "its port is no number";
    }
  }
  // libpq would take what follows the first one for the host, and say so.
  const std::string_view authority = std::string_view(url).substr(0, url.find('?'));
  if (std::count(authority.begin(), authority.end(), '@') > 1) said = "it has more than one @";
  PQconninfoFree(options);
  PQfreemem(wrong);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  // It quotes what it could not read, which may be the password.
  if (!said.empty() && url.find('@') != std::string::npos) {
    said = said.substr(0, said.find(':')) +
           "; characters such as @ / : % in a password are written "
           "%40 %2F %3A %25";
  }
  return said;
}

}  // namespace holdpoint
