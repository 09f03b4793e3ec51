"""A server under attack: beside the attackers a healthy client goes on working, and in the end everything is judged."""

import http.client
import json
import threading
import time
from pathlib import Path

from asking_agent import behave
from client import Client, check, equal, wait_until
from doubles import LocalServer
from harness import http_agent

MAX_MIB = 256
MAX_SECONDS = 1.0
FEWEST_CALLS, ROUND_TRIPS = 200, 120  # A percentile of fewer would say little.


class Unread(LocalServer):
    """An agent that is done at once. What the server hands over must be JSON, whatever came in."""

    def __init__(self):
        self.problems = []
        super().__init__()

    def exchange(self, path, headers, body):
        try:
            # Python refuses integers of many digits, JSON does not.
            json.loads(body, parse_int=len)
        except ValueError as error:
            self.problems.append(f"a turn that is no JSON: {error}: {body[:200]!r}")
        return 200, {"Content-Type": "application/json"}, b'{"result":{}}'


class HealthyClient(Client):
    """From an address of its own, as limits go by address."""

    def _connection(self):
        if getattr(self._local, "connection", None) is None:
            self._local.connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout,
                                                                source_address=("127.0.0.2", 0))
        return super()._connection()


class Healthy:
    """Calls of a client that means well, timed, until stop()."""

    def __init__(self, port):
        self.client = HealthyClient("127.0.0.1", port, 20)
        self.port = port
        self.over = threading.Event()
        self.times, self.sessions, self.problems = {}, [], []
        self.threads = [threading.Thread(target=self.repeat, args=(step,), daemon=True)
                        for step in (self.round_trip, self.look_in)]
        for thread in self.threads:
            thread.start()

    def repeat(self, step):
        while not self.over.wait(0.02):
            try:
                step()
            except Exception as error:
                self.problems.append(f"{step.__name__}: {type(error).__name__}: {error}")

    def timed(self, what, call):
        started = time.monotonic()
        result = call()
        self.times.setdefault(what, []).append(time.monotonic() - started)
        return result

    def round_trip(self):
        self.timed("round trip", self.ask_and_answer)

    def ask_and_answer(self):
        client = self.client
        payload = {"asks": [{"questions": [{"question": "Go on?"}]}]}
        session = self.timed("trigger", lambda: client.trigger("healthy", payload))
        self.sessions.append(session)
        question = self.timed("question", lambda: client.pending(session))[0]
        self.timed("answer", lambda: client.answer(session, "yes", question["id"]).expect(200))
        found = self.timed("result", lambda: client.completed(session))
        equal(found["result"]["resumes"][0]["answers"], {"Go on?": "yes"}, "what the agent got")

    def look_in(self):
        self.timed("kept connection", lambda: self.client.get("/healthz").expect(200))
        fresh = HealthyClient("127.0.0.1", self.port, 20)
        self.timed("fresh connection", lambda: fresh.get("/healthz").expect(200))
        fresh.close()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(30)

    def check(self):
        check(not self.problems, f"{len(self.problems)} calls of the healthy client failed: {self.problems[:3]}")
        count = sum(map(len, self.times.values()))
        check(count >= FEWEST_CALLS, f"the healthy client made {count} calls only")
        slow = {what: p99(times) for what, times in self.times.items()}
        check(max(slow.values()) < MAX_SECONDS, f"p99 of the healthy client, in seconds: {slow}")
        worst = max(slow, key=slow.get)
        return f"healthy client: {count} calls, p99 at most {slow[worst] * 1000:.0f} ms ({worst})"


def p99(times):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


LISTENS = "0A"


def open_connections(port):
    """Those of the server's side that a process still holds."""
    found = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
        found += int(local.rpartition(":")[2], 16) == port and state != LISTENS and inode != "0"
    return found


class Siege:
    def __init__(self, world, settings=None):
        self.agent = world.keep(Unread())
        agents = [http_agent(name, self.agent) for name in ("helper", "lost", "smuggled")]
        asking = world.http_agent(lambda turn: behave({**turn, "messages": len(turn["messages"])}))
        self.server = world.server(settings, agents + [http_agent("healthy", asking), http_agent("asking", asking)])
        self.world, self.pid, self.client = world, self.server.pid, self.server.client()
        self.healthy = Healthy(self.server.port)
        world.closing(self.healthy.stop)

    def endure(self):
        """Until the healthy client has seen enough of it to tell."""
        enough = len(self.healthy.sessions) + ROUND_TRIPS
        wait_until(lambda: len(self.healthy.sessions) >= enough, f"{ROUND_TRIPS} round trips of the healthy client", 90)

    def peak_mib(self):
        check(self.server.alive(), f"the server died: {self.server.log_tail(5)}")
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("no VmHWM: the server is gone")

    def sessions(self):
        """The ids of the sessions there are, by agent."""
        found = {}
        for session in self.client.sessions():
            found.setdefault(session["agent_name"], set()).add(session["id"])
        return found

    def judge(self):
        """After the attack. Returns a line that says how it went."""
        self.healthy.stop()
        server = self.server
        summary = self.healthy.check()
        peak = self.peak_mib()
        equal(server.pid, self.pid, "the process")
        check(peak < MAX_MIB, f"the server took up to {peak:.0f} MiB")
        for line in server.log_text().splitlines():
            check(line.startswith("{") and json.loads(line)["level"] != "error", f"in the log: {line[:500]}")
        check(not self.agent.problems, f"agents got {self.agent.problems[:3]}")
        equal(self.sessions().get("healthy", set()), set(self.healthy.sessions), "sessions of the healthy client")
        self.client.close()
        # Two heartbeats of an event stream tell that its reader has left.
        wait_until(lambda: not open_connections(server.port), "connections of those who left are closed", 40)
        code, seconds = server.terminate()
        equal(code, 0, f"exit code, after {seconds:.1f} s")
        equal(server.database.damage(self.world.folder), [], "damage to the database")
        return f"{summary}; peak {peak:.0f} MiB"
