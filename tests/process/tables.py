"""What a server's tables hold, beside the server or after it, and what a step changed in them."""

from datetime import datetime, timezone

from client import check, wait_until

# Written by the clock, not by the request that is looked at.
PASSING = {"api_keys": {"last_used_at", "last_used_from"}}
# The engines' own notes about commits, and which processes run.
PROBES = {"commit_probe", "commit_marks", "nodes"}


_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


def seconds_of(text):
    """A time as it is stored, in seconds since 1970."""
    return datetime.strptime(text, _TIME).replace(tzinfo=timezone.utc).timestamp()


def time_text(seconds):
    """To the millisecond, as it is stored."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime(_TIME)[:-4] + "Z"


def rows(server, sql, *values):
    return server.database.rows(sql, *values)


def look(server, sql, *values):
    """Rows as dicts."""
    return server.database.dicts(sql, *values)


def edit(server, *statements):
    """Changes a stopped server's database; how many rows the last statement changed."""
    check(not server.alive(), "the server runs")
    return server.database.execute(*statements)


def pending_audit(server):
    """Rows that are written, and wait for their place in the chain."""
    if "audit_pending" not in server.database.tables():
        return []
    return look(server, "SELECT * FROM audit_pending ORDER BY id")


def linked(server):
    """Until a running server has put all rows of the audit log into its chain, which it does shortly after each change. What waits
    beside a stopped one, as after a kill or a command, is there all the same, and stays as it is until the next start.
    A server's `auditor` has it done at once, by reading the log."""
    if server.alive() and server.auditor:
        server.auditor.get("/agent/audit", limit=1).expect(200)
    if server.alive():
        wait_until(lambda: not server.alive() or not pending_audit(server), "audit_pending is empty", deadline=5)


def dump(server):
    """{table: the rows, sorted} of all tables, of one moment in which nothing waits for its place in the audit log."""
    linked(server)
    found = {table: sorted((tuple(value for name, value in row.items() if name not in PASSING.get(table, ())) for row in rows),
                           key=repr)
             for table, rows in server.database.snapshot(but=PROBES).items()}
    check({"agent_sessions", "agent_questions", "deliveries", "audit_log"} <= found.keys(), f"only {list(found)}")
    return found


def audit(server, after=0):
    """The rows of the audit log, as dicts; those without a number yet, beside a stopped server, come last."""
    linked(server)
    waiting = [] if server.alive() else pending_audit(server)
    return look(server, "SELECT * FROM audit_log WHERE seq > ? ORDER BY seq", after) + waiting


def difference(before, after):
    """What changed, for a message; empty if nothing did."""
    return {table: {"gone": [row for row in before[table] if row not in after[table]],
                    "new": [row for row in after[table] if row not in before[table]]}
            for table in before if before[table] != after[table]}
