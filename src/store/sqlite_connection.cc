#include "store/sqlite_connection.h"

#include "store/dialect.h"

namespace holdpoint {
namespace {

class SqliteRow final : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const override {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_, column);
  }
  std::string_view text(int column) const override {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return {bytes ? bytes : "", static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_;
};

// Puts a statement back into its reusable state however its use ends.
class Reset {
 public:
  explicit Reset(sqlite3_stmt* statement) : statement_(statement) {}
  ~Reset() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Reset(const Reset&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

SqliteConnection::SqliteConnection(const std::string& path, Mode mode) {
  const int flags =
      SQLITE_OPEN_NOMUTEX |
      (mode == Mode::writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
    const std::string why = db_ ? sqlite3_errmsg(db_) : "out of memory";
    sqlite3_close(db_);
    throw StoreError("cannot open the database " + path + ": " + why, false);
  }
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, 5000);
  try {
    if (mode == Mode::writer) {
      execute("PRAGMA journal_mode=WAL");
      execute("PRAGMA synchronous=FULL");
      execute("PRAGMA foreign_keys=ON");
      // What a burst left behind is cut off when the log starts over.
      execute("PRAGMA journal_size_limit=16777216");
    } else {
      sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
    // The writer checkpoints when it sees fit, never inside somebody's commit.
    sqlite3_wal_autocheckpoint(db_, 0);
    execute("PRAGMA temp_store=MEMORY");
    execute("PRAGMA cache_size=-8000");
  } catch (...) {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement.handle);
    sqlite3_close(db_);
    throw;
  }
}

SqliteConnection::~SqliteConnection() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement.handle);
  sqlite3_close(db_);
}

std::int64_t SqliteConnection::run(std::string_view sql, std::span<const Param> params,
                                   const RowVisitor* visit) {
  Statement& statement = prepare(sql);
  const Reset reset(statement.handle);
  bind(statement, params);
  const SqliteRow row(statement.handle);
  while (true) {
    const int code = sqlite3_step(statement.handle);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) fail(sql);
    if (visit) (*visit)(row);
  }
  return sqlite3_changes64(db_);
}

SqliteConnection::Statement& SqliteConnection::prepare(std::string_view sql) {
  if (const auto it = statements_.find(sql); it != statements_.end()) return it->second;
  Statement statement;
  const std::string_view text = dialect::for_sqlite(sql);
  if (sqlite3_prepare_v3(db_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement.handle, nullptr) != SQLITE_OK) {
    fail(sql);
  }
  // SQLite numbers named parameters by first appearance; ours are numbered by name.
  const int count = sqlite3_bind_parameter_count(statement.handle);
  for (int n = 1; n <= count; ++n) {
    const std::string name = "$" + std::to_string(n);
    statement.place.push_back(sqlite3_bind_parameter_index(statement.handle, name.c_str()));
  }
  return statements_.emplace(std::string(sql), std::move(statement)).first->second;
}

void SqliteConnection::bind(const Statement& statement, std::span<const Param> params) {
  if (params.size() != statement.place.size()) {
    throw std::logic_error("a statement takes " + std::to_string(statement.place.size()) +
                           " values and got " + std::to_string(params.size()) + ": " +
                           sqlite3_sql(statement.handle));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const int at = statement.place[i];
    const auto text = [&](std::string_view v) {
      // The caller's values outlive the step, so SQLite need not copy them.
      return sqlite3_bind_text64(statement.handle, at, v.data() ? v.data() : "", v.size(),
                                 SQLITE_STATIC, SQLITE_UTF8);
    };
    const auto& value = params[i].value();
    int code = SQLITE_OK;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      code = sqlite3_bind_int64(statement.handle, at, *number);
    } else if (const auto* view = std::get_if<std::string_view>(&value)) {
      code = text(*view);
    } else if (const auto* owned = std::get_if<std::string>(&value)) {
      code = text(*owned);
    } else {
      code = sqlite3_bind_null(statement.handle, at);
    }
    if (code != SQLITE_OK) fail("binding a value");
  }
}

bool SqliteConnection::last_error_was_sync() const {
  const int code = sqlite3_extended_errcode(db_);
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

void SqliteConnection::fail(std::string_view doing) {
  const int code = sqlite3_errcode(db_) & 0xff;
  const bool retryable = code == SQLITE_BUSY || code == SQLITE_FULL || code == SQLITE_IOERR ||
                         code == SQLITE_LOCKED || code == SQLITE_NOMEM || code == SQLITE_CANTOPEN ||
                         code == SQLITE_READONLY;
  throw StoreError(
      std::string(sqlite3_errmsg(db_)) + " (while: " + std::string(doing.substr(0, 80)) + ")",
      retryable);
}

}  // namespace holdpoint
