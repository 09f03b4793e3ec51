#include "temp_dir.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

#include "socket.h"

namespace holdpoint::bench {

TempDir::TempDir() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent != '\0' ? parent : "/var/tmp") +
                     "/holdpoint_bench.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw_errno("mkdtemp " + name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool TempDir::in_memory() const {
  struct statfs system {};
  return statfs(path_.c_str(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace holdpoint::bench
