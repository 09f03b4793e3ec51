#include "flow/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace holdpoint {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Histogram& commit_batch =
      BuildHistogram()
          .Name("holdpoint_commit_batch_size")
          .Help("Writes that shared one commit")
          .Register(registry)
          .Add({}, prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64, 128, 256});
  prometheus::Histogram& resume =
      BuildHistogram()
          .Name("holdpoint_answer_to_resume_seconds")
          .Help("From the last answer of an ask to the claim of the turn that gets it")
          .Register(registry)
          .Add({}, prometheus::Histogram::BucketBoundaries{.001, .002, .005, .01, .02, .05, .1, .2,
                                                           .5, 1, 2, 5, 10, 60});
  prometheus::Family<prometheus::Counter>& turns = BuildCounter()
                                                       .Name("holdpoint_turns_total")
                                                       .Help("Turns by how they ended")
                                                       .Register(registry);
  prometheus::Family<prometheus::Counter>& model_replies =
      BuildCounter()
          .Name("holdpoint_model_replies_total")
          .Help("Replies of models")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& model_tokens =
      BuildCounter()
          .Name("holdpoint_model_tokens_total")
          .Help("Tokens that models read and wrote")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& attempts = BuildCounter()
                                                          .Name("holdpoint_delivery_attempts_total")
                                                          .Help("Attempts to deliver by result")
                                                          .Register(registry);
  prometheus::Family<prometheus::Counter>& requests = BuildCounter()
                                                          .Name("holdpoint_http_requests_total")
                                                          .Help("Requests by route and status")
                                                          .Register(registry);
  prometheus::Family<prometheus::Counter>& refusals = BuildCounter()
                                                          .Name("holdpoint_refused_total")
                                                          .Help("Requests turned away by reason")
                                                          .Register(registry);
  prometheus::Family<prometheus::Gauge>& sessions =
      BuildGauge().Name("holdpoint_sessions").Help("Sessions by status").Register(registry);
  prometheus::Family<prometheus::Gauge>& questions =
      BuildGauge().Name("holdpoint_questions").Help("Questions by status").Register(registry);
  prometheus::Family<prometheus::Gauge>& deliveries =
      BuildGauge().Name("holdpoint_deliveries").Help("Deliveries by status").Register(registry);
  prometheus::Gauge& queue_depth = BuildGauge()
                                       .Name("holdpoint_queue_depth")
                                       .Help("Turns that are due and not running")
                                       .Register(registry)
                                       .Add({});
  prometheus::Gauge& running = BuildGauge()
                                   .Name("holdpoint_turns_running")
                                   .Help("Turns that run now")
                                   .Register(registry)
                                   .Add({});
  prometheus::Gauge& http_threads = BuildGauge()
                                        .Name("holdpoint_http_threads")
                                        .Help("Threads that serve connections now")
                                        .Register(registry)
                                        .Add({});
};

namespace {

void set_all(prometheus::Family<prometheus::Gauge>& family,
             std::initializer_list<const char*> statuses,
             const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  for (const char* status : statuses) {
    double value = 0;
    for (const auto& [name, count] : counts) {
      if (name == status) value = static_cast<double>(count);
    }
    family.Add({{"status", status}}).Set(value);
  }
}

}  // namespace

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::commit(std::size_t batch) {
  families_->commit_batch.Observe(static_cast<double>(batch));
}

void Metrics::resumed(Duration since_answer) {
  families_->resume.Observe(static_cast<double>(since_answer.count()) / 1000.0);
}

void Metrics::turn_ended(const std::string& result) {
  families_->turns.Add({{"result", result}}).Increment();
}

void Metrics::model_replied(const std::string& model, std::int64_t input_tokens,
                            std::int64_t output_tokens) {
  const auto add = [&](const char* kind, std::int64_t tokens) {
    families_->model_tokens.Add({{"model", model}, {"kind", kind}})
        .Increment(static_cast<double>(tokens));
  };
  families_->model_replies.Add({{"model", model}}).Increment();
  add("input", input_tokens);
  add("output", output_tokens);
}

void Metrics::delivery_attempted(const std::string& result) {
  families_->attempts.Add({{"result", result}}).Increment();
}

void Metrics::request(const std::string& route, int status) {
  families_->requests.Add({{"route", route}, {"status", std::to_string(status)}}).Increment();
}

void Metrics::refused(const std::string& reason) {
  families_->refusals.Add({{"reason", reason}}).Increment();
}

std::string Metrics::text(const Gauges& gauges) {
  auto& f = *families_;
  set_all(f.sessions, {"running", "pending_input", "completed", "failed", "cancelled"},
          gauges.sessions);
  set_all(f.questions, {"pending", "answered", "timed_out", "defaulted", "cancelled"},
          gauges.questions);
  set_all(f.deliveries, {"pending", "delivered", "dead", "obsolete"}, gauges.deliveries);
  f.queue_depth.Set(static_cast<double>(gauges.turns_due));
  f.running.Set(static_cast<double>(gauges.turns_running));
  f.http_threads.Set(static_cast<double>(gauges.http_threads));
  return prometheus::TextSerializer().Serialize(f.registry.Collect());
}

}  // namespace holdpoint
