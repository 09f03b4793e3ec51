"""Requests that no well-meaning client sends, byte by byte: the server refuses or closes, and keeps serving others."""

import contextlib
import json
import random
import socket
import time
from functools import partial

from client import check, equal
from harness import case, command_agent

framing_case = partial(case, engine="any", why="HTTP framing is judged before any database is asked")
BODY = b'{"questions":[{"question":"Go on?"}]}'
NOISE = random.Random(7)
HEAD = b"Host: localhost\r\nContent-Type: application/json\r\n"


def start(world):
    server = world.server({"limits": {"max_body_bytes": 65536}}, [command_agent("helper")])
    return server, server.client()


def exchange(server, data, half_close=False):
    """(status or None when closed without an answer, head) for exactly these bytes."""
    connection = server.raw()
    try:
        connection.send(data)
        if half_close:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_WR)
        return connection.response()
    finally:
        connection.close()


def post(headers, body, path=b"/agent/ask"):
    return b"POST " + path + b" HTTP/1.1\r\n" + HEAD + headers + b"\r\n" + body


def check_sound(server, client):
    check(server.alive(), "the server died")
    equal(len(client.sessions()), 0, "sessions stored by requests that were refused")
    asked = client.ask("Still there?")
    client.answer(asked["session_id"], "yes").expect(200)


CHUNKED = b"Transfer-Encoding: chunked\r\n"
SIZED = b"Content-Length: %d\r\n" % len(BODY)

REFUSED = {
    "a negative chunk size": post(CHUNKED, b"-1\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a negative chunk size after a good chunk":
        post(CHUNKED, b"%x\r\n%s\r\n-5\r\nabcde\r\n0\r\n\r\n" % (len(BODY), BODY)),
    "a chunk size that overflows": post(CHUNKED, b"fffffffffffffffff\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a chunk size that is no number": post(CHUNKED, b"zz\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunks that add up to more than the limit": post(CHUNKED, b"8000\r\n" + b"x" * 0x8000 + b"\r\n" +
                                                     b"8001\r\n" + b"x" * 0x8001 + b"\r\n0\r\n\r\n"),
    "both Content-Length and Transfer-Encoding":
        post(SIZED + CHUNKED, b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)),
    "two Content-Lengths that differ": post(SIZED + b"Content-Length: 5\r\n", BODY),
    "a negative Content-Length": post(b"Content-Length: -1\r\n", BODY),
    "a Content-Length that is no number": post(b"Content-Length: many\r\n", BODY),
    "a Content-Length over the limit, without the body": post(b"Content-Length: 99999999999\r\n", b""),
    "an unknown transfer encoding": post(b"Transfer-Encoding: gzip, identity\r\n", BODY),
    "a header of 100 KB": post(SIZED + b"X-Long: " + b"a" * 100_000 + b"\r\n", BODY),
    "20,000 headers": post(SIZED + b"".join(b"X-%d: 1\r\n" % n for n in range(20_000)), BODY),
    "a path of 100 KB": post(SIZED, BODY, b"/agent/" + b"a" * 100_000),
    "a NUL in the path": post(SIZED, BODY, b"/agent/webhook/help\0er"),
    "a NUL in the path, escaped": post(SIZED, BODY, b"/agent/webhook/helper%00"),
    "no request line": b"\r\n\r\n\r\n",
    "an unknown version": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "noise": NOISE.randbytes(2048) + b"\r\n\r\n",
    "a TLS hello": bytes.fromhex("16030100c8010000c40303") + NOISE.randbytes(192) + b"\r\n\r\n",
}


@framing_case("malformed requests are refused or closed, none is stored, and the server lives on")
def malformed(world):
    server, client = start(world)
    wrong = []
    for name, data in REFUSED.items():
        stored = len(client.sessions())
        try:
            # Half-closed, so that a server that waits for more learns that there is no more.
            status, _ = exchange(server, data, half_close=True)
            check(status is None or 400 <= status < 600, f"got {status}")
            check(status not in (500, 502), f"got {status}: an accident, not a refusal")
            equal(len(client.sessions()), stored, "sessions stored")
            check(server.alive(), "the server died")
        except (AssertionError, OSError) as problem:
            wrong.append(f"{name}: {problem}")
    check(not wrong, f"{len(wrong)} of {len(REFUSED)}:\n" + "\n".join(wrong))
    check_sound(server, client)


@framing_case("a POST with neither a length nor chunks has no body, and what follows it is the next request")
def no_length(world):
    server, client = start(world)
    session = client.ask("Go on?")["session_id"]
    cancel = b"POST /agent/session/%s/cancel HTTP/1.1\r\nHost: localhost\r\n\r\n" % session.encode()
    started = time.monotonic()
    for data in (cancel, cancel.replace(b"POST", b"DELETE")):
        status, _ = exchange(server, data)
        equal(status, 200 if data == cancel else 405, f"the status of {data}")
    connection = world.keep(server.raw())
    connection.send(cancel + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    while not connection.ended:
        check(time.monotonic() - started < 5, f"5 s for 4 requests, and all there is: {connection.received}")
        connection.read_available(wait=0.2)
    equal(connection.received.count(b"HTTP/1.1 200 "), 2, f"responses to two requests in one packet: {connection.received}")


@framing_case("a body over the limit is refused at once, and its rest is not taken for a request")
def over_the_limit(world):
    server, client = start(world)
    smuggled = b"POST /agent/webhook/helper HTTP/1.1\r\n" + HEAD + b"Content-Length: 2\r\n\r\n{}"
    length = 65536 + len(smuggled)
    started = time.monotonic()
    for headers, body in ((b"Content-Length: %d\r\n" % length, b" " * 65536 + smuggled),
                          (b"Content-Length: 99999999999\r\n", b""),
                          (b"Content-Length: 65537\r\nExpect: 100-continue\r\n", b""),
                          (CHUNKED, b"%x\r\n%s%s\r\n0\r\n\r\n" % (length, b" " * 65536, smuggled))):
        status, _ = exchange(server, post(headers, body))
        equal(status, 413, f"the status of a body with {headers}")
    check(time.monotonic() - started < 5, f"four refusals took {time.monotonic() - started:.1f} s")
    check_sound(server, client)


@framing_case("a client that asks before it sends its body is told to go on, and may take its time")
def expect_continue(world):
    server, client = start(world)
    connection = world.keep(server.raw())
    connection.send(post(SIZED + b"Expect: 100-continue\r\nConnection: close\r\n", b""))
    equal(connection.response()[0], 100, "the interim status")
    equal(connection.received.count(b"\r\n"), 2, f"what else came with it: {connection.received}")
    connection.read_available(wait=2)
    equal(connection.received.count(b"\r\n"), 2, f"what came before the body was sent: {connection.received}")
    connection.received = b""
    connection.send(BODY)
    equal(connection.response()[0], 202, "the status once the body is there")
    equal(len(client.sessions()), 1, "sessions")


@framing_case("an escaped line break in a header value does not become a header")
def escaped_line_breaks(world):
    server, client = start(world)
    for value in (b"key%0d%0aX-Evil: 1", b"key%0D%0A%0D%0A<p>evil", b"key%0aX-Evil: 1"):
        headers = SIZED + b"Idempotency-Key: " + value + b"\r\nwebhook-id: " + value + b"\r\n"
        connection = server.raw()
        connection.send(post(headers, BODY, b"/agent/webhook/helper"))
        status, head = connection.response()
        connection.close()
        check(status in (None, 202) or 400 <= status < 500, f"{value}: got {status}")
        check(b"x-evil" not in head.lower() and b"<p>evil" not in connection.received, f"{value} came back: {head}")
    check(server.alive() and client.get("/healthz").status == 200, "the server died")
    for line in server.log_text().splitlines():
        check(line.startswith("{") and json.loads(line), f"a forged line in the log: {line}")


@framing_case("a body that never arrives whole is not stored")
def truncated_bodies(world):
    server, client = start(world)
    for data in (post(b"Content-Length: 1000\r\n", BODY), post(CHUNKED, b"%x\r\n%s" % (len(BODY) + 50, BODY)),
                 post(CHUNKED, b"%x\r\n%s\r\n" % (len(BODY), BODY))):
        status, _ = exchange(server, data, half_close=True)
        check(status is None or 400 <= status < 500, f"{data[-80:]}: got {status}")
        connection = server.raw()
        connection.send(data)
        connection.close()
    check_sound(server, client)


@framing_case("requests that dribble are ended within 20 s, and hold up nobody meanwhile")
def slow_requests(world):
    server, client = start(world)
    started = time.monotonic()
    in_head = [server.raw() for _ in range(20)]
    in_body = [server.raw() for _ in range(20)]
    for connection in in_head:
        connection.send(b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    for connection in in_body:
        connection.send(post(b"Content-Length: 5000\r\n", b"{"))

    slowest = 0.0
    open_ones = in_head + in_body
    while open_ones:
        check(time.monotonic() - started < 20, f"{len(open_ones)} dribbling requests are still open after 20 s")
        # One of them paces the round: a byte every half second, or sooner when the server answers.
        open_ones[0].read_available(wait=0.5)
        for connection in open_ones:
            connection.read_available()
            if not connection.received and not connection.ended:
                connection.ended = not connection.send(b" ")
        asked = time.monotonic()
        equal(client.get("/healthz").status, 200, "/healthz meanwhile")
        client.questions()
        slowest = max(slowest, time.monotonic() - asked)
        open_ones = [c for c in open_ones if not c.received and not c.ended]
    for connection in in_head + in_body:
        check(not connection.received or connection.response()[0] in (400, 408, 413),
              f"a dribbling request was answered with {connection.received[:100]}")
        connection.close()
    check(slowest < 2, f"another client waited {slowest:.2f} s meanwhile")
    check_sound(server, client)


@framing_case("200 connections that say nothing do not keep others from being served")
def silent_connections(world):
    server, client = start(world)
    silent = [world.keep(server.raw()) for _ in range(200)]
    started = time.monotonic()
    for _ in range(20):
        equal(server.client().get("/healthz").status, 200, "/healthz")
    check(time.monotonic() - started < 5, f"20 requests took {time.monotonic() - started:.1f} s")
    check_sound(server, client)
    check(len(silent) == 200, "the silent connections must outlive the check")
