"""A private PostgreSQL of one case, and Holdpoint nodes on it. Everything ends with the case."""

import contextlib
import csv
import io
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from client import check, equal, wait_until
from harness import HERE, free_port

# Seconds for which a turn of a dead node is nobody's.
LEASE = 5
TOOL = HERE.parents[1] / "tools/postgres"


def programs():
    """Without the caller's own PG… variables, which would lead PostgreSQL's programs elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def run(*arguments):
    done = subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, timeout=120, env=programs())
    equal(done.returncode, 0, f"exit code of tools/postgres {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout.strip()


def rows_of(url, statement):
    """The rows of a statement as dicts of texts; null is ''."""
    done = subprocess.run(["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-c", statement, url],
                          capture_output=True, text=True, timeout=60, env=programs())
    equal(done.returncode, 0, f"exit code of {statement}: {done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def value_of(url, statement):
    [row] = rows_of(url, statement)
    [value] = row.values()
    return value


class Postgres:
    """`fast` is for cases that do not judge what a crash of the database leaves behind."""

    def __init__(self, world, fast=True):
        # Not below the world's folder: only its owner may enter that, and the server runs as somebody else.
        self.home = Path(tempfile.mkdtemp(prefix="holdpoint-pg-"))
        self.home.chmod(0o755)
        self.folder = self.home / "server"
        world.closing(shutil.rmtree, self.home, True)
        self.fast = fast
        world.closing(self._end)
        self.url = self.start()
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])

    def _end(self):
        self.resume()
        if (self.folder / "data").exists():
            run("stop", self.folder, "immediate")

    def start(self):
        return run("start", self.folder, *(["--fast"] if self.fast else []))

    def stop(self, *mode):
        run("stop", self.folder, *mode)

    def restart(self):
        """Like a crash of the machine that it runs on, but for the disk's cache."""
        run("restart", self.folder, "immediate")

    def pids(self):
        """The postmaster's, and those of its children."""
        try:
            postmaster = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        except FileNotFoundError:
            return []
        found = [postmaster]
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(stat.read_text().rpartition(")")[2].split()[1]) == postmaster:
                    found.append(int(stat.parent.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def _signal(self, number):
        for pid in self.pids():
            # One that has ended meanwhile needs none.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def pause(self):
        """Every process of it hangs: connections stay open, and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def rows(self, statement, database="holdpoint"):
        return rows_of(self.url_of(database), statement)

    def value(self, statement, database="holdpoint"):
        return value_of(self.url_of(database), statement)

    @contextlib.contextmanager
    def holding(self, statement):
        """A transaction of somebody else, with the locks that the statement takes, open for as long as the block runs."""
        with subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=programs()) as psql:
            psql.stdin.write(f"BEGIN;\n{statement};\n\\echo holding\n")
            psql.stdin.flush()
            check(any(line == "holding\n" for line in psql.stdout), f"psql ended at {statement}")
            try:
                yield
            finally:
                psql.stdin.close()

    def url_of(self, database="holdpoint", user="holdpoint", password=None):
        login = user if password is None else f"{user}:{quote(password, safe='')}"
        return f"postgres://{login}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name, options=""):
        self.rows(f"CREATE DATABASE {name} {options}", "postgres")
        return self.url_of(name)

    def ask_for_passwords(self, role):
        """From now on that role must give one."""
        hba = self.folder / "data/pg_hba.conf"
        hba.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n" + hba.read_text())
        self.value("SELECT pg_reload_conf()")


class Pooler:
    """Debian's pgbouncer in front of a server, a connection a transaction: what a session holds does not outlive one."""

    def __init__(self, world, postgres):
        program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        check(program, "pgbouncer is not installed: apt-get install pgbouncer")
        self.port = free_port()
        self.url = f"postgres://holdpoint@127.0.0.1:{self.port}/holdpoint"
        folder = postgres.home / "pooler"
        folder.mkdir()
        (folder / "users").write_text('"holdpoint" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={postgres.port}\n[pgbouncer]\npool_mode = transaction\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {folder}/users\nmax_client_conn = 400\ndefault_pool_size = 40\n")
        # It refuses to run as root.
        owner = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen([program, str(folder / "pgbouncer.ini")], cwd="/", env=programs(),
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, **owner)
        world.closing(process.wait, 10)
        world.closing(process.terminate)
        wait_until(self._listens, "pgbouncer listens")

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False


class Wire:
    """The way to a server, and what is lost on it: every so many-th COMMIT, in turns before the server has it and after it
    was done; or a connection that `cut_at` names."""

    def __init__(self, world, postgres):
        self._server = ("127.0.0.1", postgres.port)
        self._listener = world.keep(socket.create_server(("127.0.0.1", 0)))
        self.url = f"postgres://holdpoint@127.0.0.1:{self._listener.getsockname()[1]}/holdpoint"
        self.every = 0
        self.lost = Counter()
        self._seen, self._lock = 0, threading.Lock()
        self._connections, self._cut_at, self._deaf_for, self._deaf_until = 0, None, 0.0, 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, connection, packet, deaf_for):
        """Of the connections from now on, that one is cut at that packet of the node, both counted from 1; afterwards
        none is let through for so many seconds."""
        self._connections, self._cut_at, self._deaf_for, self._deaf_until = 0, (connection, packet), deaf_for, 0.0

    @property
    def has_cut(self):
        return self._cut_at is None

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                if time.monotonic() < self._deaf_until:
                    client.close()
                    continue
                self._connections += 1
                ends = client, socket.create_connection(self._server)
                doomed, number = threading.Event(), self._connections
                for carry in (self._carry_there, self._carry_back):
                    threading.Thread(target=self._until_cut, args=(carry, ends, doomed, number), daemon=True).start()

    @staticmethod
    def _until_cut(carry, ends, doomed, number):
        with contextlib.suppress(OSError):
            carry(*ends, doomed, number)
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _carry_there(self, client, server, doomed, number):
        packet = 0
        while data := client.recv(1 << 16):
            packet += 1
            if self._cut_at == (number, packet):
                self._cut_at, self._deaf_until = None, time.monotonic() + self._deaf_for
                return
            fate = self._fate() if b"COMMIT\0" in data else None
            if fate == "command":
                return
            if fate == "answer":
                doomed.set()
            server.sendall(data)

    def _carry_back(self, client, server, doomed, number):
        while data := server.recv(1 << 16):
            if not doomed.is_set():
                client.sendall(data)
            elif b"COMMIT\0" in data:
                return

    def _fate(self):
        with self._lock:
            self._seen += 1
            if not self.every or self._seen % self.every:
                return None
            fate = "answer" if sum(self.lost.values()) % 2 else "command"
            self.lost[fate] += 1
            return fate


class Nodes:
    """Servers on one database. Each has a port of its own that it keeps over a restart."""

    def __init__(self, world, url, count, agents=(), settings=None, start=True, env=None):
        settings = {section: dict(keys) for section, keys in (settings or {}).items()}
        settings["database"] = {"url": url, **settings.get("database", {})}
        settings["agents"] = {"lease_seconds": LEASE, **settings.get("agents", {})}
        envs = env or [None] * count
        self.all = [world.server(settings, agents, port=free_port(), start=False, env=envs[n]) for n in range(count)]
        if start:
            for node in self.all:
                node.start(wait=False)
            for node in self.all:
                node.wait_ready(deadline=30)

    def __getitem__(self, number):
        return self.all[number]

    def __iter__(self):
        return iter(self.all)

    def __len__(self):
        return len(self.all)
