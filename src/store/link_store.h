#pragma once

#include <optional>
#include <string>

#include "store/database.h"

// The rows of answer_links. Each function is one step of the caller's transaction.
namespace holdpoint::link_store {

struct StoredLink {
  std::string token_hash;
  QuestionId question_id;
  SessionId session_id;
  std::string channel;
  std::string recipient;
  Time created_at;
};

void insert(Transaction& tx, const StoredLink& link);
std::optional<StoredLink> find(Transaction& tx, const std::string& token_hash);

}  // namespace holdpoint::link_store
