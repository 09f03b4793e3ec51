"""The audit log's chain as docs/security.md tells it, written a second time."""

import hashlib
import json
import sqlite3

COLUMNS = ("seq", "at", "actor", "credential", "address", "action", "subject", "detail")


def hash_of(before, row):
    """`row` begins with COLUMNS."""
    text = json.dumps([before, *row[:len(COLUMNS)]], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_chain(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return (db.execute(f"SELECT {', '.join(COLUMNS)}, hash FROM audit_log ORDER BY seq").fetchall(),
                db.execute("SELECT seq, hash FROM audit_head WHERE id = 1").fetchone())
    finally:
        db.close()


def broken_at(path):
    """What is wrong with the chain, or None."""
    found, head = read_chain(path)
    before = ""
    for number, row in enumerate(found, 1):
        if row[0] != number or row[-1] != hash_of(before, row):
            return f"row {number} of {len(found)}: {row}"
        before = row[-1]
    return None if head == (len(found), before) else f"the head is {head} after {len(found)} rows"


def rewrite(path, change):
    """Makes a whole new chain of change(rows), as somebody would who has the database for himself."""
    found, _ = read_chain(path)
    db = sqlite3.connect(path)
    try:
        db.execute("DELETE FROM audit_log")
        before = ""
        kept = change([list(row[:-1]) for row in found])
        for number, row in enumerate(kept, 1):
            row[0] = number
            before = hash_of(before, row)
            db.execute("INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, before))
        db.execute("UPDATE audit_head SET seq = ?, hash = ?", (len(kept), before))
        db.commit()
    finally:
        db.close()
