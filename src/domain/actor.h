#pragma once

#include <string>

namespace holdpoint {

// Who does something, by which credential, from where: what the audit log keeps of them.
struct Actor {
  std::string name;  // `ana`, or a key's name; empty: nobody in particular.
  std::string
      credential;  // `user:ana`, `key:<id>`, `link:<id>`, `webhook:github`, `open`, `local`.
  std::string address;
};

}  // namespace holdpoint
