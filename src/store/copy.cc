#include "store/copy.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "store/dialect.h"
#include "store/sqlite_connection.h"

namespace holdpoint {
namespace {

// PostgreSQL hands over a whole page at once: so few rows that all of them fit into memory easily.
constexpr std::int64_t kFirstRows = 16, kMostRows = 1000;
constexpr std::size_t kPageBytes = 4 * 1024 * 1024;

// An error of the target on its way through the source's transaction, which must not take it for
// its own and run again.
struct TargetFailed {
  std::exception_ptr error;
};

class Target final : public Transaction {
 public:
  explicit Target(Transaction& real) : real_(real) {}
  std::int64_t run(std::string_view sql, std::span<const Param> params,
                   const RowVisitor* visit) override {
    return guarded([&] { return real_.run(sql, params, visit); });
  }
  void run_later(std::string_view sql, std::span<const Param> params) override {
    guarded([&] { real_.run_later(sql, params); });
  }

 private:
  template <class F>
  auto guarded(F use) -> decltype(use()) {
    try {
      return use();
    } catch (const StoreError&) {
      throw TargetFailed{std::current_exception()};
    }
  }
  Transaction& real_;
};

std::string list(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string places(std::size_t count) {
  std::string text;
  for (std::size_t n = 1; n <= count; ++n) {
    text.append(n == 1 ? "$" : ", $").append(std::to_string(n));
  }
  return text;
}

// Reads a table in the order of its key, a page at a time.
class Pages {
 public:
  Pages(Transaction& tx, const StoreTable& table) : tx_(tx), table_(table) {
    const std::string select = "SELECT " + list(table.columns) + " FROM " + std::string(table.name);
    const std::string order = " ORDER BY " + list(table.key) + " LIMIT $";
    const std::size_t keys = table.key.size();
    first_ = select + order + "1";
    next_ = select + " WHERE (" + list(table.key) + ") > (" + places(keys) + ")" + order +
            std::to_string(keys + 1);
    for (const auto key : table.key) {
      key_columns_.push_back(static_cast<int>(
          std::find(table.columns.begin(), table.columns.end(), key) - table.columns.begin()));
    }
  }

  // False once there are no more rows.
  bool read(const RowVisitor& visit) {
    if (over_) return false;
    std::vector<Param> params;
    for (const auto& value : last_key_) params.push_back(Param::any(value));
    params.emplace_back(limit_);
    std::int64_t rows = 0;
    std::size_t bytes = 0;
    std::vector<std::string> key;
    const RowVisitor look = [&](const Row& row) {
      ++rows;
      for (int i = 0; i < static_cast<int>(table_.columns.size()); ++i) bytes += row.text(i).size();
      key.clear();
      for (const int column : key_columns_) key.push_back(key_part(row, column));
      visit(row);
    };
    tx_.run(last_key_.empty() ? first_ : next_, params, &look);
    over_ = rows < limit_;
    last_key_ = std::move(key);
    if (bytes > kPageBytes) limit_ = std::max<std::int64_t>(1, limit_ / 2);
    if (bytes < kPageBytes / 2) limit_ = std::min(kMostRows, limit_ * 2);
    return true;
  }

 private:
  std::string key_part(const Row& row, int column) const {
    // SQLite lets it happen, and no page could begin after it.
    if (row.is_null(column)) {
      throw CopyError("a row of " + std::string(table_.name) + " has no " +
                      std::string(table_.columns[static_cast<std::size_t>(column)]));
    }
    return row.string(column);
  }

  Transaction& tx_;
  const StoreTable& table_;
  std::string first_, next_;
  std::vector<int> key_columns_;
  std::vector<std::string> last_key_;
  std::int64_t limit_ = kFirstRows;
  bool over_ = false;
};

class Copy {
 public:
  Copy(Transaction& source, Transaction& target, const CopyOptions& options)
      : source_(source), target_(target), options_(options) {}

  void copy(const StoreTable& table) {
    const std::string insert = "INSERT INTO " + std::string(table.name) + " (" +
                               list(table.columns) + ") VALUES (" + places(table.columns.size()) +
                               ")";
    std::int64_t rows = 0;
    std::size_t unread = 0;
    const RowVisitor send = [&](const Row& row) {
      ++rows;
      std::vector<Param> values;
      values.reserve(table.columns.size());
      for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
        values.push_back(Param::any(row.is_null(i) ? std::nullopt : std::optional(row.text(i))));
        unread += row.text(i).size();
      }
      // What is sent waits in memory until the target has taken it.
      if (unread < kPageBytes) {
        target_.run_later(insert, values);
      } else {
        target_.run(insert, values, nullptr);
        unread = 0;
      }
    };
    Pages pages(source_, table);
    while (pages.read(send)) note("copying", table, rows);
    target_.query("SELECT 1", [](const Row&) {});  // What went wrong comes out here.
  }

  CopiedTable compare(const StoreTable& table) {
    const CopiedTable here = sum(source_, table), there = sum(target_, table);
    if (here == there) return here;
    const auto say = [](const CopiedTable& one) {
      return std::to_string(one.rows) + " rows with checksum " + one.checksum.substr(0, 12);
    };
    throw CopyError(std::string(table.name) + " is not the same on both sides: " + say(here) +
                    " in the source, " + say(there) +
                    " in the target\n  Does anything else write to one of them, or a trigger "
                    "change rows? Look for that, then copy again");
  }

 private:
  CopiedTable sum(Transaction& tx, const StoreTable& table) {
    CopiedTable sum{std::string(table.name), 0, options_.hash("")};
    std::string text;
    const RowVisitor add = [&](const Row& row) {
      ++sum.rows;
      text = sum.checksum;
      for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
        if (row.is_null(i)) {
          text += '-';
          continue;
        }
        const std::string_view value = row.text(i);
        text.append(std::to_string(value.size())).append(":").append(value);
      }
      sum.checksum = options_.hash(text);
    };
    Pages pages(tx, table);
    while (pages.read(add)) note("checking", table, sum.rows);
    return sum;
  }

  void note(std::string_view doing, const StoreTable& table, std::int64_t rows) const {
    if (options_.on_progress) options_.on_progress(doing, table.name, rows);
  }

  Transaction& source_;
  Transaction& target_;
  const CopyOptions& options_;
};

// The row that a new database has in audit_head is none that was written.
void check_empty(Transaction& target) {
  constexpr std::int64_t kEnough = 1000;  // Counting a large table takes long.
  std::string found;
  for (const auto& table : store_tables()) {
    const std::string sql = "SELECT COUNT(*) FROM (SELECT 1 FROM " + std::string(table.name) +
                            (table.name == "audit_head" ? " WHERE seq <> 0" : "") + " LIMIT " +
                            std::to_string(kEnough) + ") AS found";
    target.query(sql, [&](const Row& row) {
      const std::int64_t rows = row.integer(0);
      if (rows == 0) return;
      found.append(found.empty() ? "" : ", ").append(table.name).append(" has ");
      found.append(std::to_string(rows)).append(rows == kEnough ? " rows or more" : "");
      if (rows < kEnough) found.append(rows == 1 ? " row" : " rows");
    });
  }
  if (found.empty()) return;
  throw CopyError("the target is not empty: " + found +
                  "\n  Name a database or file that is new, and start no server on it before the "
                  "copy is done");
}

std::vector<CopiedTable> copy_all(Database& source, Transaction& tx, const CopyOptions& options,
                                  std::string_view& at) {
  Target target(tx);
  std::vector<CopiedTable> copied;
  bool begun = false;
  const auto copy_from = [&](Transaction& snapshot) {
    copied.clear();
    // A source may begin anew, as after a fault; what it gave before must go.
    target.execute(std::exchange(begun, true) ? "ROLLBACK TO SAVEPOINT begin_of_copy"
                                              : "SAVEPOINT begin_of_copy");
    target.execute("DELETE FROM audit_head");
    Copy copy(snapshot, target, options);
    for (const auto& table : store_tables()) {
      at = table.name;
      copy.copy(table);
    }
    if (options.to_postgres) target.query(dialect::kNumberEventsOnPostgres, [](const Row&) {});
    for (const auto& table : store_tables()) {
      at = table.name;
      copied.push_back(copy.compare(table));
    }
  };
  try {
    source.read(copy_from);
  } catch (const TargetFailed& failed) {
    std::rethrow_exception(failed.error);
  } catch (const StoreError& e) {
    throw CopyError("the source failed at " + std::string(at) + ": " + e.what());
  }
  return copied;
}

}  // namespace

const std::vector<StoreTable>& store_tables() {
  static const std::vector<StoreTable> kTables{
      {"agent_sessions",
       {"id",
        "agent_name",
        "status",
        "original_payload",
        "execution_state",
        "created_at",
        "updated_at",
        "completed_at",
        "parent_id",
        "idempotency_key",
        "result",
        "error",
        "questions_asked",
        "turn",
        "turn_reason",
        "attempts",
        "refusals",
        "resume",
        "due_at",
        "lease_number",
        "leased_by",
        "spawned_by",
        "spawn_call",
        "model_steps",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "cost_micros",
        "dedupe_key"},
       {"id"}},
      {"agent_questions",
       {"id",           "session_id",   "agent_name",  "question",
        "context",      "answer",       "answered_at", "created_at",
        "ask",          "position",     "header",      "options",
        "multi_select", "allow_other",  "style",       "default_choice",
        "on_timeout",   "tool_call_id", "deadline_at", "status",
        "selected",     "answer_text",  "answered_by", "answered_via",
        "settled_at",   "channels"},
       {"id"}},
      {"agent_messages", {"id", "session_id", "body", "created_at", "turn"}, {"id"}},
      {"joined_asks",
       {"agent_name", "idempotency_key", "session_id"},
       {"agent_name", "idempotency_key"}},
      {"agent_events", {"seq", "session_id", "type", "at", "data"}, {"seq"}},
      {"deliveries",
       {"id",           "session_id",      "question_id", "agent_name",  "channel",
        "event",        "destination",     "host",        "body",        "status",
        "attempts",     "next_attempt_at", "last_status", "last_error",  "created_at",
        "delivered_at", "link_for",        "ask",         "message_ref", "follows"},
       {"id"}},
      {"disabled_destinations", {"destination", "disabled_at", "reason"}, {"destination"}},
      {"api_keys",
       {"id", "name", "secret_hash", "scopes", "created_at", "expires_at", "revoked_at",
        "last_used_at", "last_used_from"},
       {"id"}},
      {"users",
       {"name", "role", "password_hash", "created_at", "removed_at", "last_login_at"},
       {"name"}},
      {"logins", {"token_hash", "user_name", "created_at", "expires_at"}, {"token_hash"}},
      {"answer_links",
       {"token_hash", "question_id", "session_id", "channel", "recipient", "created_at"},
       {"token_hash"}},
      {"webhook_receipts",
       {"agent_name", "signature_hash", "webhook_id", "body_hash", "received_at"},
       {"agent_name", "signature_hash"}},
      {"mail_receipts", {"mail_hash", "received_at"}, {"mail_hash"}},
      {"audit_log",
       {"seq", "at", "actor", "credential", "address", "action", "subject", "detail", "hash"},
       {"seq"}},
      {"audit_head", {"id", "seq", "hash"}, {"id"}},
      {"audit_pending",
       {"id", "at", "actor", "credential", "address", "action", "subject", "detail"},
       {"id"}},
      {"server_secrets", {"name", "value"}, {"name"}},
  };
  return kTables;
}

std::vector<CopiedTable> copy_store(Database& source, Database& target,
                                    const CopyOptions& options) {
  std::string_view at = "the start";
  try {
    // The source is read within the target's transaction, so that a second try copies a snapshot of
    // its own from the beginning.
    return target.write([&](Transaction& tx) {
      check_empty(tx);
      return copy_all(source, tx, options, at);
    });
  } catch (const StoreError& e) {
    if (e.in_doubt()) {
      throw CopyError(std::string(e.what()) +
                          "\n  Both sides were found to be the same before. Run this again: if it "
                          "says that the target is not empty, the copy is there, and whole",
                      true);
    }
    throw CopyError("the target failed at " + std::string(at) + ": " + e.what());
  }
}

bool is_store_file(const std::string& path) {
  SqliteConnection connection(path, SqliteConnection::Mode::reader);
  bool found = false;
  connection.query(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
      [&](const Row&) { found = true; });
  return found;
}

std::string postgres_identity(Database& postgres) {
  return postgres.read([](Transaction& tx) {
    std::string identity;
    tx.query(dialect::kIdentityOnPostgres, [&](const Row& row) { identity = row.string(0); });
    return identity;
  });
}

ConnectedNodes connected_nodes(Database& postgres, std::int64_t known) {
  return postgres.read([&](Transaction& tx) {
    ConnectedNodes nodes;
    tx.query(
        dialect::kOtherNodesOnPostgres,
        [&](const Row& row) {
          nodes = {row.integer(0), row.integer(1), row.string(2)};
        },
        known);
    return nodes;
  });
}

}  // namespace holdpoint
