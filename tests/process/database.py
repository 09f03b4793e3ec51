"""Looks into a server's database, or changes it behind its back, whichever engine it is on.

Statements are in the SQL that both engines understand, with ? for values; what they do not share is in the two classes.
"""

import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from client import check

# Set to the URL of a PostgreSQL server, it is the engine of every case that does not say otherwise.
POSTGRES = os.environ.get("HOLDPOINT_TEST_POSTGRES") or None
ENGINE = "postgres" if POSTGRES else "sqlite"


def open_database(url, folder):
    """Of the server whose settings say `url`, with `folder` as its working directory; nothing where no engine is named."""
    kind, _, rest = url.partition(":")
    if kind == "sqlite":
        return Sqlite(folder / rest)
    return Postgres(url) if kind in ("postgres", "postgresql") else None


def fresh_url():
    """A database that nobody has used: on PostgreSQL a new schema."""
    return new_schema(POSTGRES) if POSTGRES else "sqlite:holdpoint.db"


def split(statement):
    return (statement, ()) if isinstance(statement, str) else statement


class Database:
    """Each call is a transaction of its own, and sees one moment."""

    def rows(self, sql, *values):
        """As tuples."""
        return [tuple(value for _, value in row) for row in self.read((sql, values))[0]]

    def dicts(self, sql, *values):
        return [dict(row) for row in self.read((sql, values))[0]]

    def at_once(self, *statements):
        """The rows of each query, all of one moment."""
        return [[tuple(value for _, value in row) for row in found] for found in self.read(*statements)]

    def snapshot(self, but=()):
        """{table: [{column: value}, …]} of all tables except those in `but`, of one moment."""
        names = [name for name in self.tables() if name not in but]
        found = self.read(*(f"SELECT * FROM {name}" for name in names))
        return {name: [dict(row) for row in rows] for name, rows in zip(names, found)}


class Sqlite(Database):
    """Reads beside the running server; only a stopped one's may be changed, as it must be the only writer."""
    engine = "sqlite"

    def __init__(self, path):
        self.path = path

    def tables(self):
        return [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                if not name.startswith("sqlite_")]

    def read(self, *statements):
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            connection.execute("BEGIN")
            found = []
            for sql, values in map(split, statements):
                cursor = connection.execute(sql, values)
                names = [name for name, *_ in cursor.description]
                found.append([list(zip(names, row)) for row in cursor])
            return found

    def execute(self, *statements):
        """How many rows the last one changed."""
        changed = 0
        with closing(sqlite3.connect(self.path)) as connection, connection:
            for statement in statements:
                changed = connection.execute(*split(statement)).rowcount
        return changed

    def forbid_inserts(self, table):
        self.execute(f"CREATE TRIGGER no_inserts BEFORE INSERT ON {table} "
                     "BEGIN SELECT RAISE(ABORT, 'the disk is full of ink'); END")

    def allow_inserts(self, table):
        self.execute("DROP TRIGGER no_inserts")

    def keep(self, scratch):
        """What restore() needs to bring all rows back; `scratch` is a folder for it."""
        kept = scratch / "kept.db"
        self._copy(self.path, kept)
        return kept

    def restore(self, kept):
        self._copy(kept, self.path)

    def _copy(self, source, target):
        check(not source.with_name(source.name + "-wal").exists(), "a server that was not stopped left a -wal file")
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(source, target)

    def damage(self, scratch):
        """What `PRAGMA integrity_check` finds in a copy of the files as the last process left them; nothing if they are sound."""
        folder = scratch / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for suffix in ("", "-wal"):
            source = self.path.with_name(self.path.name + suffix)
            if source.exists():
                shutil.copy(source, folder / source.name)
        with closing(sqlite3.connect(folder / self.path.name)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def contents(self):
        """All it holds, as {place: bytes}, to search for what must not be there."""
        return {path.name: path.read_bytes() for path in self.path.parent.glob(self.path.name + "*")}

    def close(self):
        pass


# Debian's `psql` is a script that looks for the newest one.
PSQL = max(map(str, Path("/usr/lib/postgresql").glob("*/bin/psql")), default="psql")


class Psql:
    """One connection, kept by a psql process: there is no driver in Python's own library."""

    def __init__(self, url):
        self.url, self.lock, self.process = url, threading.Lock(), None

    def run(self, script):
        """The lines that it prints. A connection that is gone is made anew, once."""
        with self.lock:
            for attempt in (1, 2):
                if self.process is None:
                    self._start()
                try:
                    return self._exchange(script)
                except ConnectionError:
                    if attempt == 2:
                        raise

    def _start(self):
        own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # Not in the terminal's process group: Ctrl-C is for the tests, which then clean up by it.
        self.process = subprocess.Popen(
            [PSQL, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=terse", self.url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            env={**own, "PGCLIENTENCODING": "UTF8"}, start_new_session=True)
        self._exchange("SET client_min_messages = error; SET lock_timeout = '20s';")

    def _exchange(self, script):
        try:
            return self._send(script)
        except BaseException:
            self._stop()  # What is left of its output must not be taken for the next one's.
            raise

    def _send(self, script):
        lines = []
        try:
            self.process.stdin.write(script + "\n\\echo end of output\n")
            self.process.stdin.flush()
        except OSError:
            pass  # It has ended, and says why.
        for line in self.process.stdout:
            if line == "end of output\n":
                return lines
            lines.append(line.rstrip("\n"))
        code = self.process.wait()
        said = "\n".join(lines[-5:])
        if code == 3:  # A statement was refused.
            raise AssertionError(f"psql: {said}\nfor {script[:1000]}")
        raise ConnectionError(f"psql ended with {code}: {said}")

    def _stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
            self.process = None

    def close(self):
        with self.lock:
            self._stop()


_numbers = itertools.count(1)
_makers = {}


def maker(url):
    """The connection that makes and drops the schemas of this process (a fork has its own)."""
    return _makers.setdefault((os.getpid(), url), Psql(url))


def new_schema(url):
    name = f"case_{os.getpid()}_{next(_numbers)}"
    maker(url).run(f"DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name};")
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name}', safe='')}"


def drop_schemas(*names):
    """What a killed server's connections are still at ends by itself, but may be in the way for a moment."""
    for attempt in range(5):
        try:
            maker(POSTGRES).run(f"DROP SCHEMA IF EXISTS {', '.join(names)} CASCADE;")
            return
        except AssertionError as error:
            if attempt == 4 or "deadlock detected" not in str(error):
                raise


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return str(value)
    check(isinstance(value, str) and "\0" not in value, f"PostgreSQL has no text like {value!r}")
    return "'" + value.replace("'", "''") + "'"


def filled(sql, values):
    parts = sql.split("?")
    check(len(parts) == len(values) + 1, f"{len(values)} values for {sql}")
    return "".join(itertools.chain.from_iterable(itertools.zip_longest(parts, map(literal, values), fillvalue="")))


class Postgres(Database):
    engine = "postgres"
    path = None

    def __init__(self, url):
        self.url, self.psql = url, Psql(url)

    def tables(self):
        return [name for (name,) in self.rows(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1")]

    def read(self, *statements):
        # As JSON, a row to a line, in which no line break can stand; a name may come twice in a row.
        queries = [f"SELECT row_to_json(q) FROM ({filled(*split(statement))}) q;\n\\echo" for statement in statements]
        lines = iter(self.psql.run("\n".join(["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;", *queries, "COMMIT;"])))
        return [[json.loads(line, object_pairs_hook=list) for line in itertools.takewhile(bool, lines)]
                for _ in statements]

    def execute(self, *statements):
        """How many rows the last one changed."""
        script = [filled(*split(statement)) + ";" for statement in statements]
        return int(self.psql.run("\n".join(["BEGIN;", *script, "\\echo :ROW_COUNT", "COMMIT;"]))[-1])

    def forbid_inserts(self, table):
        self.psql.run("CREATE FUNCTION no_inserts() RETURNS trigger LANGUAGE plpgsql AS "
                      "$$ BEGIN RAISE EXCEPTION 'the disk is full of ink'; END $$; "
                      f"CREATE TRIGGER no_inserts BEFORE INSERT ON {table} EXECUTE FUNCTION no_inserts();")

    def allow_inserts(self, table):
        self.psql.run(f"DROP TRIGGER no_inserts ON {table}; DROP FUNCTION no_inserts();")

    def keep(self, scratch):
        """What restore() needs to bring all rows back."""
        tables = self.tables()
        [(schema,)] = self.rows("SELECT current_schema()")
        kept = f"{schema}_kept"
        copies = [f"CREATE TABLE {kept}.{name} AS TABLE {name};" for name in tables]
        self.psql.run("\n".join(["BEGIN;", f"CREATE SCHEMA {kept};", *copies, "COMMIT;"]))
        return kept, tables

    def restore(self, kept):
        schema, tables = kept
        refill = [f"DELETE FROM {name}; INSERT INTO {name} OVERRIDING SYSTEM VALUE TABLE {schema}.{name};" for name in tables]
        # As a replica does: references between tables are not looked at while half of the rows are back.
        self.psql.run("\n".join(["BEGIN;", "SET LOCAL session_replication_role = replica;", *refill, "COMMIT;"]))

    def damage(self, scratch):
        """What PostgreSQL's own check of tables and indexes finds; nothing if they are sound."""
        # One at a time: two sessions that create an extension at once disturb each other.
        self.psql.run("BEGIN; SELECT pg_advisory_xact_lock(20261116) \\g /dev/null\n"
                      "CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public; COMMIT;")
        heaps = self.rows("SELECT t.table_name, c.msg FROM information_schema.tables t, "
                          "public.verify_heapam(quote_ident(t.table_name)) c WHERE t.table_schema = current_schema()")
        # Raises by itself.
        self.rows("SELECT public.bt_index_check(c.oid::regclass, true)::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid "
                  "WHERE c.relnamespace = current_schema()::regnamespace")
        return [f"{table}: {problem}" for table, problem in heaps]

    def contents(self):
        """All it holds, as {place: bytes}, to search for what must not be there."""
        return {name: json.dumps(rows, ensure_ascii=False).encode() for name, rows in self.snapshot().items()}

    def close(self):
        """Drops its schema too, if it is one of ours."""
        self.psql.close()
        ours = re.search(r"search_path%3D(case_\w+)", self.url)
        if ours:
            drop_schemas(ours[1], f"{ours[1]}_kept")
