#!/usr/bin/env python3
"""Kills nodes and their PostgreSQL under load, and checks that nothing acknowledged is lost or doubled.

    tests/process/node_storm.py --sessions 10000 --restarts 20 --kill-every 4
"""

import argparse
import random
import shutil
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True

import harness  # noqa: E402
from client import Client, check  # noqa: E402
from kill_storm import check_no_problems  # noqa: E402
from load import Load  # noqa: E402
from postgres import LEASE, Nodes, Postgres  # noqa: E402

NODES = 3
# A delivery that a dead node had claimed goes out again after 60 s.
SETTLE = 180


class AnyNode(Client):
    """Each request goes to a node chosen by chance, as behind a load balancer that knows nothing."""

    def __init__(self, nodes, timeout=20):
        self.clients = {node: node.client(timeout) for node in nodes}
        self.frozen = set()
        self.lock = threading.Lock()
        self.outcomes = Counter()
        self.acknowledged_at = []

    def request(self, method, path, body=None, headers=None):
        try:
            reply = self.some_client().request(method, path, body, headers)
        except Exception as error:
            with self.lock:
                self.outcomes[type(error).__name__] += 1
            raise
        with self.lock:
            self.outcomes[reply.status] += 1
            if method == "POST" and reply.status < 300:
                self.acknowledged_at.append(time.monotonic())
        return reply

    def some_client(self):
        # A node that is frozen keeps those who are connected waiting; nobody new should join them.
        return random.choice([client for node, client in self.clients.items() if node not in self.frozen])

    def close(self):
        for client in self.clients.values():
            client.close()


class NodeLoad(Load):
    """The load of kill_storm on several nodes."""

    # What a dead node had claimed waits for its lease, and meanwhile other sessions must go on.
    open_sessions = 300
    listed_agents = {"by-command", "over-http"}

    def __init__(self, world, seed, fast=False):
        self.postgres = Postgres(world, fast)
        super().__init__(world, seed)

    def serve(self, world, settings, agents):
        self.nodes = Nodes(world, self.postgres.url, NODES, agents, settings)
        self.client = AnyNode(self.nodes)

    def poll_on(self, rng):
        """The list has every question at once, its callback may have been claimed by a node that died."""
        while not self.over.wait(0.5):
            cursor = None
            while True:
                reply = self.until_answered(lambda: self.client.get("/agent/questions", status="pending", limit=500,
                                                                    cursor=cursor))
                if reply is None:
                    return
                for question in reply.expect(200)["questions"]:
                    self.found(question["session_id"], question["id"], question["options"])
                cursor = reply.json["next_cursor"]
                if not cursor:
                    break

    def verify(self):
        return super().verify() + list(self.verify_tables())

    def verify_tables(self):
        """Each step of each session is in the tables once: in the history, and in the audit log."""
        verdict = self.client.get("/agent/audit/verify").expect(200)
        if not verdict["ok"]:
            yield f"the audit log's chain is broken: {verdict}"
        left_over = self.postgres.value("SELECT count(*) FROM audit_pending")
        if left_over != "0":
            yield f"{left_over} rows never reached the audit log"
        sessions = {row["id"]: row for row in self.postgres.rows(
            "SELECT id, turn, due_at, leased_by FROM agent_sessions")}
        steps = self.counts("SELECT session_id AS id, type AS what, count(*) FROM agent_events WHERE type IN "
                            "('session_started', 'session_completed', 'session_resumed', 'question_asked', "
                            "'question_answered') GROUP BY 1, 2")
        audited = self.counts("SELECT split_part(subject, ':', 2) AS id, action AS what, count(*) FROM audit_log "
                              "GROUP BY 1, 2")
        for session, payload in list(self.ledger.payloads.items()):
            row = sessions.get(session)
            if row is None:
                yield f"acknowledged session {session} is not in the table"
                continue
            if row["due_at"] or row["leased_by"]:
                yield f"session {session} is over, and still due at {row['due_at']} or leased by {row['leased_by']!r}"
            asks = len(payload["asks"])
            questions = sum(len(ask["questions"]) for ask in payload["asks"])
            wanted = {"session_started": 1, "session_completed": 1, "session_resumed": asks, "question_asked": questions,
                      "question_answered": questions}
            if steps.get(session) != wanted:
                yield f"session {session} has the history {steps.get(session)}, wanted {wanted}"
            if int(row["turn"]) != asks + 1:
                yield f"session {session} ended with turn {row['turn']} after {asks} asks"
            if audited.get(session) != {"session_started": 1}:
                yield f"session {session} is in the audit log as {audited.get(session)}"
        for question in self.ledger.answers:
            if audited.get(question) != {"question_answered": 1}:
                yield f"question {question} is in the audit log as {audited.get(question)}"

    def counts(self, statement):
        """{id: {what: count}}"""
        found = {}
        for row in self.postgres.rows(statement):
            found.setdefault(row["id"], {})[row["what"]] = int(row["count"])
        return found


class Storm:
    """The faults; `run` returns when all of them happened and enough sessions were started."""

    def __init__(self, load, sessions, kills, restarts, freezes, kill_every, rng, say):
        self.load, self.sessions, self.kills, self.restarts, self.freezes = load, sessions, kills, restarts, freezes
        self.kill_every, self.rng, self.say = kill_every, rng, say
        self.starting = {}
        self.killed, self.frozen, self.ready_after, self.outages = 0, 0, [], []
        self.thaw_at = self.restarting = None

    def run(self):
        next_kill = next_restart = time.monotonic() + self.kill_every
        told = 0
        while not self.over():
            check_no_problems(self.load.ledger.problems, f"after {self.killed} kills")
            self.look_at_nodes()
            now = time.monotonic()
            if now >= next_kill:
                self.kill()
                next_kill = time.monotonic() + self.kill_every * self.rng.uniform(0.7, 1.3)
            if self.thaw_at and now >= self.thaw_at:
                self.thaw()
            elif not self.thaw_at and self.its_time(self.frozen, self.freezes):
                self.freeze()
            if self.restarting and self.restarting.is_alive():
                next_restart = now + self.kill_every * self.rng.uniform(0.5, 1)
            elif now >= next_restart and self.its_time(len(self.outages), self.restarts):
                self.restart_database()
            if self.started() - told >= 1000:
                told = self.started()
                self.say(f"{told} sessions, {self.killed} kills, {len(self.outages)} restarts")
            time.sleep(0.01)

    def started(self):
        return len(self.load.ledger.sessions)

    def over(self):
        return (self.started() >= self.sessions and self.killed >= self.kills and len(self.outages) >= self.restarts
                and self.frozen >= self.freezes and not self.thaw_at)

    def its_time(self, done, of):
        """Whether the next one of so many faults is due, which are spread over all sessions."""
        return done < of and self.started() >= (done + 1) * self.sessions / (of + 1)

    def look_at_nodes(self):
        for node in self.load.nodes:
            check(node.alive(), f"{node.folder.name} ended by itself with {node.process.poll()}")
            waited_for = node in self.starting and node not in self.load.client.frozen
            if waited_for and "server_listening" in node.log_text() and node.is_ready():
                self.ready_after.append(time.monotonic() - self.starting.pop(node))

    def kill(self):
        """Any node, also one that is still starting."""
        node = self.rng.choice([node for node in self.load.nodes if node not in self.load.client.frozen])
        node.kill()
        self.killed += 1
        self.starting[node] = time.monotonic()
        node.start(wait=False)

    def freeze(self):
        """Past its lease: when it goes on, its turns are somebody else's."""
        node = self.rng.choice(self.load.nodes.all)
        self.load.client.frozen.add(node)
        node.process.send_signal(signal.SIGSTOP)
        self.frozen += 1
        self.thaw_at = time.monotonic() + LEASE * self.rng.uniform(1.2, 1.6)

    def thaw(self):
        for node in self.load.client.frozen:
            node.process.send_signal(signal.SIGCONT)
        self.load.client.frozen.clear()
        self.thaw_at = None

    def restart_database(self):
        """Beside the other faults: nodes die and start while it is away."""
        def restart():
            begun = time.monotonic()
            try:
                self.load.postgres.restart()
            except AssertionError as error:
                self.load.ledger.problem(str(error))
            self.outages.append((begun, time.monotonic()))

        self.restarting = threading.Thread(target=restart, daemon=True)
        self.restarting.start()

    def standstills(self):
        """Of each restart of the database, the longest time in which no write was acknowledged."""
        acknowledged = sorted(self.load.client.acknowledged_at)
        for begun, ended in self.outages:
            # Two restarts may be close to each other; each one's standstill is around it.
            near = [at for at in acknowledged if begun - 5 <= at <= ended + 30]
            gaps = [later - earlier for earlier, later in zip(near, near[1:]) if later > begun and earlier < ended]
            yield max(gaps, default=0.0)


def spread(values):
    values = list(values)
    if not values:
        return "none measured"
    return f"p50 {statistics.median(values):.2f} s, max {max(values):.2f} s"


def node_storm(world, sessions=600, kills=5, restarts=3, freezes=1, kill_every=2.0, seed=None, say=lambda text: None):
    """Returns the report; raises AssertionError when a promise was broken."""
    seed = random.randrange(10**6) if seed is None else seed
    say(f"seed {seed}")
    try:
        return _node_storm(world, sessions, kills, restarts, freezes, kill_every, seed, say)
    except AssertionError as problem:
        raise AssertionError(f"seed {seed}: {problem}") from problem


def _node_storm(world, sessions, kills, restarts, freezes, kill_every, seed, say):
    rng = random.Random(seed)
    started = time.monotonic()
    # Nothing that was acknowledged may depend on what a crash of the database forgets.
    load = NodeLoad(world, seed, fast=False)
    storm = Storm(load, sessions, kills, restarts, freezes, kill_every, rng, say)
    storm.run()
    over = time.monotonic()
    for node in load.nodes:
        node.wait_ready(deadline=60)
    load.finish(SETTLE)
    settled = time.monotonic()
    say(f"{len(load.ledger.sessions)} sessions in {over - started:.0f} s, settled {settled - over:.0f} s later; verifying")
    problems = load.verify()
    check_no_problems(problems, "at the end")
    for node in load.nodes:
        code, seconds = node.terminate()
        check(code == 0, f"{node.folder.name} exited with {code} after {seconds:.1f} s")
    outcomes = load.client.outcomes
    broken = sum(count for outcome, count in outcomes.items() if not isinstance(outcome, int))
    return "\n".join([
        f"seed {seed}: {len(load.ledger.sessions)} sessions, {len(load.ledger.answers)} answers, "
        f"{len(load.receiver.received)} callbacks in {over - started:.0f} s on {NODES} nodes",
        f"{storm.killed} kills of a node: ready again {spread(storm.ready_after)}; {storm.frozen} frozen past their lease",
        f"{len(storm.outages)} restarts of PostgreSQL: it was back after "
        f"{spread(ended - begun for begun, ended in storm.outages)}; no write acknowledged for {spread(storm.standstills())}",
        f"clients saw {outcomes[503]} times 503 and {broken} broken connections; all settled {settled - over:.0f} s after the last fault",
        "lost: 0, doubled: 0, by the clients' ledger, the history and the audit log"])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=10000)
    options.add_argument("--kills", type=int, default=0, help="at least this many")
    options.add_argument("--restarts", type=int, default=20, help="of PostgreSQL")
    options.add_argument("--freezes", type=int, default=5, help="of a node, past its lease")
    options.add_argument("--kill-every", type=float, default=4.0, help="seconds between two kills of a node")
    options.add_argument("--seed", type=int)
    options.add_argument("--logs", type=Path, help="a folder that gets the nodes' logs if something broke")
    chosen = options.parse_args()
    world = harness.World()
    try:
        print(node_storm(world, chosen.sessions, chosen.kills, chosen.restarts, chosen.freezes, chosen.kill_every,
                         chosen.seed, lambda text: print(text, flush=True)))
        return 0
    except AssertionError as problem:
        print("\n".join([f"FAIL {problem}", *world.log_tails()]))
        for server in world.servers if chosen.logs else []:
            chosen.logs.mkdir(parents=True, exist_ok=True)
            shutil.copy(server.log_path, chosen.logs / f"{server.folder.name}.log")
        return 1
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
