#include "cli/inbox_desk.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "domain/text.h"

namespace holdpoint::cli {
namespace {

constexpr std::size_t kDigits = 9;  // Options that have a key of their own.
constexpr std::size_t kLongestDraft = 10000;

void drop_last_character(std::string& text) {
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.back());
    text.pop_back();
    if ((c & 0xc0) != 0x80) return;
  }
}

std::string answer_text(const Json& answer) {
  if (answer.is_string()) return answer.get<std::string>();
  std::string text;
  for (const auto& one : answer) text += (text.empty() ? "" : ", ") + one.get<std::string>();
  return text;
}

}  // namespace

std::string InboxDesk::Row::text(const char* member) const {
  const auto it = question.find(member);
  return it != question.end() && it->is_string() ? it->get<std::string>() : "";
}

std::size_t InboxDesk::count(Row::State state) const {
  return static_cast<std::size_t>(std::count_if(
      rows_.begin(), rows_.end(), [&](const Row& row) { return row.state == state; }));
}

std::size_t InboxDesk::count_open() const { return count(Row::State::open); }

std::size_t InboxDesk::count_unsent() const { return count(Row::State::sending); }

InboxDesk::Row* InboxDesk::find(const std::string& id) {
  const auto it = std::find_if(rows_.begin(), rows_.end(),
                               [&](const Row& row) { return row.text("id") == id; });
  return it == rows_.end() ? nullptr : &*it;
}

std::optional<std::string> InboxDesk::refresh(std::vector<Json> pending, bool more, Time now) {
  const std::optional<std::string> looked_at =
      rows_.empty() ? std::nullopt : std::optional(rows_[selected_].text("id"));
  std::vector<Row> next;
  bool there = false;
  for (auto& question : pending) {
    Row row;
    row.question = std::move(question);
    row.picks.resize(row.options());
    const std::string id = row.text("id");
    if (const Row* before = find(id)) {
      row.picks = before->picks;
      row.state = before->state;
      row.outcome = before->outcome;
    }
    there = there || id == looked_at;
    next.push_back(std::move(row));
  }
  std::optional<std::string> gone;
  if (looked_at && !there) {
    Row row = std::move(rows_[selected_]);
    if (row.state == Row::State::open) {
      row.state = Row::State::over;
      row.outcome = "It is settled already.";
      gone = looked_at;
    }
    selected_ = std::min(selected_, next.size());
    next.insert(next.begin() + static_cast<std::ptrdiff_t>(selected_), std::move(row));
  }
  rows_ = std::move(next);
  if (looked_at && there) selected_ = static_cast<std::size_t>(find(*looked_at) - rows_.data());
  if (!looked_at) {
    selected_ = scroll_ = 0;
    if (known_) taken_from_ = now + kMoment;
  }
  more_ = more;
  known_ = true;
  return gone;
}

void InboxDesk::tell(const Json& settled) {
  Row* row = find(settled.value("id", ""));
  if (!row || row->state != Row::State::over) return;
  const std::string status = settled.value("status", "");
  const Json by = settled.value("answered_by", Json());
  if (status == "answered") {
    row->outcome = (by.is_string() ? by.get<std::string>() : std::string("Somebody")) +
                   " was first: " + answer_text(settled.value("answer", Json::array()));
  } else if (status != "pending") {
    row->outcome = status == "cancelled" ? "It was cancelled." : "It has timed out.";
  }
}

void InboxDesk::succeed(const std::string& question, const std::string& outcome) {
  Row* row = find(question);
  if (row) {
    row->state = Row::State::over;
    row->outcome = outcome;
  }
  if (std::exchange(warned_, false)) notice_.clear();
  if (!row || row != current()) notice_ = outcome;  // It is not looked at any more.
}

void InboxDesk::refuse(const std::string& question, const std::string& reason) {
  if (Row* row = find(question); row && row->state == Row::State::sending) {
    row->state = Row::State::open;
    row->outcome.clear();
  }
  notice_ = reason;
}

Effect InboxDesk::press(const Key& key, Time now) {
  notice_.clear();
  if (mode_ == Mode::typing || mode_ == Mode::numbering) return press_draft(key);
  if (mode_ == Mode::confirming) {
    mode_ = Mode::reading;
    if (key.text != "y" || refuses_keys(now)) return {};
    Row& row = rows_[selected_];
    row.state = Row::State::sending;
    row.outcome = "Cancelling …";
    return CancelSession{row.text("session_id"), row.text("id")};
  }
  return press_reading(key, now);
}

Effect InboxDesk::press_reading(const Key& key, Time now) {
  switch (key.kind) {
    case Key::Kind::up:
    case Key::Kind::down:
      move(key.kind == Key::Kind::down);
      return {};
    case Key::Kind::page_down:
      ++scroll_;
      return {};
    case Key::Kind::page_up:
      scroll_ -= scroll_ > 0 ? 1 : 0;
      return {};
    case Key::Kind::enter:
      if (current() && current()->state != Row::State::open) {
        move(true);
      } else if (current() && current()->multi() && !refuses_keys(now)) {
        return send({});
      }
      return {};
    case Key::Kind::character:
      return key.text.size() == 1 ? press_character(key.text.front(), now) : Effect{};
    default:
      return {};  // A paste too: what was copied somewhere answers nothing by accident.
  }
}

Effect InboxDesk::press_character(char c, Time now) {
  if (c == 'q') return quit();
  if (c == 'r') return LookAgain{};
  if (c == 'j' || c == 'k') move(c == 'j');
  if (c == ' ') ++scroll_;
  if (c == 'b' && scroll_ > 0) --scroll_;
  if (c == 't' || c == 'o') {
    if (refuses_keys(now)) return {};
    if (!current()->takes_own_words()) {
      notice_ = "Only its options answer this one.";
    } else {
      type_into(Mode::typing);
    }
  }
  if (c == 'c' && !refuses_keys(now)) mode_ = Mode::confirming;
  if (c < '0' || c > '9' || refuses_keys(now)) return {};
  if (current()->options() > kDigits) {
    type_into(Mode::numbering);
    draft_ = c;
    return {};
  }
  return c == '0' ? Effect{} : pick(static_cast<std::size_t>(c - '0'));
}

Effect InboxDesk::press_draft(const Key& key) {
  const bool numbers = mode_ == Mode::numbering;
  if (key.kind == Key::Kind::escape) mode_ = Mode::reading;
  if (key.kind == Key::Kind::backspace) drop_last_character(draft_);
  if (key.kind == Key::Kind::erase_line) draft_.clear();
  const bool text = key.kind == Key::Kind::character || (key.kind == Key::Kind::paste && !numbers);
  if (text && draft_.size() + key.text.size() <= kLongestDraft) {
    const bool digit = key.text.size() == 1 && key.text >= "0" && key.text <= "9";
    if (!numbers || (digit && draft_.size() < 3)) draft_ += key.text;
  }
  if (key.kind != Key::Kind::enter) return {};
  if (!current() || current()->state != Row::State::open) {
    notice_ = "It is settled already; nothing was sent. Esc leaves.";
    return {};
  }
  if (numbers) {
    mode_ = Mode::reading;
    std::size_t option = 0;
    std::from_chars(draft_.data(), draft_.data() + draft_.size(), option);
    return pick(option);
  }
  if (is_blank(draft_)) {
    notice_ = "Type an answer, or leave with Esc.";
    return {};
  }
  mode_ = Mode::reading;
  return send({draft_});
}

void InboxDesk::move(bool down) {
  if (rows_.empty()) return;
  // The one that is left takes its place with it, if it is over.
  const bool stays = rows_[selected_].state != Row::State::over;
  if (down && (stays ? selected_ + 1 < rows_.size() : true)) {
    selected_ += stays ? 1 : 0;
    if (!stays) rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(selected_));
  } else if (!down && (selected_ > 0 || !stays)) {
    if (!stays) rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(selected_));
    selected_ -= selected_ > 0 ? 1 : 0;
  }
  selected_ = rows_.empty() ? 0 : std::min(selected_, rows_.size() - 1);
  scroll_ = 0;
}

Effect InboxDesk::quit() {
  if (count_unsent() == 0 || warned_) return Quit{};
  warned_ = true;
  notice_ = "What you answered last has not been sent yet; q again quits all the same.";
  return {};
}

void InboxDesk::type_into(Mode mode) {
  mode_ = mode;
  draft_.clear();
}

bool InboxDesk::refuses_keys(Time now) {
  if (!current()) return true;
  if (current()->state != Row::State::open) {
    notice_ = "This one takes no more answers; ↓ goes on.";
    return true;
  }
  if (now >= taken_from_) return false;
  notice_ = "It has just come in: read it, and press again.";
  return true;
}

Effect InboxDesk::pick(std::size_t option) {
  Row& row = rows_[selected_];
  if (option < 1 || option > row.options()) {
    notice_ = row.options() == 0 ? "It has no options; t types an answer."
                                 : "It has " + std::to_string(row.options()) + " options.";
    return {};
  }
  if (!row.multi()) return send({row.question.at("options")[option - 1].get<std::string>()});
  row.picks[option - 1] = !row.picks[option - 1];
  return {};
}

Effect InboxDesk::send(std::vector<std::string> own) {
  Row& row = rows_[selected_];
  SendAnswer answer{row.text("session_id"), row.text("id"), {}};
  for (std::size_t i = 0; i < row.picks.size(); ++i) {
    if (row.picks[i]) answer.values.push_back(row.question.at("options")[i].get<std::string>());
  }
  for (auto& text : own) answer.values.push_back(std::move(text));
  if (answer.values.empty()) {
    notice_ = "Pick something first, or type t.";
    return {};
  }
  row.state = Row::State::sending;
  row.outcome = "Sending …";
  return answer;
}

}  // namespace holdpoint::cli
