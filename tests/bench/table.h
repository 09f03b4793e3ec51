#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace holdpoint::bench {

// Rows of text in columns as wide as their widest cell: the first to the left, the others to the
// right. ASCII only.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string fixed(double value, int digits);
// '-' for what was not measured.
std::string fixed(const std::optional<double>& value, int digits);
std::string mebibytes(double bytes);

}  // namespace holdpoint::bench
