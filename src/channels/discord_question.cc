#include "channels/discord_question.h"

#include <algorithm>
#include <vector>

#include "channels/discord_parts.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostButtons = 3;  // Of options; more are a select.
constexpr std::size_t kMostButtonLabel = 80;
constexpr std::size_t kGoodButtonLabel = 40;  // Longer ones are told beside it.
// Two questions with a section for each option stay under the 40 components that a message may
// have; more would not.
constexpr std::size_t kMostRoomy = 2;
constexpr std::size_t kLeastOptionText = 40;
constexpr const char* kRecommended = " (recommended)";

struct Look {
  std::int64_t colour;
  const char* label;
};
Look look_of(QuestionStatus status) {
  switch (status) {
    case QuestionStatus::pending:
      break;
    case QuestionStatus::answered:
      return {0x2d9d5f, "Answered"};
    case QuestionStatus::timed_out:
    case QuestionStatus::defaulted:
      return {0x8a919c, "Expired"};
    case QuestionStatus::cancelled:
      return {0xd9534f, "Cancelled"};
  }
  return {0x5865f2, "Waiting"};
}

bool is_wordy(const Option& option) {
  return !option.description.empty() ||
         discord_length(discord_option_label(option)) > kGoodButtonLabel;
}

// How a question's options are shown.
enum class Shape {
  none,      // It has none.
  row,       // A row of buttons.
  listed,    // The same, and what they mean in the text above.
  sections,  // What each means, and its button beside it.
  select,
  form,  // Told in the text, chosen in the form.
};
Shape shape_of(const QuestionSpec& spec, std::size_t count) {
  if (spec.options.empty()) return Shape::none;
  if (spec.multi_select) return Shape::form;
  if (spec.style == Style::select || spec.options.size() > kMostButtons) return Shape::select;
  if (!std::any_of(spec.options.begin(), spec.options.end(), is_wordy)) return Shape::row;
  return count <= kMostRoomy ? Shape::sections : Shape::listed;
}

class QuestionPart {
 public:
  QuestionPart(JsonWriter& out, const Question& question, std::size_t count, std::size_t room,
               const DiscordStyle& style)
      : out_(out),
        question_(question),
        spec_(question.spec),
        alone_(count == 1),
        room_(room),
        may_cancel_(style.may_cancel),
        shape_(shape_of(question.spec, count)),
        link_("\n" + discord_full_text_link(question, style)) {
    std::string heading;
    if (!alone_) heading = std::to_string(question.position + 1) + "/" + std::to_string(count);
    if (spec_.header && !spec_.header->empty()) {
      if (!alone_) heading += " · ";
      heading += discord_escape(discord_line(*spec_.header), 40).text;
    }
    if (!heading.empty()) heading_ = "**" + heading + "**\n";
    // An address that is longer would leave no room for what it leads to.
    if (discord_length(link_) > room / 3) link_.clear();
  }

  void write() {
    const Look look = look_of(question_.status);
    out_.begin_object().member("type", std::int64_t{discord::container});
    out_.member("accent_color", look.colour).key("components").begin_array();
    if (is_settled(question_.status)) {
      write_settled(look);
    } else {
      write_pending();
    }
    out_.end_array().end_object();
  }

 private:
  // The question in what is left of the room once `used` is spent on the rest.
  std::string prompt(std::size_t used, bool cut) const {
    const std::size_t fixed = used + discord_length(heading_) + discord_length(link_);
    const auto text = discord_escape(spec_.question, room_ - std::min(room_, fixed));
    return heading_ + text.text + (text.cut || cut ? link_ : "");
  }

  void write_settled(const Look& look) {
    const auto line = discord_escape(settled_line(question_), room_ / 2);
    write_discord_text(out_, prompt(discord_length(line.text), line.cut));
    write_discord_text(out_, line.text);
    const bool answered = question_.status == QuestionStatus::answered;
    begin_discord_row(out_);
    write_discord_button(out_, answered ? discord::success : discord::secondary, look.label,
                         discord_id(question_.id, "d"), true);
    end_discord_row(out_);
  }

  void write_pending() {
    const auto options = option_texts();
    const auto context = alone_ ? discord_context(question_.context, room_ / 4) : DiscordText{};
    const std::string asked = alone_ ? "-# Asked by " +
                                           discord_escape(question_.agent_name, 100).text + " · " +
                                           discord_deadline(question_)
                                     : "";
    bool cut = context.cut || (shape_ == Shape::select && discord_select_cuts(spec_));
    std::size_t used = discord_length(context.text) + discord_length(asked);
    std::string list;
    for (const auto& option : options) {
      cut = cut || option.cut;
      used += discord_length(option.text) + 1;
      list += "\n" + option.text;
    }
    // What the form alone tells is not told in full.
    cut = cut || (shape_ == Shape::form && options.empty());
    write_discord_text(out_, prompt(used, cut) + (shape_ == Shape::sections ? "" : list));
    if (!context.text.empty()) write_discord_text(out_, context.text);
    if (shape_ == Shape::sections) write_sections(options);
    if (shape_ == Shape::select) write_select();
    write_row();
    if (alone_) write_discord_text(out_, asked);
  }

  // What each option means, where the message tells it.
  std::vector<DiscordText> option_texts() const {
    std::vector<DiscordText> texts;
    if (shape_ != Shape::listed && shape_ != Shape::sections && shape_ != Shape::form) return texts;
    const std::size_t most = room_ / 2 / spec_.options.size();
    if (most < kLeastOptionText) return texts;
    for (std::size_t i = 0; i < spec_.options.size(); ++i) {
      const Option& option = spec_.options[i];
      const std::string extra = option.recommended ? kRecommended : "";
      const std::size_t room = most - extra.size() - std::string_view("****: \n").size();
      const auto name = discord_label(discord_option_label(option), room, discord_option_number(i));
      const auto label = discord_escape(name.text, option.description.empty() ? room : room / 2);
      DiscordText text{"**" + label.text + "**" + extra, name.cut || label.cut};
      if (!option.description.empty()) {
        const auto description =
            discord_escape(discord_line(option.description), room - discord_length(label.text));
        text.text += (shape_ == Shape::sections ? "\n" : ": ") + description.text;
        text.cut = text.cut || description.cut;
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  void write_option_button(std::size_t place) {
    const Option& option = spec_.options[place];
    const std::string extra = option.recommended && shape_ == Shape::row ? kRecommended : "";
    const auto label = discord_label(discord_option_label(option), kMostButtonLabel - extra.size(),
                                     discord_option_number(place));
    write_discord_button(out_, option.recommended ? discord::primary : discord::secondary,
                         label.text + extra,
                         discord_id(question_.id, "o:" + std::to_string(place)));
  }

  void write_sections(const std::vector<DiscordText>& texts) {
    out_.begin_object().member("type", std::int64_t{discord::separator}).end_object();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      out_.begin_object().member("type", std::int64_t{discord::section});
      out_.key("components").begin_array();
      write_discord_text(out_, texts[i].text);
      out_.end_array().key("accessory");
      write_option_button(i);
      out_.end_object();
    }
  }

  void write_select() {
    begin_discord_row(out_);
    out_.begin_object().member("type", std::int64_t{discord::select});
    out_.member("custom_id", discord_id(question_.id, "s")).member("placeholder", "Choose one…");
    out_.key("options");
    write_discord_options(out_, spec_);
    out_.end_object();
    end_discord_row(out_);
  }

  // The options, where they are buttons in a row; then what opens the form, and Cancel.
  void write_row() {
    const bool options = shape_ == Shape::row || shape_ == Shape::listed;
    const bool form = spec_.allow_other || shape_ == Shape::form;
    const bool cancel = alone_ && may_cancel_;
    if (!options && !form && !cancel) return;
    begin_discord_row(out_);
    for (std::size_t i = 0; options && i < spec_.options.size(); ++i) write_option_button(i);
    if (form) {
      const bool only = shape_ == Shape::none || shape_ == Shape::form;
      const char* label = shape_ == Shape::none   ? "Answer…"
                          : shape_ == Shape::form ? "Choose…"
                                                  : "Other…";
      write_discord_button(out_, only ? discord::primary : discord::secondary, label,
                           discord_id(question_.id, "f"));
    }
    if (cancel) {
      write_discord_button(out_, discord::secondary, "Cancel", discord_id(question_.id, "c"));
    }
    end_discord_row(out_);
  }

  JsonWriter& out_;
  const Question& question_;
  const QuestionSpec& spec_;
  const bool alone_;
  const std::size_t room_;
  const bool may_cancel_;
  const Shape shape_;
  std::string heading_;
  std::string link_;
};

}  // namespace

void write_discord_question(JsonWriter& out, const Question& question, std::size_t count,
                            std::size_t room, const DiscordStyle& style) {
  QuestionPart(out, question, count, room, style).write();
}

DiscordText discord_context(const std::string& context, std::size_t most) {
  // In the agent's own order.
  const auto object = try_ordered_json(context);
  DiscordText out;
  if (!object.is_object()) return out;
  for (const auto& [name, value] : object.items()) {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto shown_name = discord_escape(discord_line(name), 40);
    const auto shown_value = discord_escape(discord_line(text), 240);
    std::string line = out.text.empty() ? "-# " : "\n-# ";
    line += shown_name.text + ": " + shown_value.text;
    out.cut = out.cut || shown_name.cut || shown_value.cut;
    if (discord_length(out.text) + discord_length(line) > most) {
      out.cut = true;
      break;
    }
    out.text += line;
  }
  return out;
}

std::string discord_deadline(const Question& question) {
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(question.deadline_at).time_since_epoch().count();
  const std::string unix_time = std::to_string(seconds);
  return "answer by <t:" + unix_time + ":f> (<t:" + unix_time + ":R>)";
}

std::string discord_full_text_link(const Question& question, const DiscordStyle& style) {
  return "-# Shortened. [Read it in full](<" + style.public_url + "/question/" +
         question.id.text() + ">)";
}

}  // namespace holdpoint
