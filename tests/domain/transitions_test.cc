#include "domain/transitions.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

namespace holdpoint {
namespace {

template <class Status, std::size_t N>
std::set<std::pair<std::string, std::string>> moves(const std::array<Status, N>& all) {
  std::set<std::pair<std::string, std::string>> legal;
  for (const auto from : all) {
    for (const auto to : all) {
      if (may_move(from, to)) legal.emplace(to_text(from), to_text(to));
    }
  }
  return legal;
}

TEST_CASE("a session moves as the table says, and in no other way") {
  CHECK(moves(kSessionStatuses) == std::set<std::pair<std::string, std::string>>{
                                       {"running", "pending_input"},
                                       {"running", "completed"},
                                       {"running", "failed"},
                                       {"running", "cancelled"},
                                       {"pending_input", "running"},
                                       {"pending_input", "completed"},  // An external agent's.
                                       {"pending_input", "failed"},
                                       {"pending_input", "cancelled"},
                                       {"failed", "running"},  // By retry.
                                   });
}

TEST_CASE("a question leaves pending once, and moves in no other way") {
  CHECK(moves(kQuestionStatuses) == std::set<std::pair<std::string, std::string>>{
                                        {"pending", "answered"},
                                        {"pending", "timed_out"},
                                        {"pending", "defaulted"},
                                        {"pending", "cancelled"},
                                    });
}

TEST_CASE("a session is finished when it neither runs nor waits") {
  CHECK_FALSE(is_finished(SessionStatus::running));
  CHECK_FALSE(is_finished(SessionStatus::pending_input));
  CHECK(is_finished(SessionStatus::completed));
  CHECK(is_finished(SessionStatus::failed));
  CHECK(is_finished(SessionStatus::cancelled));
}

TEST_CASE("a question is settled unless it is pending") {
  for (const auto status : kQuestionStatuses) {
    CHECK(is_settled(status) == (status != QuestionStatus::pending));
  }
}

TEST_CASE("every status reads back from its text, and nothing else does") {
  std::set<std::string_view> texts;
  for (const auto status : kSessionStatuses) {
    CHECK(session_status_from(to_text(status)) == status);
    texts.insert(to_text(status));
  }
  CHECK(texts ==
        std::set<std::string_view>{"running", "pending_input", "completed", "failed", "cancelled"});
  texts.clear();
  for (const auto status : kQuestionStatuses) {
    CHECK(question_status_from(to_text(status)) == status);
    texts.insert(to_text(status));
  }
  CHECK(texts ==
        std::set<std::string_view>{"pending", "answered", "timed_out", "defaulted", "cancelled"});
  for (const char* text : {"", "Running", "pending ", "answered"}) {
    CHECK_FALSE(session_status_from(text));
  }
  for (const char* text : {"", "Pending", "running", "timed out"}) {
    CHECK_FALSE(question_status_from(text));
  }
}

}  // namespace
}  // namespace holdpoint
