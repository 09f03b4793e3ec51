#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/ids.h"
#include "base/time.h"

namespace holdpoint {

// The database could not do what it was asked. Nothing of the transaction is there, unless
// `in_doubt`.
class StoreError : public std::runtime_error {
 public:
  StoreError(const std::string& what, bool retryable, bool in_doubt = false)
      : std::runtime_error(what), retryable_(retryable), in_doubt_(in_doubt) {}
  // The same call may succeed later.
  bool retryable() const { return retryable_; }
  // The commit may have happened all the same.
  bool in_doubt() const { return in_doubt_; }

 private:
  bool retryable_;
  bool in_doubt_;
};

// Another process has the database for itself.
class DatabaseInUse : public StoreError {
 public:
  explicit DatabaseInUse(const std::string& what) : StoreError(what, false) {}
};

// A value for `$1`, `$2` … of a statement.
class Param {
 public:
  using Value = std::variant<std::nullptr_t, std::int64_t, std::string_view, std::string>;
  // PostgreSQL wants to know what a null is of. `any`: whatever the column holds, given as text.
  enum class Type { text, integer, any };

  Param(std::int64_t v) : value_(v), type_(Type::integer) {}
  Param(int v) : Param(static_cast<std::int64_t>(v)) {}
  Param(bool v) : Param(static_cast<std::int64_t>(v)) {}
  Param(std::string_view v) : value_(v) {}
  Param(const std::string& v) : value_(std::string_view(v)) {}
  Param(const char* v) : value_(std::string_view(v)) {}
  Param(Time v) : value_(to_iso(v)) {}
  template <class Tag>
  Param(const Id<Tag>& v) : value_(std::string_view(v.text())) {}
  template <class T>
  Param(const std::optional<T>& v) : Param(v ? Param(*v) : null_of<T>()) {}
  static Param any(std::optional<std::string_view> text) {
    return text ? Param(Value(*text), Type::any) : Param(Value(nullptr), Type::any);
  }

  const Value& value() const { return value_; }
  Type type() const { return type_; }

 private:
  Param(Value value, Type type) : value_(std::move(value)), type_(type) {}
  template <class T>
  static Param null_of() {
    return {Value(nullptr), std::is_integral_v<T> ? Type::integer : Type::text};
  }

  Value value_;
  Type type_ = Type::text;
};

// One row of a result; valid only while the visitor runs.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual std::string_view text(int column) const = 0;

  std::string string(int column) const { return std::string(text(column)); }
  std::optional<std::string> optional_string(int column) const {
    return is_null(column) ? std::nullopt : std::optional(string(column));
  }
  Time time(int column) const;
  std::optional<Time> optional_time(int column) const {
    return is_null(column) ? std::nullopt : std::optional(time(column));
  }
};
using RowVisitor = std::function<void(const Row&)>;

// What the function given to write or read works with; valid only while that function runs, and
// only in its thread.
class Transaction {
 public:
  virtual ~Transaction() = default;

  // The number of rows changed.
  template <class... Args>
  std::int64_t execute(std::string_view sql, const Args&... args) {
    const std::array<Param, sizeof...(Args)> params{Param(args)...};
    return run(sql, params, nullptr);
  }
  template <class... Args>
  void query(std::string_view sql, const RowVisitor& visit, const Args&... args) {
    const std::array<Param, sizeof...(Args)> params{Param(args)...};
    run(sql, params, &visit);
  }

  // Like execute, for a change whose row count nobody asks for: it need not have happened on
  // return, and what goes wrong may come out with a later statement or the commit.
  template <class... Args>
  void post(std::string_view sql, const Args&... args) {
    const std::array<Param, sizeof...(Args)> params{Param(args)...};
    run_later(sql, params);
  }
  // Has the rows that the query finds to itself until the transaction ends. Not awaited either.
  template <class... Args>
  void lock(std::string_view sql, const Args&... args) {
    const std::array<Param, sizeof...(Args)> params{Param(args)...};
    run_lock(sql, params);
  }

  // Statements are prepared once a connection and text: pass literals, never texts made up of
  // values.
  virtual std::int64_t run(std::string_view sql, std::span<const Param> params,
                           const RowVisitor* visit) = 0;
  virtual void run_later(std::string_view sql, std::span<const Param> params) {
    run(sql, params, nullptr);
  }
  virtual void run_lock(std::string_view sql, std::span<const Param> params) {
    run_later(sql, params);
  }
};

// Word among the processes that share a database: quick, and never stored. What is lost must be
// found by looking. Safe to share between threads.
class Bulletin {
 public:
  virtual ~Bulletin() = default;
  // To every process that listens, this one too; a text has at most kMaxText bytes. Throws
  // StoreError.
  static constexpr std::size_t kMaxText = 7900;
  virtual void post(std::span<const std::string> texts) = 0;
  // Calls `on_text` for every text that comes, in this thread, until `stop` is called.
  virtual void listen(const std::function<void(std::string_view text)>& on_text) = 0;
  virtual void stop() = 0;
  // Whether texts come through; not so while the connection is lost, or behind a pooler that keeps
  // them.
  virtual bool is_open() const = 0;
};

// The seam to durable state. Safe to share between threads. Writes that run side by side see each
// other's rows as they commit, so a step that decides by what it reads locks it first.
class Database {
 public:
  virtual ~Database() = default;

  // Runs `use` in a transaction and returns once it is on disk. When `use` throws, nothing of it is
  // kept and the exception comes out here; when the commit fails, StoreError does. `use` may run
  // more than once, so it must not have effects outside the transaction but through its return
  // value.
  template <class F>
  auto write(F&& use) -> std::invoke_result_t<F&, Transaction&> {
    return call(use, &Database::do_write);
  }

  // Runs `use` on a consistent snapshot; more than once, too, if need be.
  template <class F>
  auto read(F&& use) -> std::invoke_result_t<F&, Transaction&> {
    return call(use, &Database::do_read);
  }

  // Whether the last commit succeeded; readiness hangs on it. May try one to find out.
  virtual bool healthy() = 0;

  // The time that all who share the database go by.
  virtual const Clock& clock() const = 0;
  // How to reach the other processes on this database; nothing: there can be none.
  virtual Bulletin* bulletin() { return nullptr; }

 protected:
  using Job = std::function<void(Transaction&)>;
  virtual void do_write(const Job& job) = 0;
  virtual void do_read(const Job& job) = 0;

 private:
  template <class F, class Do>
  auto call(F& use, Do run) -> std::invoke_result_t<F&, Transaction&> {
    using Result = std::invoke_result_t<F&, Transaction&>;
    if constexpr (std::is_void_v<Result>) {
      (this->*run)([&](Transaction& tx) { use(tx); });
    } else {
      std::optional<Result> result;
      (this->*run)([&](Transaction& tx) { result.emplace(use(tx)); });
      return std::move(*result);
    }
  }
};

}  // namespace holdpoint
