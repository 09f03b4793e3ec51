"""The audit log's chain as docs/security.md tells it, written a second time."""

import hashlib
import json

from tables import edit, linked

COLUMNS = ("seq", "at", "actor", "credential", "address", "action", "subject", "detail")


def hash_of(before, row):
    """`row` begins with COLUMNS."""
    text = json.dumps([before, *row[:len(COLUMNS)]], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_chain(server):
    """(rows with their hashes, (number, hash) of the head), of one moment."""
    linked(server)
    found, head = server.database.at_once(f"SELECT {', '.join(COLUMNS)}, hash FROM audit_log ORDER BY seq",
                                          "SELECT seq, hash FROM audit_head WHERE id = 1")
    return found, head[0] if head else None


def broken_at(server):
    """What is wrong with the chain, or None."""
    found, head = read_chain(server)
    before = ""
    for number, row in enumerate(found, 1):
        if row[0] != number or row[-1] != hash_of(before, row):
            return f"row {number} of {len(found)}: {row}"
        before = row[-1]
    return None if head == (len(found), before) else f"the head is {head} after {len(found)} rows"


def rewrite(server, change):
    """Makes a whole new chain of change(rows), as somebody would who has the database for himself."""
    found, _ = read_chain(server)
    before, inserts = "", []
    kept = change([list(row[:-1]) for row in found])
    for number, row in enumerate(kept, 1):
        row[0] = number
        before = hash_of(before, row)
        inserts.append(("INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, before)))
    edit(server, "DELETE FROM audit_log", *inserts, ("UPDATE audit_head SET seq = ?, hash = ?", (len(kept), before)))
