#pragma once

#include <optional>
#include <string>

#include "store/database.h"

// The rows of commit_marks; see postgres.h. Each function is one step of the caller's transaction.
namespace holdpoint::commit_marks {

// One more commit. Fails if it was found out already that this one did not happen. A text, as the
// connection sends it by itself.
inline constexpr const char* kRaise =
    "UPDATE commit_marks SET number = number + 1 WHERE connection = $1";

void insert(Transaction& tx, const std::string& connection, Time now);
// How many commits the connection has made, once all it began are over; there will be no more.
std::optional<std::int64_t> close(Transaction& tx, const std::string& connection);
void remove_older(Transaction& tx, Time before);

}  // namespace holdpoint::commit_marks
