#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "store/database.h"

namespace holdpoint {

struct PostgresOptions {
  std::string url;
  std::size_t connections = 16;
  // How long a start waits for a server that is not there yet.
  Duration start_patience{30'000};
  std::function<bool()> give_up;  // True: it need not wait any longer.
  // A transaction may take as long as it likes, and hold up others; for one that is alone.
  bool long_transactions = false;
  // After every commit that changed something.
  std::function<void()> on_commit;
};

// Any number of processes on one PostgreSQL. Each write is a transaction of its own on one of a
// pool of connections, run again when it loses against another. While the server is away every call
// fails soon, and works again once it is back. Throws StoreError, with what to do about it, if it
// cannot be used as it is, or is newer than this program.
//
// A commit whose answer was lost is found out afterwards: a transaction that changes something also
// raises its connection's number in `commit_marks`. Reading that row for update waits until the
// lost transaction is over, tells by the number whether it was committed, and keeps one that is
// still on its way from committing later.
std::unique_ptr<Database> open_postgres(PostgresOptions options);

// What is wrong with the URL; empty: nothing.
std::string check_postgres_url(const std::string& url);

}  // namespace holdpoint
