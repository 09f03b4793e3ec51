"""Attacks in bulk: nothing is carried out that must not be, memory stays bounded, and a healthy client is served."""

import contextlib
import csv
import json
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter

from client import check, equal
from harness import HERE, case
from hostile_requests import KINDS
from shots import MAX_BODY
from siege import MAX_MIB, Siege

REQUESTS, ATTACKERS = 102_000, 4
SLOW = 1000


def say(text):
    print(f"     {text}", flush=True)


def attack(world, server, seed):
    """The reports of hostile.py, run in parts from addresses of their own."""
    running = []
    for part in range(ATTACKERS):
        process = subprocess.Popen(
            [sys.executable, str(HERE / "hostile.py"), "--port", str(server.port), "--seed", str(seed), "--json",
             "--count", str(REQUESTS), "--part", f"{part}/{ATTACKERS}", "--source", f"127.0.1.{part + 1}"],
            stdout=subprocess.PIPE)
        world.closing(process.kill)
        running.append(process)
    outputs = [process.communicate(timeout=140)[0] for process in running]
    check(server.alive(), f"seed {seed}: the server died; its last words: {server.log_tail(3)}")
    equal([process.returncode for process in running], [0] * ATTACKERS, "exit codes of hostile.py")
    return [json.loads(output) for output in outputs]


def counted_by_server(client):
    lines = client.get("/metrics").body.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("holdpoint_http_requests_total{"))


@case("100,000 hostile requests are refused, none is smuggled, and a healthy client is served meanwhile", limit=170, alone=True,
      engine="any", why="it judges HTTP framing, before any database is asked")
def hostile_requests(world):
    siege = Siege(world)
    client = siege.client
    seed = random.SystemRandom().randrange(10**9)
    started = time.monotonic()
    reports = attack(world, siege.server, seed)
    seconds = time.monotonic() - started

    sent, lost, wrong = (sum(report[what] for report in reports) for what in ("sent", "lost", "problem_count"))
    outcomes = [outcome for report in reports for outcome in report["outcomes"]]
    answers = sum(count for _, status, count in outcomes if status.isdigit())
    say(f"seed {seed}: {sent} requests in {seconds:.0f} s, {answers} answers, {wrong} of them wrong")
    problems = [problem for report in reports for problem in report["problems"]]
    check(not wrong, f"{wrong} wrong answers, among them (hostile.py --seed {seed} --only NUMBER):\n" +
          "\n".join(problems[:10]))
    check(sent >= 100_000, f"only {sent} requests were sent")
    equal({name for name, _, _ in outcomes}, {make.__name__ for make, _ in KINDS}, "kinds of requests that were sent")
    counted = counted_by_server(client)
    check(counted >= answers, f"the server's metrics have {counted} of {answers} answers")

    found = siege.sessions()
    equal(found.get("smuggled", set()), set(), f"seed {seed}: sessions that only a smuggled request can have started")
    acknowledged = {session for report in reports for session in report["sessions"]}
    equal(found["helper"] | found["external"], acknowledged, f"seed {seed}: sessions, and those acknowledged")
    check(len(found["lost"]) <= lost, f"{len(found['lost'])} sessions of {lost} triggers")
    # The mark works: a request of its own does start such a session.
    client.trigger("smuggled")
    equal(len(siege.sessions()["smuggled"]), 1, "sessions of the agent smuggled")
    say(siege.judge())


def slowly(world, name, *options):
    """Runs slowhttptest to its end; how many connections it held at once."""
    check(shutil.which("slowhttptest"), "no slowhttptest here: tools/setup --tests")
    prefix = world.folder / name
    command = ["slowhttptest", "-c", str(SLOW), "-r", str(SLOW), "-l", "20", "-p", "2", "-v", "0", "-g", "-o", str(prefix)]
    process = subprocess.Popen([*command, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    world.closing(process.kill)
    process.wait(60)
    with open(prefix.with_suffix(".csv"), newline="") as table:
        held = max(int(row["Connected"]) for row in csv.DictReader(table))
    check(held >= SLOW, f"{name}: slowhttptest held only {held} connections")
    return held


@case("1,000 connections of slowhttptest, slow in headers, body or reading, do not delay a healthy client", limit=120, alone=True,
      engine="any", why="it judges HTTP framing, before any database is asked")
def slow_clients(world):
    # All of them come from one address.
    siege = Siege(world, {"limits": {"max_connections_per_address": 2 * SLOW}})
    url = siege.server.url
    slowly(world, "headers", "-H", "-i", "2", "-u", f"{url}/healthz")
    slowly(world, "body", "-B", "-i", "2", "-s", "8192", "-f", "application/json", "-u", f"{url}/agent/ask")
    slowly(world, "reading", "-X", "-w", "1", "-y", "64", "-z", "5", "-k", "10", "-u", f"{url}/openapi.json")
    say(siege.judge())


def stubborn(world, siege, count, data):
    """Connections that send all of this, read nothing, and stay. Stops as soon as they cost the server too much: one
    without bounds would take the machine down."""
    made = []
    for _ in range(count):
        connection = socket.create_connection(siege.server.address, timeout=20)
        world.closing(connection.close)
        made.append(connection)
        with contextlib.suppress(OSError):  # Refused while it sent.
            connection.sendall(data)
        check(siege.peak_mib() < MAX_MIB, f"{len(made)} of them cost {siege.peak_mib():.0f} MiB")
    siege.endure()
    for connection in made:
        connection.close()


@case("500 bodies that lack their last byte do not fill the memory", alone=True, engine="any",
      why="it judges HTTP framing, before any database is asked")
def unfinished_bodies(world):
    siege = Siege(world)
    head = b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % MAX_BODY
    stubborn(world, siege, 500, head + b" " * (MAX_BODY - 1))
    say(siege.judge())


@case("500 clients that ask for long lists and read nothing do not fill the memory", alone=True)
def unread_pages(world):
    siege = Siege(world)
    client = siege.client
    for n in range(125):
        client.ask(*(f"{n}.{part}?" for part in range(4)), context={"long": "x" * 65_000})
    stubborn(world, siege, 500, b"GET /agent/questions?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10)
    say(siege.judge())


@case("messages of the largest size that pile up for one session do not fill the memory", alone=True)
def piled_up_messages(world):
    siege = Siege(world)
    client = siege.client
    session = client.trigger("asking", {"asks": [{"questions": [{"question": "Go on?"}]}]})
    client.pending(session)
    path, message = f"/agent/session/{session}/message", {"message": "x" * 1_000_000}
    replies = Counter(client.post(path, message).status for _ in range(100))
    check(set(replies) <= {202, 409, 413, 422, 429}, f"replies to messages: {replies}")
    client.answer(session, "yes").expect(200)
    client.completed(session)
    say(f"{replies[202]} of 100 messages were taken; {siege.judge()}")
