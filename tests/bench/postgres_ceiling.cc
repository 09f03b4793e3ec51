#include "postgres_ceiling.h"

#include <deque>
#include <future>
#include <string>
#include <vector>

#include "interrupt.h"
#include "postgres_schema.h"

namespace holdpoint::bench {
namespace {

constexpr std::size_t kRowBytes = 200;  // as in the ceiling of SQLite

long insert_rows(PostgresConnection& connection, Instant end) {
  const std::string body(kRowBytes, 'x');
  long rows = 0;
  while (true) {
    connection.run_prepared(body);
    if (now() >= end) return rows;
    ++rows;
  }
}

}  // namespace

double measure_transactions(PostgresServer& server, int connections, Seconds span) {
  const PostgresSchema schema(server);
  std::deque<PostgresConnection> each;
  for (int i = 0; i < connections; ++i) each.emplace_back(schema.url());
  each.front().execute(
      "CREATE TABLE rows (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body TEXT NOT NULL)");
  for (PostgresConnection& connection : each)
    connection.prepare("INSERT INTO rows (body) VALUES ($1)");

  const Instant end = after(span);
  std::vector<std::future<long>> counts;
  for (PostgresConnection& connection : each)
    counts.push_back(std::async(std::launch::async, insert_rows, std::ref(connection), end));
  long rows = 0;
  for (std::future<long>& count : counts) rows += count.get();
  check_interrupt();
  return static_cast<double>(rows) / span.count();
}

}  // namespace holdpoint::bench
