#include "postgres_schema.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>

namespace holdpoint::bench {
namespace {

std::string next_name() {
  static int made = 0;
  return "holdpoint_bench_" + std::to_string(getpid()) + "_" + std::to_string(++made);
}

}  // namespace

PostgresSchema::PostgresSchema(PostgresServer& server) : server_(server), name_(next_name()) {
  server_.connection().execute("CREATE SCHEMA " + name_);
}

PostgresSchema::~PostgresSchema() {
  try {
    // A node that was killed may hold its locks until PostgreSQL has noticed.
    server_.connection().execute("SET lock_timeout = '10s'");
    server_.connection().execute("DROP SCHEMA " + name_ + " CASCADE");
  } catch (const std::exception& error) {
    std::cerr << "the schema " << name_ << " was left behind: " << error.what() << '\n';
  }
}

std::string PostgresSchema::url() const {
  const std::string& url = server_.url();
  return url + (url.find('?') == std::string::npos ? "?" : "&") + "options=-csearch_path%3D" +
         name_;
}

double PostgresSchema::bytes() const {
  return std::strtod(server_.connection()
                         .value("SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                                "WHERE relkind = 'r' AND relnamespace = '" +
                                name_ + "'::regnamespace")
                         .c_str(),
                     nullptr);
}

}  // namespace holdpoint::bench
