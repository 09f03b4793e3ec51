#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/database.h"

namespace holdpoint {

// What PostgreSQL, or the way to it, refused. `state` is the SQLSTATE; empty if the server never
// said one.
class PostgresError : public StoreError {
 public:
  enum class Kind {
    refused,  // The statement is wrong here, and will be again.
    later,    // The server cannot do it now: full, overloaded, starting.
    again,    // It lost against another transaction; the whole of it may run again at once.
    plans,    // A prepared statement is gone, as behind a pooler; run again without.
    lost,     // The connection is of no use any more.
  };
  PostgresError(Kind kind, std::string state, const std::string& what)
      : StoreError(what, kind != Kind::refused), kind_(kind), state_(std::move(state)) {}
  Kind kind() const { return kind_; }
  const std::string& state() const { return state_; }

 private:
  Kind kind_;
  std::string state_;
};

// One connection with its prepared statements. Statements travel in a pipeline: those nobody waits
// for are sent along with the next that somebody does. Belongs to one thread at a time.
class PostgresConnection final : public Transaction {
 public:
  struct Options {
    std::string url;
    std::chrono::milliseconds connect_patience{3000};
    std::chrono::milliseconds patience{10'000};  // For one answer of the server.
    const char* application = "holdpoint";
    // Its row in commit_marks, raised before the first change of each transaction; empty: none.
    std::string mark;
    bool prepare =
        true;  // False behind a pooler that hands a connection on after each transaction.
  };
  explicit PostgresConnection(Options options);
  ~PostgresConnection() override;
  PostgresConnection(const PostgresConnection&) = delete;

  // Sent with the first statement.
  void begin_write();
  void begin_read();
  // The server begins a transaction as a write wants it by itself, without being told how.
  void note_usual_begin() { usual_begin_ = true; }
  // One statement by itself; the next throws, unsent.
  void begin_single();
  struct SecondStatement {};
  void commit();
  // True once the commit was sent: an error from then on leaves it in doubt.
  bool commit_sent() const { return commit_sent_; }
  // Whether the transaction has changed something.
  bool has_written() const { return has_written_; }
  const std::string& mark() const { return options_.mark; }
  // How often its mark was raised by a transaction that is known to be committed.
  std::int64_t marked_commits() const { return marked_commits_; }
  // Not awaited: the next use of the connection reads the answer.
  void end_read();
  void roll_back();

  std::int64_t run(std::string_view sql, std::span<const Param> params,
                   const RowVisitor* visit) override;
  void run_later(std::string_view sql, std::span<const Param> params) override;

  // Waits up to `longest` for something to read here or at `other`; then hands on what came by
  // NOTIFY.
  void hear(int other, std::chrono::milliseconds longest,
            const std::function<void(std::string_view)>& on_text);

  // Outside of a transaction, and not prepared.
  void execute_plainly(const std::string& sql);
  std::string escape_name(const std::string& name);

 private:
  enum class What { begin, prepare, statement, end };
  struct Sent {
    What what;
    std::string name;  // Of what is prepared.
  };
  struct Prepared {
    std::string name;
    std::vector<Oid> types;
    bool there = false;  // The server has said so, or is about to.
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };

  void connect();
  void begin(const char* text);
  void raise_mark();
  void send(std::string_view sql, std::span<const Param> params);
  void send_text(const char* sql, What what);
  void note_sent(What what, std::string name = {});
  // Reads the answers to all that was sent. The last statement's rows go to `visit`, its count
  // comes back.
  std::int64_t read_answers(const RowVisitor* visit);
  PGresult* next_result();
  void wait_for_answer();
  [[noreturn]] void fail(const PGresult* result);
  [[noreturn]] void fail_lost(const std::string& why = {});

  const Options options_;
  PGconn* connection_ = nullptr;
  std::unordered_map<std::string, Prepared, Hash, std::equal_to<>> prepared_;
  std::deque<Sent> sent_;
  const char* begin_ = nullptr;  // Not sent yet.
  bool in_transaction_ = false;
  enum class Single { no, first, over } single_ = Single::no;
  bool commit_sent_ = false;
  std::string ended_as_;  // What the server called the last transaction's end.
  bool has_written_ = false;
  bool usual_begin_ = false;
  bool marked_ = false;
  std::int64_t marked_commits_ = 0;
  bool behind_ = false;  // Answers that nobody waited for are still to be read.
};

}  // namespace holdpoint
