#pragma once

#include <cstddef>

#include "base/time.h"

namespace holdpoint {

// Bounds on what callers and agents may send. main fills them from [limits] and [questions].
struct Limits {
  std::size_t max_questions = 4;
  std::size_t max_options = 5;
  std::size_t max_question_chars = 4000;
  std::size_t max_header_chars = 12;
  std::size_t max_title_chars = 150;  // Of a card.
  std::size_t max_label_chars = 200;
  std::size_t max_answer_chars = 10000;
  std::size_t max_channels = 10;  // That an ask adds.
  std::size_t max_context_bytes = 65536;
  std::size_t max_state_bytes = 1 << 20;
  std::size_t max_result_bytes = 1 << 20;
  std::size_t max_messages = 1000;
  std::size_t max_messages_chars = 4 << 20;  // Waiting for one session, in all.
  std::chrono::seconds max_timeout{86400};
};

}  // namespace holdpoint
