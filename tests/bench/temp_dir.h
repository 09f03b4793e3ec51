#pragma once

#include <filesystem>
#include <string>

namespace holdpoint::bench {

// A fresh folder below $TMPDIR, or below /var/tmp: /tmp is memory on many machines, and a sync that
// costs nothing would make every figure a lie. Removed with all it holds.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  bool in_memory() const;

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace holdpoint::bench
