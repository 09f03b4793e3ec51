#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::bench {

// The server's histogram `holdpoint_commit_batch_size`: how many jobs each commit carried.
struct BatchSizes {
  struct Bucket {
    std::string le;      // upper bound, as Prometheus prints it
    double commits = 0;  // up to that bound, smaller ones included
  };

  double commits = 0;
  double jobs = 0;
  std::vector<Bucket> buckets;

  double mean() const { return commits > 0 ? jobs / commits : 0; }
};

// Reads it from Prometheus text; nothing when the text has no such histogram.
std::optional<BatchSizes> read_batch_sizes(std::string_view metrics);

// What was added between two readings of one server.
BatchSizes difference(const BatchSizes& before, const BatchSizes& after);

// The commits of each bucket alone, smaller ones left out.
std::vector<BatchSizes::Bucket> separate_buckets(const BatchSizes& sizes);

}  // namespace holdpoint::bench
