#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/database.h"

namespace holdpoint {

// One connection with its prepared statements. Belongs to one thread at a time.
class SqliteConnection final : public Transaction {
 public:
  enum class Mode { writer, reader };
  SqliteConnection(const std::string& path, Mode mode);
  ~SqliteConnection() override;
  SqliteConnection(const SqliteConnection&) = delete;

  std::int64_t run(std::string_view sql, std::span<const Param> params,
                   const RowVisitor* visit) override;
  void run_lock(std::string_view, std::span<const Param>) override {}  // Writers come one by one.

  // False after SQLite rolled the transaction back by itself, as it does when the disk is full.
  bool in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }
  bool last_error_was_sync() const;
  sqlite3* handle() { return db_; }

 private:
  struct Statement {
    sqlite3_stmt* handle = nullptr;
    std::vector<int> place;  // Where SQLite put $1, $2 …
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };

  Statement& prepare(std::string_view sql);
  void bind(const Statement& statement, std::span<const Param> params);
  [[noreturn]] void fail(std::string_view doing);

  sqlite3* db_ = nullptr;
  std::unordered_map<std::string, Statement, Hash, std::equal_to<>> statements_;
};

}  // namespace holdpoint
