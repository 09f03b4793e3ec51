#include "store/link_store.h"

namespace holdpoint::link_store {

void insert(Transaction& tx, const StoredLink& link) {
  tx.post(
      "INSERT INTO answer_links (token_hash, question_id, session_id, channel, recipient, "
      "created_at) VALUES ($1, $2, $3, $4, $5, $6)",
      link.token_hash, link.question_id, link.session_id, link.channel, link.recipient,
      link.created_at);
}

std::optional<StoredLink> find(Transaction& tx, const std::string& token_hash) {
  std::optional<StoredLink> found;
  tx.query(
      "SELECT token_hash, question_id, session_id, channel, recipient, created_at FROM "
      "answer_links WHERE token_hash = $1",
      [&](const Row& row) {
        found = StoredLink{row.string(0),
                           QuestionId(row.string(1)),
                           SessionId(row.string(2)),
                           row.string(3),
                           row.string(4),
                           row.time(5)};
      },
      token_hash);
  return found;
}

}  // namespace holdpoint::link_store
