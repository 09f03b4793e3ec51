#include "store/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "store/database.h"

namespace holdpoint {
namespace {

// A child that the last holder was starting when it was killed keeps the lock until it has become
// the program it is to run: so a holder may be gone and the lock still taken, for a moment.
bool lock_soon(int file) {
  using namespace std::chrono_literals;
  for (auto waited = 0ms; waited < 2s; waited += 20ms) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

}  // namespace

LockFile::LockFile(const std::string& path) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) {
    throw StoreError("cannot open the lock file " + path + ": " + std::strerror(errno), false);
  }
  if (!lock_soon(file_)) {
    char holder[32] = {};
    const ssize_t size = pread(file_, holder, sizeof holder - 1, 0);
    close(file_);
    throw DatabaseInUse("the database is in use by another holdpoint" +
                        (size > 0 ? " (process " + std::string(holder) + ")" : std::string()) +
                        "; stop it first, or give this one its own [database] url. Lock: " + path);
  }
  const std::string self = std::to_string(getpid());
  if (ftruncate(file_, 0) != 0 ||
      pwrite(file_, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size())) {
    // Only the hint to people is missing; the lock itself is held.
  }
}

LockFile::~LockFile() { close(file_); }

}  // namespace holdpoint
