#pragma once

#include <optional>

#include "results.h"

namespace holdpoint::bench {

// Each figure of a step divided by the same of another one; nothing where that one is missing or
// has none.
struct Comparison {
  std::optional<double> per_s;
  std::optional<double> answer_p50;
  std::optional<double> answer_p99;
  std::optional<double>
      cpu_a_lifecycle;  // of everything that runs: database, nodes, agent, clients
};

// `step` against the step of `base` with as many clients.
Comparison compare(const LifecycleStep& step, const Setup& base, const Results& results);

// Sessions parked a second, against those of `base`.
std::optional<double> compare(const Parked& parked, const Setup& base, const Results& results);

inline constexpr Setup kSqlite{};
inline constexpr Setup kOneNode{Engine::postgres, 1};

}  // namespace holdpoint::bench
