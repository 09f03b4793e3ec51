"""holdpoint store copy: a deployment moves to another database, and goes on there."""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
from functools import partial
from pathlib import Path

from client import check, equal, wait_until
from credentials import add_user, close_server, form, log_in, make_key, make_link, with_key
from harness import BINARY, HERE, case, clean_environment, command_agent, external_agent, http_agent
from pages import read_page

TABLES = ["agent_sessions", "agent_questions", "agent_messages", "joined_asks", "agent_events", "deliveries", "disabled_destinations",
          "api_keys", "users", "logins", "answer_links", "webhook_receipts", "mail_receipts", "audit_log", "audit_head", "audit_pending", "server_secrets"]
ON_FILE = "sqlite:holdpoint.db"
POEM = {"asks": [{"questions": [{"question": "What style?", "options": ["haiku", "sonnet"]}]}]}


def programs():
    """The caller's own PG… variables would lead PostgreSQL's programs elsewhere."""
    return {name: value for name, value in clean_environment().items() if not name.startswith("PG")}


copy_case = partial(case, engine="any", why="each case has both databases of its own")


class Postgres:
    """A private server of one case; each database() in it is new."""

    def __init__(self, world):
        # Not below the world's folder: only its owner may enter that, and the server runs as somebody else.
        home = Path(tempfile.mkdtemp(prefix="holdpoint-pg-"))
        home.chmod(0o755)
        world.closing(shutil.rmtree, home, True)
        self.folder = home / "server"
        world.closing(self.tool, "stop", "immediate")
        self.base = self.tool("start", "--fast")

    def tool(self, command, *options):
        done = subprocess.run([str(HERE.parents[1] / "tools/postgres"), command, str(self.folder), *options],
                              capture_output=True, text=True, timeout=120, env=programs())
        equal(done.returncode, 0, f"exit code of tools/postgres {command}: {done.stderr}")
        return done.stdout.strip()

    def database(self, name):
        query(self.base, f"CREATE DATABASE {name}")
        return self.base.rpartition("/")[0] + "/" + name


def query(url, statement):
    """What psql prints for it."""
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement, url],
                          capture_output=True, text=True, timeout=60, env=programs())
    equal(done.returncode, 0, f"exit code of {statement}: {done.stderr}")
    return done.stdout.strip()


@contextlib.contextmanager
def holding(url, statement):
    """A transaction of somebody else with the locks that the statement takes, for as long as the block runs."""
    with subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=programs()) as psql:
        psql.stdin.write(f"BEGIN;\n{statement};\n\\echo holding\n")
        psql.stdin.flush()
        equal(psql.stdout.readline(), "holding\n", f"psql at {statement}")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                psql.stdin.close()


def copy(source, target, *options, env=None, exit_code=0):
    done = subprocess.run([str(BINARY), "store", "copy", "--from", source, "--to", target, *options],
                          capture_output=True, text=True, timeout=90, env=clean_environment(env), stdin=subprocess.DEVNULL)
    equal(done.returncode, exit_code, f"exit code of the copy from {source} to {target}; {done.stdout} {done.stderr}")
    return done


def refused(source, target, *parts, exit_code=1, env=None):
    """What a copy that must fail says on standard error, with all these parts in it."""
    done = copy(source, target, exit_code=exit_code, env=env)
    equal(done.stdout, "", "standard output of a copy that failed")
    for part in parts:
        check(part in done.stderr, f"no {part!r} in: {done.stderr}")
    return done.stderr


def file_of(server):
    return f"sqlite:{server.folder / 'holdpoint.db'}"


def verify(url, *options):
    """The hash of the last row of the audit log of a database that no server has."""
    done = subprocess.run([str(BINARY), "audit", "verify", *options], capture_output=True, text=True, timeout=60,
                          env=clean_environment({"HOLDPOINT_DATABASE_URL": url}))
    check(done.returncode == 0 and "is whole" in done.stdout, f"verify of {url}: {done}")
    return done.stdout.split()[-1]


class Deployment:
    """A server on SQLite where one of everything waits, and what its callers hold."""

    def __init__(self, world):
        self.world, self.blocked, self.down = world, threading.Event(), True
        world.closing(self.blocked.set)
        self.receiver = world.receiver(lambda callback: 503 if self.down else 200)
        self.runner = world.http_agent(self._turn)
        self.agents = [command_agent("poet"), http_agent("slow", self.runner), external_agent("caller", question_callback=self.receiver.url)]
        self.server = self._server(ON_FILE)
        self.root = close_server(self.server)
        add_user(self.root, "ana", "answerer")
        self.cookie = log_in(self.server, "ana").headers
        self.asker = make_key(self.root, "questions:ask", "questions:read", name="asker")
        self.poem = self.root.trigger("poet", POEM, key="once")
        [self.style] = self.root.pending(self.poem)
        self.root.post(f"/agent/session/{self.poem}/message", {"message": "short, please"}).expect(202)
        asked = with_key(self.server, self.asker).ask({"question": "Ship it?", "options": ["yes", "no"]}, agent="caller")
        self.asked, self.ship = asked["session_id"], asked["questions"][0]["id"]
        self.link = make_link(self.root, self.ship, "bo@example.org")
        wait_until(lambda: [d for d in self.root.deliveries(session=self.asked) if d["attempts"] == 1 and d["last_error"]],
                   "a callback that was refused once")
        self.slow = self.root.trigger("slow")
        wait_until(lambda: self.runner.turns, "a turn that runs")
        self.events = self.root.events(self.poem)

    def _turn(self, turn):
        self.blocked.wait(60)
        return {"result": {"done": True}}

    def _server(self, url):
        return self.world.server({"database": {"url": url}, "agents": {"lease_seconds": 5}}, self.agents)

    def goes_on(self, url):
        """All that waited when the server was stopped ends well on that database."""
        self.blocked.set()
        self.down = False
        server = self._server(url)
        equal(server.client().get("/agent/sessions").status, 401, "who comes without a key")
        root = with_key(server, self.root.headers["Authorization"].split()[1])
        equal(root.trigger("poet", POEM, key="once"), self.poem, "the session of a key that was used before")
        equal(root.events(self.poem)[:len(self.events)], self.events, "the old events")

        person = with_key(server, "")
        person.headers = dict(self.cookie)
        equal(person.get("/agent/me").expect(200)["name"], "ana", "a login of before")
        log_in(server, "ana")
        root.answer(self.poem, "haiku", question=self.style["id"], by="ana").expect(200)
        result = root.completed(self.poem)["result"]
        check("short, please" in json.dumps(result), f"the message that waited: {result}")
        check(all(new["seq"] > self.events[-1]["seq"] for new in root.events(self.poem)[len(self.events):]), "the new events' numbers")

        page = read_page(server.client().request("GET", self.link))
        read_page(form(server.client(), page.actions[0], [*page.hidden.items(), ("do", "answer"), ("choice", "yes")]))
        equal(root.question(self.ship)["answered_by"], "bo@example.org", "who answered by the old link")
        equal(root.completed(self.asked)["status"], "completed", "the session that asked")

        asker = with_key(server, self.asker)
        fresh = asker.ask("Again?", agent="caller")["session_id"]
        wait_until(lambda: [c for c in self.receiver.of("question_pending") if c.body["session_id"] == fresh], "the callback of a new question")
        root.completed(self.slow)
        return server, root


def move(world, stop):
    deployment = Deployment(world)
    stop(deployment.server)
    old = file_of(deployment.server)
    new = Postgres(world).database("moved")
    done = copy(old, new)
    lines = [line.split() for line in done.stdout.splitlines() if "same on both sides" in line]
    equal([line[0] for line in lines], TABLES, "the tables")
    for line in lines:
        check(line[1].isdigit() and line[2] in ("row", "rows") and len(line[3]) == 12 and int(line[3], 16) >= 0, f"a table's line: {line}")
    counts = {line[0]: int(line[1]) for line in lines}
    for table in TABLES:
        equal(int(query(new, f"SELECT COUNT(*) FROM {table}")), counts[table], f"rows of {table}")
    check(f"set [database] url to {new}" in done.stdout and "keep it" in done.stdout, f"what to do next: {done.stdout}")
    # A server that was killed has audit rows that stand in no chain yet; verify links them, here and there alike.
    kept = verify(old)
    equal(verify(new), kept, "the hash of the audit log's last row")

    server, root = deployment.goes_on(new)
    equal(root.get("/agent/audit/verify", expect=kept).expect(200)["ok"], True, "the audit log, by the running server")
    server.terminate()
    verify(new, "--expect", kept)
    return deployment, new, server


@copy_case("what waited on SQLite goes on on PostgreSQL after a copy", limit=200)
def moved(world):
    def stop(server):
        equal(server.terminate()[0], 0, "exit code")

    deployment, new, server = move(world, stop)
    # And back again, with what has happened meanwhile.
    back = world.folder / "back.db"
    copied = json.loads(copy(new, f"sqlite:{back}", "--json").stdout)
    equal((copied["from"], copied["to"]), (new, f"sqlite:{back}"), "from and to")
    equal([table["name"] for table in copied["tables"]], TABLES, "the tables")
    with contextlib.closing(sqlite3.connect(back)) as database:
        equal(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity of the file")
        for table in copied["tables"]:
            [(count,)] = database.execute(f"SELECT COUNT(*) FROM {table['name']}")
            equal(count, table["rows"], f"rows of {table['name']}")
    verify(f"sqlite:{back}")
    other = json.loads(copy(new, f"sqlite:{world.folder / 'other.db'}", "--json").stdout)
    equal(other["tables"], copied["tables"], "another copy")
    again = deployment._server(f"sqlite:{back}")
    root = with_key(again, deployment.root.headers["Authorization"].split()[1])
    equal(root.session(deployment.poem)["status"], "completed", "the session, on SQLite again")
    root.completed(root.trigger("slow"))


@copy_case("a server that was killed is copied too: a callback that was due and a turn that ran go on on PostgreSQL", limit=200)
def moved_after_a_kill(world):
    move(world, lambda server: server.kill())


@copy_case("a callback that was due arrives after a copy, once, as the delivery that it was")
def due_callback(world):
    down = threading.Event()
    down.set()
    receiver = world.receiver(lambda callback: 503 if down.is_set() else 200)
    agents = [external_agent("caller", question_callback=receiver.url)]
    server = world.server({"database": {"url": ON_FILE}}, agents)
    session = server.client().ask("Go?", agent="caller")["session_id"]
    wait_until(lambda: receiver.received, "the first attempt")
    server.kill()
    tried = len(receiver.received)
    new = Postgres(world).database("moved")
    copy(file_of(server), new)
    down.clear()
    client = world.server({"database": {"url": new}}, agents).client()
    wait_until(lambda: client.deliveries(session=session)[0]["status"] == "delivered", "the callback is delivered", deadline=80)
    equal(len(receiver.received), tried + 1, "attempts")
    equal({callback.id for callback in receiver.received}, {client.deliveries(session=session)[0]["id"]}, "the callbacks' ids")


@copy_case("a database that a server has is not copied, and says which process to stop")
def running(world):
    server = world.server({"database": {"url": ON_FILE}}, [external_agent("caller")])
    server.client().ask("Go?", agent="caller")
    postgres = Postgres(world)
    new = postgres.database("moved")
    refused(file_of(server), new, "a server has", f"process {server.pid}", "stop it first", "Nothing was copied")
    equal(query(new, "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'"), "0", "tables in a target that nothing was copied to")
    other = world.folder / "other.db"
    server.terminate()
    copy(file_of(server), f"sqlite:{other}")
    server.start()
    refused(f"sqlite:{other}", file_of(server), "a server has", f"process {server.pid}")
    server.terminate()

    # Nodes on PostgreSQL, as the source and as the target.
    copy(file_of(server), new)
    node = world.server({"database": {"url": new}})
    refused(new, f"sqlite:{world.folder / 'more.db'}", "--from: nodes are connected", "127.0.0.1", "Stop them first")
    empty = postgres.database("empty")
    second = world.server({"database": {"url": empty}})
    refused(file_of(server), empty, "--to: nodes are connected")
    node.kill()
    second.kill()
    copy(new, f"sqlite:{world.folder / 'more.db'}")
    copy(new, postgres.database("third"))


@copy_case("a target that is not empty is refused with the tables that have rows, and stays as it was")
def not_empty(world):
    server = world.server({"database": {"url": ON_FILE}}, [external_agent("caller")])
    server.client().ask("Go?", agent="caller")
    server.terminate()
    postgres = Postgres(world)
    new = postgres.database("moved")
    copy(file_of(server), new)
    refused(file_of(server), new, "the target is not empty", "agent_sessions has 1 row", "agent_questions has 1 row", "Nothing was copied")
    equal(query(new, "SELECT COUNT(*) FROM agent_sessions"), "1", "sessions")
    # Who started a node there too early has its secrets.
    early = postgres.database("early")
    node = world.server({"database": {"url": early}})
    node.terminate()
    refused(file_of(server), early, "the target is not empty", "server_secrets has", "start no server on it before")


@copy_case("rows that change on their way are found before the commit, and nothing is kept")
def tampered(world):
    server = world.server({"database": {"url": ON_FILE}}, [external_agent("caller")])
    for _ in range(30):
        server.client().ask("Go?", agent="caller")
    server.terminate()
    new = Postgres(world).database("moved")
    # The first copy brings the tables; a trigger stands for whatever changes a row.
    query(new, "CREATE SCHEMA kept")
    copy(file_of(server), new + "?options=-csearch_path%3Dkept")
    emptied = ", ".join(f"kept.{table}" for table in TABLES if table != "audit_head")
    query(new, f"TRUNCATE {emptied}; UPDATE kept.audit_head SET seq = 0, hash = ''")
    for change in ("NEW.actor = NEW.actor || ' '; RETURN NEW", "IF NEW.seq = 17 THEN RETURN NULL; END IF; RETURN NEW"):
        query(new, f"CREATE OR REPLACE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {change.replace(chr(39), chr(39) * 2)}; END'; "
                   "DROP TRIGGER IF EXISTS change ON kept.audit_log; "
                   "CREATE TRIGGER change BEFORE INSERT ON kept.audit_log FOR EACH ROW EXECUTE FUNCTION change()")
        refused(file_of(server), new + "?options=-csearch_path%3Dkept", "audit_log is not the same on both sides", "Nothing was copied")
        equal(query(new, "SELECT COUNT(*) FROM kept.agent_sessions"), "0", "sessions that were kept")
    query(new, "DROP TRIGGER change ON kept.audit_log")
    copy(file_of(server), new + "?options=-csearch_path%3Dkept")


@copy_case("a copy that is killed leaves an empty target, and one whose database restarts is whole or says so", limit=200)
def interrupted(world):
    server = world.server({"database": {"url": ON_FILE}}, [external_agent("caller")])
    for _ in range(10):
        server.client().ask("Go?", agent="caller")
    server.terminate()
    postgres = Postgres(world)
    new = postgres.database("moved")
    make_tables(new)

    def begin():
        """A copy that stands at the last table, which somebody else holds."""
        process = subprocess.Popen([str(BINARY), "store", "copy", "--from", file_of(server), "--to", new], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment())
        world.closing(process.wait)
        world.closing(process.kill)
        wait_until(lambda: query(postgres.base, "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") != "0",
                   "the copy waits for the last table")
        return process

    with holding(new, "LOCK TABLE server_secrets IN SHARE MODE"):
        process = begin()
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    for table in TABLES:
        equal(query(new, f"SELECT COUNT(*) FROM {table}"), "1" if table == "audit_head" else "0", f"rows of {table} after the kill")

    with holding(new, "LOCK TABLE server_secrets IN SHARE MODE"):
        process = begin()
        postgres.tool("restart", "immediate")
        said = process.communicate(timeout=60)[0]
    rows = int(query(new, "SELECT COUNT(*) FROM agent_sessions"))
    check((process.returncode, rows) in ((0, 10), (1, 0)), f"exit {process.returncode} with {rows} sessions: {said}")
    if rows == 0:
        copy(file_of(server), new)
    equal(query(new, "SELECT COUNT(*) FROM agent_sessions"), "10", "sessions in the end")


def make_tables(url):
    """Has the schema made in an empty database."""
    listed = subprocess.run([str(BINARY), "keys", "list", "--json"], capture_output=True, text=True, timeout=60,
                            env=clean_environment({"HOLDPOINT_DATABASE_URL": url}))
    equal(listed.returncode, 0, f"keys list: {listed}")


@copy_case("what is typed wrong is said with the fix, changes nothing, and shows no password")
def mistyped(world):
    server = world.server({"database": {"url": ON_FILE}})
    server.terminate()
    source, folder = file_of(server), world.folder
    target = f"sqlite:{folder / 'new.db'}"
    none = folder / "none.db"
    other = folder / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE theirs (x)")
    (folder / "text.db").write_text("no database " * 100)
    (folder / "empty.db").touch()
    link = folder / "link.db"
    link.symlink_to(source[7:])
    secret = "hunter2"
    bad = f"postgres://u:{secret}@127.0.0.1:1/x"

    for wrong in ("mysql://u:hunter2@h/x", "holdpoint.db", "sqlite:", "", "http://h/", "postgres:x", "u:hunter2@h"):
        for pair in ((wrong, target), (source, wrong)):
            refused(*pair, "must be sqlite: and a path", "postgres://user@host:5432/name", exit_code=2)
    refused(f"sqlite:{none}", target, f"there is no file {none}", exit_code=2)
    check(not none.exists(), "a file was made by a typo")
    refused(f"sqlite:{folder}", target, "there is no file", exit_code=2)
    for name in ("other.db", "text.db", "empty.db"):
        refused(f"sqlite:{folder / name}", target, "is no database of Holdpoint", exit_code=2)
    refused(source, f"sqlite:{other}", "is no database of Holdpoint", exit_code=2)
    with contextlib.closing(sqlite3.connect(other)) as database:
        equal(database.execute("SELECT name FROM sqlite_master").fetchall(), [("theirs",)], "tables of somebody else")
    refused(source, f"sqlite:{folder / 'no' / 'folder.db'}", "there is no folder", "make it first", exit_code=2)
    refused(source, source, "the same database", exit_code=2)
    refused(f"sqlite:{link}", source, "the same database", exit_code=2)
    refused(bad, bad, "the same database", exit_code=2)
    refused(source, "postgres://u:p%zz@h/x", "cannot be read", "%25", exit_code=2)
    refused("env:NO_SUCH_VARIABLE", target, "the environment has no NO_SUCH_VARIABLE", exit_code=2)
    refused("file:no-such-file", target, "no-such-file", exit_code=2)
    refused(source, "env:HOLDPOINT_TARGET", "--to must be sqlite:", exit_code=2, env={"HOLDPOINT_TARGET": "u:hunter2@h"})
    for given, env in ((bad, {}), ("env:HOLDPOINT_TARGET", {"HOLDPOINT_TARGET": bad})):
        for pair in ((source, given), (given, target)):
            said = refused(*pair, "cannot use the database postgres://u:***@127.0.0.1:1/x", "Is the server running there", env=env)
            check(secret not in said, f"the password in: {said}")
    check(not (folder / "new.db").exists() or copy(source, target).returncode == 0, "a target that was tried before is still good")

    for arguments in ((), ("copy",), ("copy", "--from", source), ("copy", "--to", source), ("move",)):
        done = subprocess.run([str(BINARY), "store", *arguments], capture_output=True, text=True, timeout=30, env=clean_environment())
        equal(done.returncode, 2, f"exit code of store {arguments}: {done}")
    told = subprocess.run([str(BINARY), "store", "copy", "--help"], capture_output=True, text=True, timeout=30, env=clean_environment())
    equal(told.returncode, 0, "exit code of --help")
    check("all its nodes, must be stopped" in " ".join(told.stdout.split()), f"the help: {told.stdout}")


@copy_case("both URLs may come from the environment or a file, and no password is shown")
def from_secrets(world):
    server = world.server({"database": {"url": ON_FILE}}, [external_agent("caller")])
    server.client().ask("Go?", agent="caller")
    server.terminate()
    postgres = Postgres(world)
    url = postgres.database("moved").replace("holdpoint@", "holdpoint:hunter2@")
    kept = world.folder / "url"
    kept.write_text(url + "\n")
    kept.chmod(0o600)
    shown = copy("env:HOLDPOINT_SOURCE", f"file:{kept}", env={"HOLDPOINT_SOURCE": file_of(server)})
    check(f"url to file:{kept}" in shown.stdout and file_of(server) in shown.stdout, f"what to do next: {shown.stdout}")
    third = copy(f"file:{kept}", postgres.database("third").replace("holdpoint@", "holdpoint:hunter2@"))
    check("holdpoint:***@" in third.stdout, f"what to do next: {third.stdout}")
    for done in (shown, third):
        check("hunter2" not in done.stdout + done.stderr, f"the password in: {done}")
    kept.chmod(0o644)
    refused(f"file:{kept}", f"sqlite:{world.folder / 'new.db'}", "chmod 600", exit_code=2)
