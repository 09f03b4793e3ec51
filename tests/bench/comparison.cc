#include "comparison.h"

namespace holdpoint::bench {
namespace {

std::optional<double> ratio(std::optional<double> figure, std::optional<double> base) {
  if (!figure || !base || *base <= 0) return std::nullopt;
  return *figure / *base;
}

// Nothing when a part of it is on another machine.
std::optional<double> whole_cpu(const LifecycleStep& step) {
  if (step.setup.engine == Engine::postgres && !step.cpu.postgres) return std::nullopt;
  return step.ms_a_lifecycle(step.cpu.all());
}

}  // namespace

Comparison compare(const LifecycleStep& step, const Setup& base, const Results& results) {
  for (const LifecycleStep& other : results.lifecycles) {
    if (other.setup != base || other.clients != step.clients) continue;
    return {ratio(step.per_s, other.per_s),
            ratio(step.answer_to_completed_ms.p50, other.answer_to_completed_ms.p50),
            ratio(step.answer_to_completed_ms.p99, other.answer_to_completed_ms.p99),
            ratio(whole_cpu(step), whole_cpu(other))};
  }
  return {};
}

std::optional<double> compare(const Parked& parked, const Setup& base, const Results& results) {
  for (const Parked& other : results.parked)
    if (other.setup == base) return ratio(parked.per_s, other.per_s);
  return std::nullopt;
}

}  // namespace holdpoint::bench
