#!/usr/bin/env python3
"""Sends hostile requests to a server that is running, and judges every answer.

    tests/process/hostile.py --port 8080                         20,000 of them, of a seed that it prints
    tests/process/hostile.py --port 8080 --seed 7 --only 4711    one of them, shown (ids are those of this server)

The server needs agents named helper, lost and smuggled that may be triggered.
"""

import argparse
import json
import random
import re
import select
import socket
import struct
import sys
import time
from collections import Counter

import responses
from client import Client
from hostile_requests import shot_at
from shots import Target, codes

PIPELINED = 16
PATIENCE = 10.0  # For an answer; the server's deadlines for what never comes are longer.
GIVES_UP = 25.0  # The server's deadline for a body, and then some.
SHOWN_PROBLEMS = 20


def find_target(host, port):
    """Starts a few sessions, so that some ids in the requests are real."""
    client = Client(host, port, 20)
    asked, cancelled = client.ask("A target?"), client.ask("Another?")
    client.post(f"/agent/session/{cancelled['session_id']}/cancel").expect(200)
    nonce = re.search(r'name="nonce" value="([^"]+)"', client.get("/login").body.decode())[1]
    routes = list(routes_of(client.get("/openapi.json").expect(200)))
    return Target(f"{host}:{port}".encode(), asked["session_id"], asked["questions"][0]["id"], cancelled["session_id"],
                  nonce, routes)


def routes_of(document):
    def resolve(item):
        while "$ref" in item:
            found = document
            for part in item["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            item = found
        return item

    def members(schema):
        schema = resolve(schema)
        yield from schema.get("properties", {})
        for part in ("oneOf", "anyOf", "allOf"):
            for one in schema.get(part, []):
                yield from members(one)

    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parameters = map(resolve, operation.get("parameters", []))
            query = [p["name"] for p in parameters if p["in"] == "query" and p["name"] != "wait"]
            content = resolve(operation.get("requestBody", {})).get("content", {})
            names = sorted({name for one in content.values() for name in members(one.get("schema", {}))})
            answers = codes(*(int(code) for code in operation["responses"] if code < "4" or code in ("405", "501")))
            yield method.upper().encode(), path, query, names, answers


class Wrong(Exception):
    """The server did not answer as it must."""


class Line:
    """One connection. Reads while it writes, so that neither side waits for the other for ever."""

    def __init__(self, address, source):
        self.socket = socket.socket()
        # Left to connect(), the choice of a port takes only those in use for this destination into account.
        self.socket.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
        self.socket.bind((source, 0))
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self._poll = select.poll()
        self.received = b""
        self.ended = ""  # "closed" or "reset" by the server.

    def exchange(self, data, finished, half=False, patience=PATIENCE):
        """Sends, and takes in what comes until finished() or the end; false when time ran out first."""
        waiting = memoryview(data)
        deadline = time.monotonic() + patience
        while True:
            while waiting:
                try:
                    waiting = waiting[self.socket.send(waiting):]
                except BlockingIOError:
                    break
                except (BrokenPipeError, ConnectionResetError):
                    waiting = waiting[:0]
            if half and not waiting:
                half = False
                self.say_no_more()
            if self.ended or (finished() and not waiting):
                return True
            self._poll.register(self.socket, select.POLLIN | (select.POLLOUT if waiting else 0))
            if not self._poll.poll(max(0, deadline - time.monotonic()) * 1000) and time.monotonic() >= deadline:
                return False
            self.take_in()

    def say_no_more(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def take_in(self):
        try:
            data = self.socket.recv(1 << 18)
            self.received += data
            self.ended = self.ended or ("" if data else "closed")
        except BlockingIOError:
            pass
        except ConnectionResetError:
            self.ended = "reset"

    def take(self, to_head=False):
        """The next response that is no interim one; None while it is incomplete."""
        while taken := responses.take(self.received, to_head):
            self.received = self.received[taken[1]:]
            if taken[0].status >= 200:
                return taken[0]
        return None

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def check_answer(shot, answer):
    if answer.status not in shot.allowed:
        raise Wrong(f"got {answer}, wanted {sorted(shot.allowed)}")
    if "x-evil" in answer.headers:
        raise Wrong(f"a header out of the request: {answer.headers}")
    if not re.match(r"/(?![/\\])", answer.headers.get("location", "/")):
        raise Wrong(f"sends people elsewhere: {answer.headers}")
    content = answer.headers.get("content-type", "")
    if content.startswith("text/html"):
        if not shot.page:
            raise Wrong(f"a page for a program: {answer}")
        if b"<b>evil" in answer.body:
            raise Wrong(f"a page with the request's text as it came: {answer}")
    elif answer.status >= 400 and not shot.to_head:
        responses.check_refusal(answer, shot.rpc)
    elif answer.body and content == "application/json":
        answer.json


class Attack:
    def __init__(self, address, source, seed, target):
        self.address, self.source, self.seed, self.target = address, source, seed, target
        self.sent, self.lost = 0, 0
        self.outcomes = Counter()
        self.sessions = {target.session, target.cancelled}
        self.problems, self.problem_count = [], 0
        self._batch, self._line, self._held = [], None, []

    def run(self, numbers):
        for number in numbers:
            shot = shot_at(self.seed, number, self.target)
            if shot.end != "keep":
                self.judged(number, shot, lambda: self.fire(number, shot))
                continue
            self._batch.append((number, shot))
            if len(self._batch) >= PIPELINED:
                self.fire_batch()
        while self._batch:
            self.fire_batch()
        self.settle_held()

    def judged(self, number, shot, fire):
        self.sent += 1
        try:
            fire()
        except (Wrong, responses.Malformed, OSError) as error:
            self.problem_count += 1
            if len(self.problems) < SHOWN_PROBLEMS:
                what = f"{type(error).__name__}: {error}"
                self.problems.append(f"#{number} {shot.kind}: {what}; sent {shot.data[:400]!r}")

    def judge(self, shot, answer):
        self.outcomes[shot.kind, answer.status] += 1
        if answer.status == 202:
            self.sessions.add(answer.json["session_id"])
        check_answer(shot, answer)

    def fire(self, number, shot):
        """One request on a connection of its own."""
        line = Line(self.address, self.source)
        if shot.end == "reset":
            line.exchange(shot.data, lambda: True, patience=0.2)
            line.reset()
            self.lost += shot.lost
            self.outcomes[shot.kind, "reset by us"] += 1
        elif shot.end == "hold":
            line.exchange(shot.data, lambda: True)
            self._held.append((number, shot, line, time.monotonic()))
        else:
            try:
                self.settle(shot, line, shot.data, PATIENCE)
            finally:
                line.close()

    def settle(self, shot, line, data, patience):
        """Judges all that comes after `data`, to the end."""
        answers = []

        def answered():
            if not answers and (answer := line.take(shot.to_head)):
                answers.append(answer)
            return bool(answers)

        in_time = line.exchange(data, answered, half=shot.end == "half", patience=patience)
        for answer in answers:
            self.judge(shot, answer)
            if answer.is_stream:
                return
            if shot.end == "wait" and not answer.closes:
                in_time = line.exchange(b"", lambda: bool(line.received), patience=2)
        # The server may wait for the rest of a body that it has refused already.
        in_time = in_time and line.exchange(b"", lambda: False, half=True)
        while answer := line.take():
            answers.append(answer)
            self.judge(shot, answer)
        if not in_time:
            raise Wrong(f"left open, after {answers[0] if answers else 'no answer'}")
        if line.received:
            raise responses.Malformed(f"{line.ended} in the middle of an answer: {line.received[:300]!r}")
        if not answers and not shot.silent:
            raise Wrong(f"{line.ended} without an answer, wanted {sorted(shot.allowed)}")
        if not answers:
            self.outcomes[shot.kind, line.ended] += 1
        if len(answers) > 1 and not shot.more:
            raise Wrong(f"{len(answers)} answers to one request: {', '.join(map(str, answers))}")

    def settle_held(self):
        """The server must give up on what never comes."""
        for number, shot, line, since in self._held:
            left = max(0.1, since + GIVES_UP - time.monotonic())
            self.judged(number, shot, lambda: self.settle(shot, line, b"", left))
            self.sent -= 1  # Counted when it was sent.
            line.close()
        self._held = []

    def fire_batch(self):
        """Many on one connection at once. What comes after an answer that closes is sent again; had it been carried
        out, there would be a session that no answer names."""
        batch, self._batch = self._batch, []
        line = self._line = self._line or Line(self.address, self.source)
        answers = []

        def closed():
            return bool(answers) and (answers[-1].closes or answers[-1].is_stream)

        def all_there():
            while len(answers) < len(batch) and not closed():
                answer = line.take(batch[len(answers)][1].to_head)
                if answer is None:
                    return False
                answers.append(answer)
            return True

        broken = ""
        try:
            if not line.exchange(b"".join(shot.data for _, shot in batch), all_there):
                broken = f"no answer within {PATIENCE:g} s"
        except (responses.Malformed, OSError) as error:
            broken = f"{type(error).__name__}: {error}"
        for (number, shot), answer in zip(batch, answers):
            self.judged(number, shot, lambda: self.judge(shot, answer))
        self._batch = batch[len(answers):]
        if self._batch and not closed():
            # To blame is the first without an answer, and it must not be sent for ever.
            before = f"{len(line.received)} bytes of it, after {answers[-1] if answers else 'nothing'}"
            self.blame(self._batch.pop(0), f"{broken or line.ended or 'no end'} without an answer but {before}")
        elif line.received and not answers[-1].is_stream:
            self.blame(batch[len(answers) - 1], f"more after the last answer: {line.received[:200]!r}")
        if self._batch or closed() or line.ended or broken:
            line.close()
            self._line = None

    def blame(self, numbered, reason):
        def fail():
            raise Wrong(reason)
        self.judged(*numbered, fail)

    def report(self):
        outcomes = sorted((name, str(status), count) for (name, status), count in self.outcomes.items())
        return {"sent": self.sent, "lost": self.lost, "sessions": sorted(self.sessions), "outcomes": outcomes,
                "problem_count": self.problem_count, "problems": self.problems}


def show(attack, number):
    shot = shot_at(attack.seed, number, attack.target)
    print(f"#{number} {shot.kind}: {len(shot.data)} bytes, then {shot.end}; wants {sorted(shot.allowed)}")
    print(repr(shot.data[:3000]))
    line = Line(attack.address, attack.source)
    started = time.monotonic()
    line.exchange(shot.data, lambda: False, half=shot.end == "half", patience=GIVES_UP if shot.end == "hold" else 3)
    print(f"{line.ended or 'still open'} after {time.monotonic() - started:.2f} s")
    print(repr(line.received[:3000]))
    line.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--source", default="127.0.0.1", help="the address to come from")
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--part", default="0/1", help="I/N: only every Nth request, from the Ith on")
    options.add_argument("--only", type=int, help="send this one alone, and show it")
    options.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = options.parse_args()
    attack = Attack((chosen.host, chosen.port), chosen.source, chosen.seed, find_target(chosen.host, chosen.port))
    if chosen.only is not None:
        show(attack, chosen.only)
        return 0
    part, parts = map(int, chosen.part.split("/"))
    attack.run(range(part, chosen.count, parts))
    report = attack.report()
    if chosen.json:
        print(json.dumps(report))
        return 0
    for name, status, count in report["outcomes"]:
        print(f"{name:20} {status:12} {count}")
    print(*report["problems"], sep="\n")
    print(f"seed {chosen.seed}: {attack.sent} sent, {attack.problem_count} problems")
    return 1 if attack.problem_count else 0


if __name__ == "__main__":
    sys.exit(main())
