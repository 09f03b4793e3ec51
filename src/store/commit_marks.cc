#include "store/commit_marks.h"

#include <limits>

namespace holdpoint::commit_marks {

void insert(Transaction& tx, const std::string& connection, Time now) {
  tx.post("INSERT INTO commit_marks (connection, number, last, made_at) VALUES ($1, 0, $2, $3)",
          connection, std::numeric_limits<std::int64_t>::max(), now);
}

std::optional<std::int64_t> close(Transaction& tx, const std::string& connection) {
  std::optional<std::int64_t> number;
  tx.query(
      "UPDATE commit_marks SET last = number WHERE connection = $1 RETURNING number",
      [&](const Row& row) { number = row.integer(0); }, connection);
  return number;
}

void remove_older(Transaction& tx, Time before) {
  tx.post("DELETE FROM commit_marks WHERE made_at < $1", before);
}

}  // namespace holdpoint::commit_marks
