#pragma once

#include <string>

namespace holdpoint {

// Held for as long as the object lives; the kernel lets go of it when the process dies, however it
// dies.
class LockFile {
 public:
  // Throws DatabaseInUse naming the process that holds it.
  explicit LockFile(const std::string& path);
  ~LockFile();
  LockFile(const LockFile&) = delete;

 private:
  int file_ = -1;
};

}  // namespace holdpoint
