#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cli/typed_keys.h"
#include "wire/json.h"

// What the person at `holdpoint inbox` sees and does, without a terminal and without a server.
namespace holdpoint::cli {

// What a key leads to outside.
struct SendAnswer {
  std::string session, question;
  std::vector<std::string> values;
};
struct CancelSession {
  std::string session, question;
};
struct LookAgain {};
struct Quit {};
using Effect = std::variant<std::monostate, SendAnswer, CancelSession, LookAgain, Quit>;

class InboxDesk {
 public:
  struct Row {      // NOLINT(bugprone-exception-escape): moving a Json checks its invariant.
    Json question;  // As the API shows it.
    std::vector<bool> picks;  // One for each option.
    // A row that is not open takes no keys, and stays until the person moves on: the key that was
    // meant for it must not answer the one that would take its place.
    enum class State { open, sending, over } state = State::open;
    std::string outcome;  // Once it is not open, for people.

    std::string text(const char* member) const;
    std::size_t options() const { return question.at("options").size(); }
    bool multi() const { return question.at("multi_select").get<bool>(); }
    bool takes_own_words() const { return question.at("allow_other").get<bool>(); }
  };
  // Reading, typing an own answer, typing the number of one of many options, or asked whether to
  // cancel.
  enum class Mode { reading, typing, numbering, confirming };

  Effect press(const Key& key, Time now);

  // What is pending now. The id of a question that has gone while it was looked at: `tell` then
  // says what became of it.
  std::optional<std::string> refresh(std::vector<Json> pending, bool more, Time now);
  void tell(const Json& settled);

  // What came of an answer or a cancel.
  void succeed(const std::string& question, const std::string& outcome);
  void refuse(const std::string& question, const std::string& reason);

  const std::vector<Row>& rows() const { return rows_; }
  std::size_t selected() const { return selected_; }
  const Row* current() const { return rows_.empty() ? nullptr : &rows_[selected_]; }
  std::size_t count_open() const;
  std::size_t count_unsent() const;
  Mode mode() const { return mode_; }
  const std::string& draft() const { return draft_; }
  const std::string& notice() const { return notice_; }
  bool has_more() const { return more_; }
  bool is_known() const { return known_; }
  // By how many screens' halves the person has scrolled down in the question.
  std::size_t scroll() const { return scroll_; }

 private:
  // A question that shows up by itself under a waiting finger takes no answer for a moment.
  static constexpr Duration kMoment{500};

  Row* find(const std::string& id);
  Effect press_reading(const Key& key, Time now);
  Effect press_character(char c, Time now);
  Effect press_draft(const Key& key);
  void move(bool down);
  void type_into(Mode mode);
  Effect pick(std::size_t option);
  Effect send(std::vector<std::string> own);
  Effect quit();
  std::size_t count(Row::State state) const;
  bool refuses_keys(Time now);

  std::vector<Row> rows_;
  std::size_t selected_ = 0;
  std::size_t scroll_ = 0;
  Mode mode_ = Mode::reading;
  std::string draft_, notice_;
  bool more_ = false, known_ = false, warned_ = false;
  Time taken_from_{};
};

}  // namespace holdpoint::cli
