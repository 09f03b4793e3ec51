#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "instant.h"

namespace holdpoint::bench {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Part { ceilings, lifecycles, parked };

struct Options {
  Seconds span{8};
  std::vector<int> clients{1, 16, 64};
  long parked = 5000;
  std::filesystem::path binary;  // by default `holdpoint` beside this program
  std::optional<std::filesystem::path> json;
  std::optional<Part> only;
  bool postgres = false;
  std::string postgres_url;  // empty: a private server
  std::vector<int> nodes{1, 2, 3};
  bool help = false;

  bool wants(Part part) const { return !only || *only == part; }
};

// Throws UsageError.
Options parse_options(int argc, char** argv);

extern const char* const kHelp;

}  // namespace holdpoint::bench
