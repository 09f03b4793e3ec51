#include "postgres_connection.h"

#include <libpq-fe.h>

#include <stdexcept>

namespace holdpoint::bench {
namespace {

constexpr const char* kStatement = "bench";

[[noreturn]] void fail(const PGconn* connection) {
  throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(connection));
}

}  // namespace

PostgresConnection::PostgresConnection(const std::string& url)
    : connection_(PQconnectdb(url.c_str()), PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) fail(connection_.get());
  // "relation … does not exist, skipping" is no news.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

void PostgresConnection::execute(const std::string& sql) {
  checked(PQexec(connection_.get(), sql.c_str()));
}

std::string PostgresConnection::value(const std::string& sql) {
  const Result result = checked(PQexec(connection_.get(), sql.c_str()));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void PostgresConnection::prepare(const std::string& sql) {
  checked(PQprepare(connection_.get(), kStatement, sql.c_str(), 1, nullptr));
}

void PostgresConnection::run_prepared(const std::string& parameter) {
  const char* values[] = {parameter.c_str()};
  checked(PQexecPrepared(connection_.get(), kStatement, 1, values, nullptr, nullptr, 0));
}

std::string PostgresConnection::where() const {
  return std::string(PQhost(connection_.get())) + ":" + PQport(connection_.get()) + "/" +
         PQdb(connection_.get());
}

PostgresConnection::Result PostgresConnection::checked(pg_result* raw) const {
  Result result(raw, PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(connection_.get());
  return result;
}

}  // namespace holdpoint::bench
