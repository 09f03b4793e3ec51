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

  Param(std::nullptr_t) : value_(nullptr) {}
  Param(std::int64_t v) : value_(v) {}
  Param(int v) : value_(static_cast<std::int64_t>(v)) {}
  Param(bool v) : value_(static_cast<std::int64_t>(v)) {}
  Param(std::string_view v) : value_(v) {}
  Param(const std::string& v) : value_(std::string_view(v)) {}
  Param(const char* v) : value_(std::string_view(v)) {}
  Param(Time v) : value_(to_iso(v)) {}
  template <class Tag>
  Param(const Id<Tag>& v) : value_(std::string_view(v.text())) {}
  template <class T>
  Param(const std::optional<T>& v) : Param(v ? Param(*v) : Param(nullptr)) {}

  const Value& value() const { return value_; }

 private:
  Value value_;
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

  // Statements are prepared once a connection and text: pass literals, never texts made up of
  // values.
  virtual std::int64_t run(std::string_view sql, std::span<const Param> params,
                           const RowVisitor* visit) = 0;
};

// The seam to durable state. Safe to share between threads.
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

  // Runs `use` on a consistent snapshot.
  template <class F>
  auto read(F&& use) -> std::invoke_result_t<F&, Transaction&> {
    return call(use, &Database::do_read);
  }

  // Whether the last commit succeeded; readiness hangs on it. May try one to find out.
  virtual bool healthy() = 0;

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
