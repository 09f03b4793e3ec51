#pragma once

#include <string>

#include "store/database_clock.h"
#include "store/postgres_connection.h"

namespace holdpoint {

// Reads the clock of the server behind a new connection, and makes its commits wait for the disk.
void greet_postgres(PostgresConnection& connection, DatabaseClock& clock);

// Waits for the server until `give_up` says so, checks that it can be used, and brings the schema
// up to date; one process at a time does so. Throws StoreError with what to do about it.
void prepare_postgres(const std::string& url, Duration patience,
                      const std::function<bool()>& give_up, DatabaseClock& clock);

}  // namespace holdpoint
