#include "flow/overview.h"

#include <algorithm>
#include <map>

#include "store/delivery_store.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {
namespace {

class AgentFigures {
 public:
  void add(const session_store::Brief& session) {
    auto& agent = of(session.agent_name).agent;
    ++agent.sessions;
    if (session.questions_asked > 0) ++agent.asked;
    agent.questions += session.questions_asked;
    if (session.status == SessionStatus::failed) ++agent.failed;
    agent.input_tokens += session.spent.input_tokens;
    agent.output_tokens += session.spent.output_tokens;
    if (const auto cost = session.spent.cost_micros) {
      agent.cost_micros = agent.cost_micros.value_or(0) + *cost;
    }
  }
  void add(const question_store::AnsweredBrief& question) {
    of(question.agent_name).times.push_back(question.took);
  }

  std::vector<Overview::Agent> sum() {
    std::vector<Overview::Agent> all;
    for (auto& [name, figures] : agents_) {
      figures.agent.name = name;
      figures.agent.answered = static_cast<std::int64_t>(figures.times.size());
      figures.agent.times = sum_up(std::move(figures.times));
      all.push_back(std::move(figures.agent));
    }
    return all;
  }

 private:
  struct Figures {
    Overview::Agent agent;
    std::vector<Duration> times;
  };
  Figures& of(std::string_view name) {
    const auto it = agents_.find(name);
    return it != agents_.end() ? it->second : agents_[std::string(name)];
  }

  std::map<std::string, Figures, std::less<>> agents_;
};

std::vector<Overview::Channel> all_channels() {
  std::vector<Overview::Channel> channels;
  for (const char* name : {"url", "slack", "discord", "email"}) {
    channels.emplace_back().name = name;
  }
  return channels;
}

// Deliveries come from the newest to the oldest.
void add(std::vector<Overview::Channel>& channels, const delivery_store::Brief& delivery) {
  const auto channel = std::find_if(
      channels.begin(), channels.end(),
      [&](const Overview::Channel& one) { return one.name == platform_behind(delivery.channel); });
  if (channel == channels.end()) return;
  if (delivery.status == DeliveryStatus::delivered) ++channel->delivered;
  if (delivery.status == DeliveryStatus::dead) ++channel->dead;
  if (delivery.status == DeliveryStatus::pending && delivery.last_error) ++channel->retrying;
  channel->last_delivered_at = std::max(channel->last_delivered_at, delivery.delivered_at);
  if (delivery.last_error && !channel->last_error) {
    channel->last_error = std::string(*delivery.last_error);
    channel->last_error_at = delivery.created_at;
  }
}

}  // namespace

Overview::Report Overview::look() {
  Report report = db_.read([](Transaction& tx) {
    AgentFigures agents;
    session_store::each_newest(tx, kSessions, [&](const auto& row) { agents.add(row); });
    question_store::each_answered(tx, kAnswers, [&](const auto& row) { agents.add(row); });
    Report found{agents.sum(), all_channels()};
    delivery_store::each_newest(tx, kDeliveries,
                                [&](const auto& row) { add(found.channels, row); });
    return found;
  });
  const auto set_up = notices_.platforms();
  for (auto& channel : report.channels) {
    channel.set_up = set_up.count(channel.name) > 0;
    channel.connected = connected_(channel.name);
  }
  return report;
}

}  // namespace holdpoint
