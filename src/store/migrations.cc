#include "store/migrations.h"

#include <charconv>

#include "store/database.h"

namespace holdpoint {
namespace {

constexpr std::string_view kMarker = "-- migration ";

// Statements end in `;` at a line's end. Comments are dropped, so that they may hold any character.
std::vector<std::string> split_statements(std::string_view text) {
  std::vector<std::string> statements;
  std::string current;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find("--"));
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    if (line.empty()) continue;
    current.append(line).append("\n");
    if (line.back() == ';') statements.push_back(std::exchange(current, {}));
  }
  if (!current.empty()) throw StoreError("schema.sql: a statement does not end in ';'", false);
  return statements;
}

}  // namespace

std::vector<Migration> read_migrations(std::string_view schema) {
  std::vector<Migration> migrations;
  auto at = schema.find(kMarker);
  while (at != std::string_view::npos) {
    const auto line_end = schema.find('\n', at);
    std::string_view title = schema.substr(at + kMarker.size(), line_end - at - kMarker.size());
    std::int64_t number = 0;
    std::from_chars(title.data(), title.data() + title.size(), number);
    if (number != static_cast<std::int64_t>(migrations.size()) + 1) {
      throw StoreError("schema.sql: migrations must be numbered 1, 2, 3 …", false);
    }
    const auto colon = title.find(": ");
    const auto next = schema.find(kMarker, line_end);
    migrations.push_back(
        {number, std::string(colon == std::string_view::npos ? "" : title.substr(colon + 2)),
         split_statements(schema.substr(line_end + 1, next == std::string_view::npos
                                                          ? std::string_view::npos
                                                          : next - line_end - 1))});
    at = next;
  }
  return migrations;
}

std::int64_t migrate(Transaction& tx, const std::vector<Migration>& migrations, Time now) {
  tx.execute(
      "CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT "
      "NULL, "
      "applied_at TEXT NOT NULL)");
  std::int64_t have = 0;
  tx.query("SELECT COALESCE(MAX(number), 0) FROM schema_migrations",
           [&](const Row& row) { have = row.integer(0); });
  const auto known = static_cast<std::int64_t>(migrations.size());
  if (have > known) {
    throw StoreError("the database has schema " + std::to_string(have) +
                         ", newer than this program's " + std::to_string(known) +
                         "; start the newer holdpoint instead",
                     false);
  }
  for (const auto& migration : migrations) {
    if (migration.number <= have) continue;
    for (const auto& statement : migration.statements) tx.execute(statement);
    tx.execute("INSERT INTO schema_migrations (number, name, applied_at) VALUES ($1, $2, $3)",
               migration.number, migration.name, now);
  }
  return known - have;
}

}  // namespace holdpoint
