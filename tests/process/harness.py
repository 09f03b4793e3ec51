"""Starts the real binary in a folder of its own, and runs cases that clean up after themselves."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from client import Client, EventStream, RawConnection, check, wait_until
from database import ENGINE, fresh_url, open_database
from doubles import HttpAgent, Receiver

HERE = Path(__file__).resolve().parent
BINARY = Path(os.environ.get("HOLDPOINT_BINARY") or HERE.parents[1] / "build/release/holdpoint").resolve()
ASKING_AGENT = HERE / "asking_agent.py"

DEFAULT_SETTINGS = {
    "server": {"listen": "127.0.0.1:0"},
    "database": {},
    "agents": {"dir": "agents"},
    "outgoing": {"allow_private": ["127.0.0.0/8"]},
}

CASES = []


class Case:
    def __init__(self, name, run, limit, engines, alone):
        self.name, self.run, self.limit, self.engines, self.alone = name, run, limit, engines, alone
        self.file = run.__module__


def case(name, limit=120, engine=None, why=None, alone=False):
    """Registers a test; `limit` is in seconds. The function gets a World. It runs on every engine, unless `engine` says otherwise,
    and `why`: "sqlite" or "postgres" is about what only that one has; "any" judges nothing that a database has a part in, so that
    once is enough.
    What measures, or takes the whole machine for itself, runs `alone`."""
    check((engine is None) == (why is None) and engine in (None, "sqlite", "postgres", "any"), f"engine and why of {name!r}")

    def register(run):
        engines = {None: ("sqlite", "postgres"), "any": ("sqlite",)}.get(engine, (engine,))
        CASES.append(Case(name, run, limit, engines, alone))
        return run
    return register


def chosen_cases():
    return [case for case in CASES if ENGINE in case.engines]


def agent(name, **front):
    """(name, text) of an agent definition; JSON values are YAML."""
    lines = ["---", f"name: {name}", *(f"{key}: {json.dumps(value)}" for key, value in front.items()), "---", ""]
    return name, "\n".join(lines)


def command_agent(name, script=ASKING_AGENT, **front):
    command = [sys.executable, "-I", str(script)]
    return agent(name, runner="command", command=command, **{"async_questions": True, **front})


def http_agent(name, listener, **front):
    return agent(name, runner="http", url=listener.url, **{"async_questions": True, **front})


def external_agent(name, **front):
    return agent(name, runner="external", **{"async_questions": True, **front})


def free_port():
    """Outside the kernel's ephemeral range: a client that retries connect() to an ephemeral port while the server is
    down can connect to itself, and would then hold the port."""
    while True:
        port = random.randint(20000, 29999)
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def clean_environment(extra=None):
    """The test's own HOLDPOINT_… variables must not become settings of the server."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HOLDPOINT_")}
    return {**own, **(extra or {})}


def process_is_gone(pid):
    """A zombie counts as gone: nobody may be left to reap an orphan in a container."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


class Server:
    """One folder with settings, agents and database; the process in it may come and go."""

    def __init__(self, folder, settings=None, agents=(), port=0, env=None, tls=None):
        """`tls` is the ssl.SSLContext of its clients, when the settings make it speak TLS."""
        self.folder, self.port, self.env, self.tls = folder, port, env or {}, tls
        self.settings = {section: dict(keys) for section, keys in DEFAULT_SETTINGS.items()}
        for section, keys in (settings or {}).items():
            self.settings.setdefault(section, {}).update(keys)
        self.settings["database"].setdefault("url", fresh_url())
        self.database = open_database(self.settings["database"]["url"], folder)
        if self.database and self.database.engine == "postgres":
            # What a killed process was at is free again when its lease ends: as soon as settings allow.
            self.settings["agents"].setdefault("lease_seconds", 5)
        self.settings_path = folder / "settings.toml"
        self.log_path = folder / "server.log"
        self.process = None
        self.auditor = None  # A client that may read the audit log, for cases that look into it many times.
        self._log_start = 0
        (folder / "agents").mkdir(parents=True)
        for name, text in agents:
            (folder / "agents" / f"{name}.md").write_text(text)
        self.write_settings()

    def write_settings(self):
        self.settings["server"]["listen"] = f"127.0.0.1:{self.port}"
        lines = []
        for section, keys in self.settings.items():
            lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items()), ""]
        self.settings_path.write_text("\n".join(lines))

    def start(self, wait=True, env=None, deadline=15.0):
        """Seconds from exec to ready. A restart takes the port of the first start."""
        check(self.process is None or self.process.poll() is not None, "the server is running already")
        check(BINARY.exists(), f"no binary at {BINARY}: build first, or set HOLDPOINT_BINARY")
        self.write_settings()
        self._log_start = self.log_path.stat().st_size if self.log_path.exists() else 0
        started = time.monotonic()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(BINARY), "serve", "--settings", str(self.settings_path)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=clean_environment({**self.env, **(env or {})}))
        if wait:
            self.wait_ready(deadline)
        return time.monotonic() - started

    def wait_ready(self, deadline=15.0):
        def listening():
            check(self.process.poll() is None, f"the server exited with {self.process.returncode} while starting")
            return next((e["address"] for e in self.log_events() if e.get("event") == "server_listening"), None)

        address = wait_until(listening, "a log line with event server_listening", deadline)
        self.port = int(address.rpartition(":")[2])
        wait_until(self.is_ready, "/readyz says ready", deadline)

    def is_ready(self):
        try:
            return self.client(timeout=5).get("/readyz").status == 200
        except OSError:
            return False

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def client(self, timeout=70.0):
        return Client("127.0.0.1", self.port, timeout, self.tls)

    def raw(self):
        return RawConnection(self.address)

    def events(self, path="/agent/events", last_event_id=None):
        return EventStream("127.0.0.1", self.port, path, last_event_id, self.tls)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9; returns once the process is gone."""
        if self.alive():
            self.process.kill()
        if self.process is not None:
            self.process.wait()

    def terminate(self, deadline=10.0):
        """SIGTERM; (exit code, seconds it took)."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit(deadline), time.monotonic() - started

    def wait_exit(self, deadline=10.0):
        try:
            return self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server did not exit within {deadline:g} s") from None

    def restart(self, **options):
        self.kill()
        return self.start(**options)

    def rss_mib(self):
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmRSS: the server is gone")

    def log_text(self):
        """What the present process, or the last one, has logged."""
        if not self.log_path.exists():
            return ""
        with open(self.log_path, "rb") as log:
            log.seek(self._log_start)
            return log.read().decode("utf-8", "replace")

    def log_events(self):
        for line in self.log_text().splitlines():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict):
                    yield event

    def check_log(self):
        """A name given twice in a line means two things to two readers."""
        def unique(members):
            names = [name for name, _ in members]
            check(len(set(names)) == len(names), f"a log line repeats a name: {members}")
            return dict(members)

        for line in self.log_path.read_text(errors="replace").splitlines() if self.log_path.exists() else []:
            if line.startswith("{"):
                # A kill may cut a line short.
                with contextlib.suppress(ValueError):
                    json.loads(line, object_pairs_hook=unique)

    def log_tail(self, lines=25):
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return text.splitlines()[-lines:]


class World:
    """What one case uses. Everything made through it is closed in reverse order when the case ends."""

    def __init__(self):
        self._closing = contextlib.ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="holdpoint-"))
        self._closing.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.servers = []

    def closing(self, action, *arguments):
        self._closing.callback(action, *arguments)

    def keep(self, thing):
        self._closing.callback(thing.close)
        return thing

    def server(self, settings=None, agents=(), port=0, env=None, start=True, tls=None):
        server = Server(self.folder / f"server{len(self.servers)}", settings, agents, port, env, tls)
        self.servers.append(server)
        if server.database:
            self._closing.callback(server.database.close)
        self._closing.callback(server.kill)
        if start:
            server.start()
        return server

    def http_agent(self, respond, **options):
        return self.keep(HttpAgent(respond, **options))

    def receiver(self, *arguments, **options):
        return self.keep(Receiver(*arguments, **options))

    def log_tails(self):
        return [line for server in self.servers for line in [f"log of {server.folder.name}:", *server.log_tail()]]

    def close(self):
        self._closing.close()
