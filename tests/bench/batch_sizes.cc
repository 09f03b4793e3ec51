#include "batch_sizes.h"

#include <algorithm>
#include <cstdlib>

namespace holdpoint::bench {
namespace {

constexpr std::string_view kName = "holdpoint_commit_batch_size";

std::string_view label(std::string_view labels, std::string_view opening) {
  const auto at = labels.find(opening);
  if (at == std::string_view::npos) return {};
  labels.remove_prefix(at + opening.size());
  return labels.substr(0, labels.find('"'));
}

BatchSizes::Bucket& bucket_of(BatchSizes& sizes, std::string_view le) {
  const auto found = std::find_if(sizes.buckets.begin(), sizes.buckets.end(),
                                  [&](const auto& bucket) { return bucket.le == le; });
  if (found != sizes.buckets.end()) return *found;
  return sizes.buckets.emplace_back(BatchSizes::Bucket{std::string(le), 0});
}

}  // namespace

std::optional<BatchSizes> read_batch_sizes(std::string_view metrics) {
  BatchSizes sizes;
  bool found = false;
  while (!metrics.empty()) {
    const auto end = std::min(metrics.find('\n'), metrics.size());
    auto line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());

    const auto space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    const double value = std::strtod(std::string(line.substr(space + 1)).c_str(), nullptr);
    const auto series = line.substr(0, space);
    if (series.starts_with("_count")) {
      sizes.commits += value;
      found = true;
    } else if (series.starts_with("_sum")) {
      sizes.jobs += value;
    } else if (series.starts_with("_bucket")) {
      bucket_of(sizes, label(series, "le=\"")).commits += value;
    }
  }
  if (!found) return std::nullopt;
  return sizes;
}

BatchSizes difference(const BatchSizes& before, const BatchSizes& after) {
  BatchSizes added = after;
  added.commits -= before.commits;
  added.jobs -= before.jobs;
  for (BatchSizes::Bucket& bucket : added.buckets)
    for (const BatchSizes::Bucket& earlier : before.buckets)
      if (earlier.le == bucket.le) bucket.commits -= earlier.commits;
  return added;
}

std::vector<BatchSizes::Bucket> separate_buckets(const BatchSizes& sizes) {
  std::vector<BatchSizes::Bucket> separate = sizes.buckets;
  for (std::size_t i = separate.size(); i-- > 1;) separate[i].commits -= separate[i - 1].commits;
  return separate;
}

}  // namespace holdpoint::bench
