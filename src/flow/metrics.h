#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace holdpoint {

// The figures that /metrics shows. Safe to share between threads.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void commit(std::size_t batch);
  void resumed(Duration since_answer);
  void turn_ended(const std::string& result);
  void model_replied(const std::string& model, std::int64_t input_tokens,
                     std::int64_t output_tokens);
  void delivery_attempted(const std::string& result);
  void request(const std::string& route, int status);
  // Somebody was turned away; `reason` is one of a few words, never anything of theirs.
  void refused(const std::string& reason);

  // What is read off the database and the workers when somebody asks.
  struct Gauges {
    std::vector<std::pair<std::string, std::int64_t>> sessions;
    std::vector<std::pair<std::string, std::int64_t>> questions;
    std::vector<std::pair<std::string, std::int64_t>> deliveries;
    std::int64_t turns_due = 0;
    std::int64_t turns_running = 0;
    std::int64_t http_threads = 0;
  };
  // In Prometheus' text format.
  std::string text(const Gauges& gauges);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace holdpoint
