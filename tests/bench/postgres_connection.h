#pragma once

#include <memory>
#include <string>

struct pg_conn;
struct pg_result;

namespace holdpoint::bench {

// One blocking connection to PostgreSQL, for one thread at a time. What goes wrong throws
// std::runtime_error with the server's words.
class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& url);

  void execute(const std::string& sql);
  // The first column of the first row as text; empty for NULL, or for no row.
  std::string value(const std::string& sql);

  // A statement with one parameter, to be run again and again.
  void prepare(const std::string& sql);
  void run_prepared(const std::string& parameter);

  // "127.0.0.1:5433/name": the URL without what may be secret.
  std::string where() const;

 private:
  using Result = std::unique_ptr<pg_result, void (*)(pg_result*)>;
  Result checked(pg_result* raw) const;

  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace holdpoint::bench
