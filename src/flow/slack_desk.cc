#include "flow/slack_desk.h"

#include "base/log.h"
#include "channels/slack_form.h"
#include "domain/text.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostComplaint = 500;
constexpr Duration kRemembered{120'000};
constexpr std::size_t kMostRemembered = 2000;
constexpr int kMostReplacements = 3;

}  // namespace

std::string SlackDesk::take(std::string_view payload, const std::string& address, Time now) {
  using Kind = Clicks::Outcome::Kind;
  SlackInteraction interaction = read_slack_interaction(payload);
  interaction.click.address = address;
  const auto outcome = clicks_.take(interaction.click, now);
  if (interaction.from_form) return answer_form(interaction, outcome);
  if (outcome.kind == Kind::nothing || seen_before(interaction, now)) return "";
  switch (outcome.kind) {
    case Kind::late:
      tell(interaction, outcome.notice);
      [[fallthrough]];
    case Kind::taken:
    case Kind::repeated:
      // The courier edits the messages that it knows; this may be one that was sent, but whose name
      // was lost on its way back.
      if (outcome.question) bring_up_to_date(interaction, *outcome.question);
      break;
    case Kind::refused:
    case Kind::unknown:
      tell(interaction, outcome.notice);
      break;
    case Kind::form:
      if (outcome.question) open_form(interaction, *outcome.question);
      break;
    case Kind::nothing:
      break;
  }
  return "";
}

std::string SlackDesk::answer_form(const SlackInteraction& interaction,
                                   const Clicks::Outcome& outcome) {
  using Kind = Clicks::Outcome::Kind;
  JsonWriter out;
  switch (outcome.kind) {
    case Kind::refused:
      out.begin_object().member("response_action", "errors").key("errors").begin_object();
      out.member(slack_form_text_block(interaction.click.question),
                 shorten(outcome.notice, kMostComplaint));
      out.end_object().end_object();
      return out.take();
    case Kind::late:
    case Kind::unknown:
      out.begin_object().member("response_action", "update");
      out.raw_member("view", slack_notice_view(outcome.notice)).end_object();
      return out.take();
    default:
      return "";  // Closes the form.
  }
}

bool SlackDesk::seen_before(const SlackInteraction& interaction, Time now) {
  if (interaction.trigger_id.empty()) return false;
  return seen_.with([&](auto& seen) {
    std::erase_if(seen, [&](const auto& entry) { return entry.second < now - kRemembered; });
    if (seen.size() >= kMostRemembered) seen.clear();
    return !seen.emplace(interaction.trigger_id, now).second;
  });
}

void SlackDesk::tell(const SlackInteraction& interaction, const std::string& notice) {
  send([this, url = interaction.response_url, notice] { return slack_.tell(url, notice); });
}

void SlackDesk::bring_up_to_date(const SlackInteraction& interaction, const Question& question) {
  send([this, url = interaction.response_url, question] {
    std::string error;
    Standing now = look_(question);
    for (int i = 0; i < kMostReplacements && !now.questions.empty() && error.empty(); ++i) {
      error = slack_.replace(url, now.questions, now.may_cancel);
      // Settled while it was on its way, another question of the ask may have been edited in
      // before, and now be gone again.
      const auto shown = count_settled(now.questions);
      now = look_(question);
      if (count_settled(now.questions) == shown) break;
    }
    return error;
  });
}

void SlackDesk::open_form(const SlackInteraction& interaction, const Question& question) {
  send([this, interaction, question] {
    std::string error =
        slack_.open_form(interaction.trigger_id, question, interaction.click.options);
    if (!error.empty()) {
      slack_.tell(interaction.response_url, "The form could not be opened: please try again.");
    }
    return error;
  });
}

void SlackDesk::send(std::function<std::string()> errand) {
  const bool queued = errands_.submit([this, errand = std::move(errand)] {
    if (leaving_) return;
    std::string error;
    try {
      error = errand();
    } catch (const std::exception& e) {
      error = e.what();
    }
    if (!error.empty()) log(Level::warning, "slack_notice_failed", {{"error", error}});
  });
  if (!queued) log(Level::warning, "slack_notice_failed", {{"error", "too many are waiting"}});
}

}  // namespace holdpoint
