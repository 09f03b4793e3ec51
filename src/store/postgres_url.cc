#include <libpq-fe.h>

#include <memory>

#include "store/postgres.h"

namespace holdpoint {

std::string check_postgres_url(const std::string& url) {
  char* wrong = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &wrong);
  std::string said;
  if (!options) said = wrong ? wrong : "out of memory";
  PQconninfoFree(options);
  PQfreemem(wrong);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  // It quotes what it could not read, which may be the password.
  if (!said.empty() && url.find('@') != std::string::npos) {
    said = said.substr(0, said.find(':')) + "; characters such as @ / : % in a password are written "
           "%40 %2F %3A %25";
  }
  return said;
}

}  // namespace holdpoint
