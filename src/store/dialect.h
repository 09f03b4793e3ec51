#pragma once

#include <string>
#include <string_view>

// Every statement is written once, as PostgreSQL reads it. Where an engine must differ is here, and
// only here.
namespace holdpoint::dialect {

// Without the row locks at its end, which SQLite does not know: its one writer needs none.
std::string_view for_sqlite(std::string_view sql);

// A statement of schema.sql for PostgreSQL: texts compare by bytes as in SQLite, whatever the
// database's locale, and a column that numbers its rows says so.
std::string schema_for_postgres(std::string_view statement);

// After rows were copied with their numbers: the next event gets a higher one. SQLite does so by
// itself.
inline constexpr const char* kNumberEventsOnPostgres =
    "SELECT setval(pg_get_serial_sequence('agent_events', 'seq'), "
    "(SELECT COALESCE(MAX(seq), 0) + 1 FROM agent_events), false)";

// Numbers of transactions, PostgreSQL's only. This one's, higher than that of any that wrote
// before; and the lowest that is still open.
inline constexpr const char* kThisTransactionOnPostgres = "SELECT pg_current_xact_id()::text";
inline constexpr const char* kOldestTransactionOnPostgres =
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";

// For `store copy`, PostgreSQL's only: which database of which server this is; and this
// connection's process, how many others are as nodes make them but $1, and where they come from.
inline constexpr const char* kIdentityOnPostgres =
    "SELECT pg_postmaster_start_time()::text || ' ' || current_database() || ' ' || "
    "to_regclass('agent_sessions')::oid::text";
inline constexpr const char* kOtherNodesOnPostgres =
    "SELECT pg_backend_pid(), COUNT(*), COALESCE(string_agg(DISTINCT COALESCE(host(client_addr), "
    "'this machine'), ', '), '') FROM pg_stat_activity WHERE datname = current_database() AND "
    "application_name IN ('holdpoint', current_setting('application_name')) AND pid <> "
    "pg_backend_pid() AND pid <> $1";

}  // namespace holdpoint::dialect
