"""Looks into the database beside the running server, read-only."""

import sqlite3

# Everything but the note of when a key was last used, and the row that probes the disk.
BUSINESS = ("agent_sessions", "agent_questions", "agent_messages", "agent_events", "deliveries", "disabled_destinations",
            "answer_links", "webhook_receipts", "api_keys", "users", "logins", "audit_log", "audit_head", "server_secrets")
PASSING = {"api_keys": {"last_used_at", "last_used_from"}}


def rows(server, sql, *parameters):
    db = sqlite3.connect(f"file:{server.database_path}?mode=ro", uri=True)
    try:
        return db.execute(sql, parameters).fetchall()
    finally:
        db.close()


def dump(server):
    """Every value of every business table, in the order of the rows, as one snapshot."""
    db = sqlite3.connect(f"file:{server.database_path}?mode=ro", uri=True)
    try:
        db.execute("BEGIN")
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        known = set(BUSINESS) | {"commit_probe"}
        unknown = {name for name in tables if name not in known and not name.startswith(("sqlite_", "schema_"))}
        if unknown or set(BUSINESS) - tables:
            raise AssertionError(f"tables this dump does not know: {unknown}, or that are gone: {set(BUSINESS) - tables}")
        found = {}
        for table in BUSINESS:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            kept = [name for name in names if name not in PASSING.get(table, ())]
            found[table] = db.execute(f"SELECT rowid, {', '.join(kept)} FROM {table} ORDER BY rowid").fetchall()
        return found
    finally:
        db.close()


def difference(before, after):
    """What changed, for a message; empty if nothing did."""
    return {table: {"gone": [row for row in before[table] if row not in after[table]],
                    "new": [row for row in after[table] if row not in before[table]]}
            for table in before if before[table] != after[table]}


def edit(server, *statements):
    """Changes a stopped server's database."""
    db = sqlite3.connect(server.database_path)
    try:
        for statement in statements:
            db.execute(*((statement,) if isinstance(statement, str) else statement))
        db.commit()
    finally:
        db.close()
