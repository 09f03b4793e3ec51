"""Hundreds of clients that only wait must not slow down the one that answers."""

import os
import statistics
import time
from pathlib import Path

from client import check, equal, wait_until
from harness import case

STREAMS, POLLS, ANSWERS = 250, 250, 50


def answer_times(client, sessions):
    times = []
    for session in sessions:
        started = time.monotonic()
        client.answer(session, "yes").expect(200)
        times.append((time.monotonic() - started) * 1000)
    return times


def open_sockets(pid):
    found = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found += os.readlink(entry).startswith("socket:")
        except FileNotFoundError:
            pass
    return found


def wait_all(connections, done, what, deadline=20):
    def all_done():
        for connection in connections:
            connection.read_available()
        return all(done(connection) for connection in connections)
    try:
        wait_until(all_done, what, deadline)
    except AssertionError as problem:
        wrong = [c for c in connections if not done(c)]
        raise AssertionError(f"{problem}; {len(wrong)} of {len(connections)} are not, one has {wrong[0].received[-300:]!r}"
                             ) from None


@case("500 idle event streams and long polls do not delay answers, and miss nothing", alone=True)
def idle_clients(world):
    server = world.server()
    client = server.client()
    sessions = [client.ask(f"Question {n}?")["session_id"] for n in range(2 * ANSWERS)]
    held = client.ask("Who waits?")
    held_question = held["questions"][0]["id"]
    before = answer_times(client, sessions[:ANSWERS])

    sockets = open_sockets(server.pid)
    streams = [world.keep(server.raw()) for _ in range(STREAMS)]
    for stream in streams:
        stream.send(b"GET /agent/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    wait_all(streams, lambda c: c.received.startswith(b"HTTP/1.1 200") and b"\r\n\r\n" in c.received, "streams are open")
    polls = [world.keep(server.raw()) for _ in range(POLLS)]
    for poll in polls:
        poll.send(b"GET /agent/questions/%s?wait=55 HTTP/1.1\r\nHost: localhost\r\n\r\n" % held_question.encode())
    wait_until(lambda: open_sockets(server.pid) >= sockets + STREAMS + POLLS, "the server accepted all idle clients")

    after = answer_times(client, sessions[ANSWERS:])
    base, now, worst = statistics.median(before), statistics.median(after), max(after)
    print(f"     answers: median {base:.1f} ms alone, {now:.1f} ms with {STREAMS + POLLS} idle clients, "
          f"worst {worst:.1f} ms", flush=True)
    # Below a millisecond the ratio would compare noise.
    check(now < 10 * max(base, 1.0), f"the median went from {base:.1f} to {now:.1f} ms")
    # Measured by the worst without them, as the machine may do other things too: 250 ms where it does not.
    check(worst < 10 * max(*before, 25.0), f"an answer took {worst:.0f} ms, and at most {max(before):.0f} ms alone")

    last = sessions[-1].encode()
    wait_all(streams, lambda c: last in c.received and not c.ended, "every stream has the last session's events")
    check(not any(poll.received or poll.ended for poll in polls), "a long poll ended before its question did")
    client.answer(held["session_id"], "all of you").expect(200)
    wait_all(polls, lambda c: b"all of you" in c.received, "every long poll has its answer")
    equal({poll.received.split(b"\r\n")[0] for poll in polls}, {b"HTTP/1.1 200 OK"}, "status of the long polls")
    held_session = held["session_id"].encode()
    wait_all(streams, lambda c: held_session in c.received and not c.ended, "every stream is alive to the end")
