#include "ceilings.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "httplib_ceiling.h"
#include "interrupt.h"
#include "postgres_ceiling.h"
#include "socket.h"

namespace holdpoint::bench {
namespace {

constexpr long kRowBytes = 200;
constexpr std::size_t kSyncBytes = 4096;
constexpr long kSyncBlocks = 1000;

template <typename Step>
double rate_of(Seconds span, Step step) {
  const Instant start = now();
  const Instant end = after(span);
  long steps = 0;
  Instant at = start;
  for (; at < end; at = now()) {
    check_interrupt();
    step(steps++);
  }
  return static_cast<double>(steps) / Seconds(at - start).count();
}

void require(bool ok, sqlite3* db) {
  if (!ok) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(db));
}

void execute(sqlite3* db, const char* sql) {
  require(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, db);
}

double measure_commits(const std::filesystem::path& file, Seconds span) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(file.c_str(), &opened);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db(opened, sqlite3_close);
  require(status == SQLITE_OK, db.get());
  execute(db.get(), "PRAGMA journal_mode = WAL");
  execute(db.get(), "PRAGMA synchronous = FULL");
  execute(db.get(), "CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB NOT NULL)");

  sqlite3_stmt* prepared = nullptr;
  const int made = sqlite3_prepare_v2(db.get(), "INSERT INTO rows (body) VALUES (zeroblob(?))", -1,
                                      &prepared, nullptr);
  require(made == SQLITE_OK, db.get());
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> insert(prepared,
                                                                          sqlite3_finalize);
  sqlite3_bind_int64(insert.get(), 1, kRowBytes);
  return rate_of(span, [&](long) {
    require(sqlite3_step(insert.get()) == SQLITE_DONE, db.get());
    sqlite3_reset(insert.get());
  });
}

}  // namespace

Ceilings measure_ceilings(const std::filesystem::path& dir, Seconds span,
                          PostgresServer* postgres) {
  Ceilings ceilings;
  ceilings.httplib_requests_per_s = measure_httplib(span);
  ceilings.sqlite_commits_per_s = measure_commits(dir / "ceiling.db", span);
  ceilings.fdatasyncs_per_s = measure_syncs(dir / "ceiling.sync", span);
  if (postgres != nullptr)
    ceilings.postgres = {measure_transactions(*postgres, 1, span),
                         measure_transactions(*postgres, kCeilingPostgresConnections, span)};
  return ceilings;
}

double measure_syncs(const std::filesystem::path& path, Seconds span) {
  const Fd file(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) throw_errno("open " + path.string());
  const std::array<char, kSyncBytes> block{};
  return rate_of(span, [&](long step) {
    // Round and round in place, as a WAL is written between checkpoints: a file that only grows
    // would pay for its metadata with every sync.
    const auto at = static_cast<off_t>(step % kSyncBlocks) * static_cast<off_t>(block.size());
    if (pwrite(file.get(), block.data(), block.size(), at) != static_cast<ssize_t>(block.size()))
      throw_errno("pwrite");
    if (fdatasync(file.get()) != 0) throw_errno("fdatasync");
  });
}

}  // namespace holdpoint::bench
