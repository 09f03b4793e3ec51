"""The bounds on what a client may send and hold, each at its edge, and what the server says beyond it."""

import http.client
import json
import socket
import time
from functools import partial
from pathlib import Path

from client import check, equal, wait_until
from harness import case

framing_case = partial(case, engine="any", why="HTTP framing is judged before any database is asked")
BODY = b'{"questions":[{"question":"Go on?"}]}'
ASK = b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SIZED = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


class Answer:
    """All that came back for some bytes until the server closed."""

    def __init__(self, received):
        self.received = received
        head, _, self.body = received.partition(b"\r\n\r\n")
        self.lines = head.decode("latin-1").split("\r\n")
        self.status = int(self.lines[0].split()[1]) if received.startswith(b"HTTP/1.1 ") else None

    @property
    def responses(self):
        return self.received.count(b"HTTP/1.1 ")

    @property
    def error(self):
        return json.loads(self.body)["error"]

    def header(self, name):
        return next((line.partition(": ")[2] for line in self.lines if line.lower().startswith(name.lower() + ":")), None)


def exchange(server, data, deadline=10.0):
    """Fails when the server does not close the connection."""
    connection = server.raw()
    try:
        connection.send(data)
        end = time.monotonic() + deadline
        while not connection.ended:
            check(time.monotonic() < end, f"still open after {deadline:g} s, and all there is: {connection.received[:300]}")
            connection.read_available(wait=0.1)
        return Answer(connection.received)
    finally:
        connection.close()


def check_table(server, rows):
    """(name, bytes, status, code, field); reports every row that is wrong."""
    wrong = []
    for name, data, status, code, field in rows:
        try:
            answer = exchange(server, data)
            equal(answer.status, status, f"{answer.received[:300]}: the status")
            if status != 200:
                equal((answer.error["code"], answer.error.get("field")), (code, field), "code and field")
                equal(answer.header("Connection"), "close", "Connection")
                equal(answer.header("Content-Type"), "application/json", "Content-Type")
                equal(answer.header("Cache-Control"), "no-store", "Cache-Control")
            equal(answer.responses, 1, f"{answer.received}: responses")
        except (AssertionError, OSError, ValueError, KeyError) as problem:
            wrong.append(f"{name}: {type(problem).__name__} {problem}")
    check(not wrong, f"{len(wrong)} of {len(rows)}:\n" + "\n".join(wrong))
    check(server.alive(), "the server died")


def headers(count):
    return b"".join(b"X-%d: 1\r\n" % n for n in range(count))


def padded(size):
    """A request whose head has this many bytes, in lines short enough."""
    start = HEALTH + b"Connection: close\r\n"
    lines = []
    left = size - len(start) - 2
    while left > 0:
        line = min(left, 4000) if left - 4000 > 10 or left <= 4000 else left - 10
        lines.append(b"X: " + b"x" * (line - 5) + b"\r\n")
        left -= line
    data = start + b"".join(lines) + b"\r\n"
    equal(len(data), size, "bytes of the head")
    return data


@framing_case("headers are bounded in number, in length and together: 431 beyond, and 414 for the path")
def head_limits(world):
    server = world.server({"limits": {"max_headers": 20, "max_header_bytes": 16384}})
    close = b"Connection: close\r\n"
    large = "headers_too_large"
    check_table(server, [
        ("20 headers", HEALTH + close + headers(18) + b"\r\n", 200, None, None),
        ("21 headers", HEALTH + close + headers(19) + b"\r\n", 431, large, None),
        ("a header of 8192 bytes", HEALTH + close + b"X: " + b"x" * 8187 + b"\r\n\r\n", 200, None, None),
        ("a header of 8193 bytes", HEALTH + close + b"X: " + b"x" * 8188 + b"\r\n\r\n", 431, large, None),
        ("a header that never ends", HEALTH + b"X: " + b"x" * 16000, 431, large, None),
        ("a name that never ends", HEALTH + b"x" * 16000, 431, large, None),
        ("a head of 16384 bytes", padded(16384), 200, None, None),
        ("a head of 16385 bytes", padded(16385), 431, large, None),
        ("a path of 8192 bytes", b"GET /" + b"x" * 8191 + b" HTTP/1.1\r\nHost: localhost\r\n" + close + b"\r\n", 404,
         "unknown_path", None),
        ("a path of 8193 bytes", b"GET /" + b"x" * 8192 + b" HTTP/1.1\r\nHost: localhost\r\n" + close + b"\r\n", 414,
         "uri_too_long", None),
        ("a path that never ends", b"GET /" + b"x" * 15000, 414, "uri_too_long", None),
    ])


@framing_case("by default a request has at most 100 headers")
def default_limits(world):
    server = world.server()
    check_table(server, [
        ("100 headers", HEALTH + b"Connection: close\r\n" + headers(98) + b"\r\n", 200, None, None),
        ("101 headers", HEALTH + b"Connection: close\r\n" + headers(99) + b"\r\n", 431, "headers_too_large", None),
        ("a head of 32769 bytes", padded(32769), 431, "headers_too_large", None),
    ])


@framing_case("100,000 headers cost no memory, on 50 connections at once")
def many_headers(world):
    server = world.server()
    equal(exchange(server, HEALTH + headers(100) + b"\r\n").status, 431, "the status of 100 and a Host")
    before = server.rss_mib()
    data = HEALTH + headers(100_000) + b"\r\n"
    connections = [world.keep(server.raw()) for _ in range(50)]
    for connection in connections:
        connection.send(data)
    for connection in connections:
        equal(connection.response()[0], 431, "the status")
    grown = server.rss_mib() - before
    # Kept whole, they would be 65 MiB; 50 threads take some.
    check(grown < 16, f"the server grew by {grown:.1f} MiB")


@framing_case("HTTP/1.1 needs just one Host, and the refusal names it")
def host(world):
    server = world.server()
    close = b"Connection: close\r\n"
    rows = [(f"Host {value}", b"GET /healthz HTTP/1.1\r\nHost: " + value + b"\r\n\r\n", 400, "bad_header", "Host")
            for value in (b"a b", b"a, b", b"a/b", b"user@a", b"a#b")]
    check_table(server, rows + [
        ("none", b"GET /healthz HTTP/1.1\r\n\r\n", 400, "bad_header", "Host"),
        ("two", HEALTH + b"Host: y\r\n\r\n", 400, "bad_header", "Host"),
        ("the same twice", HEALTH + b"host: x\r\n\r\n", 400, "bad_header", "Host"),
        ("one", HEALTH + close + b"\r\n", 200, None, None),
        ("none with HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", 403, "foreign_host", "Host"),
    ])


# What a reader that goes by another rule would take for the next request.
SMUGGLED = ASK + SIZED + b"\r\n" + BODY

FRAMING = [
    ("both lengths", ASK + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n", "Content-Length"),
    ("both lengths, the other way round", ASK + CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n", "Content-Length"),
    ("a length of 0 and chunks", ASK + b"Content-Length: 0\r\n" + CHUNKED + b"\r\n0\r\n\r\n", "Content-Length"),
    ("two lengths that differ", ASK + SIZED + b"Content-Length: 0\r\n\r\n" + BODY, "Content-Length"),
    ("two lengths that agree", ASK + SIZED + SIZED + b"\r\n" + BODY, "Content-Length"),
    ("a list of lengths", ASK + b"Content-Length: 37, 37\r\n\r\n" + BODY, "Content-Length"),
    ("a negative length", ASK + b"Content-Length: -1\r\n\r\n", "Content-Length"),
    ("a length with a plus", ASK + b"Content-Length: +37\r\n\r\n" + BODY, "Content-Length"),
    ("a length in hexadecimal", ASK + b"Content-Length: 0x25\r\n\r\n" + BODY, "Content-Length"),
    ("an escaped length", ASK + b"Content-Length: %33%37\r\n\r\n" + BODY, "Content-Length"),
    ("an empty length", ASK + b"Content-Length:\r\n\r\n", "Content-Length"),
    ("a length that overflows", ASK + b"Content-Length: 18446744073709551616\r\n\r\n", "Content-Length"),
    ("a length that overflows to 37", ASK + b"Content-Length: 18446744073709551653\r\n\r\n" + BODY, "Content-Length"),
    ("chunked twice", ASK + CHUNKED + CHUNKED + b"\r\n" + CHUNKS, "Transfer-Encoding"),
    ("chunked, chunked", ASK + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNKS, "Transfer-Encoding"),
    ("chunked and identity", ASK + CHUNKED + b"Transfer-Encoding: identity\r\n\r\n" + CHUNKS, "Transfer-Encoding"),
    ("gzip, chunked", ASK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS, "Transfer-Encoding"),
    ("chunked misspelt", ASK + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS, "Transfer-Encoding"),
    ("chunked escaped", ASK + b"Transfer-Encoding: %63hunked\r\n\r\n" + CHUNKS, "Transfer-Encoding"),
    ("an empty encoding", ASK + b"Transfer-Encoding:\r\n\r\n", "Transfer-Encoding"),
    ("chunks in HTTP/1.0", (ASK + CHUNKED + b"\r\n" + CHUNKS).replace(b"HTTP/1.1", b"HTTP/1.0", 1), "Transfer-Encoding"),
]
LINES = [
    ("a lone CR", HEALTH + b"X: a\rY: b\r\n\r\n"),
    ("a lone CR before a length", ASK + b"X: a\rContent-Length: 0\r\n\r\n"),
    ("a lone LF", HEALTH + b"X: a\nY: b\r\n\r\n"),
    ("a lone LF before a length", ASK + b"X: a\nContent-Length: 37\r\n\r\n" + BODY),
    ("a head of lone LFs", (ASK + SIZED + b"\r\n").replace(b"\r", b"") + BODY),
    ("a NUL in a value", HEALTH + b"X: a\0b\r\n\r\n"),
    ("a NUL in a name", HEALTH + b"X\0: a\r\n\r\n"),
    ("an escape character", HEALTH + b"X: \x1b[2J\r\n\r\n"),
]
HEADERS = [
    ("a folded line", HEALTH + b"X: a\r\n b\r\n\r\n"),
    ("a line folded by a tab", HEALTH + b"X: a\r\n\tb\r\n\r\n"),
    ("a length on a folded line", ASK + b"X: a\r\n Content-Length: 37\r\n\r\n" + BODY),
    ("a space before the colon", ASK + b"Content-Length : 37\r\n\r\n" + BODY),
    ("a tab before the colon", ASK + b"Transfer-Encoding\t: chunked\r\n\r\n" + CHUNKS),
    ("a space before the first header", b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n"),
    ("no colon", HEALTH + b"X\r\n\r\n"),
    ("no name", HEALTH + b": x\r\n\r\n"),
]


@framing_case("requests that two readers could take apart differently are refused and closed, and smuggle nothing")
def smuggling(world):
    server = world.server()
    check_table(server, [(name, data + SMUGGLED, 400, "bad_header", field) for name, data, field in FRAMING] +
                [(name, data + SMUGGLED, 400, "bad_request", None) for name, data in LINES] +
                [(name, data + SMUGGLED, 400, "bad_header", None) for name, data in HEADERS])
    equal(len(server.client().sessions()), 0, "sessions stored")
    # The smuggled request itself is a good one.
    equal(exchange(server, SMUGGLED.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close")).status, 202, "the status")


@framing_case("chunks with negative, huge or odd sizes are refused and closed, and smuggle nothing")
def chunks(world):
    server = world.server()
    rows = [(size, ASK + CHUNKED + b"\r\n" + before + size + b"\r\n" + SMUGGLED, 400, "bad_chunk", "body")
            for before in (b"", b"%x\r\n%s\r\n" % (len(BODY), BODY))
            for size in (b"-1", b"-2", b"-0", b"-25", b"+5", b" 5", b"5 ", b"0x5", b"g", b"", b"fffffffff",
                         b"ffffffffffffffff", b"10000000000000000", b"5;" + b"x" * 300, b"5;a\rb")]
    for end in (b"0\r\nX: \0\r\n\r\n", b"0\n\n", b"0\r\n" + b"X: y\r\n" * 2000 + b"\r\n", b"0\r\n\rX"):
        rows.append((end[:20], ASK + CHUNKED + b"\r\n" + end + SMUGGLED, 400, "bad_chunk", "body"))
    check_table(server, rows)
    equal(len(server.client().sessions()), 0, "sessions stored")
    trailers = exchange(server, ASK + CHUNKED + b"Connection: close\r\n\r\n" + CHUNKS[:-2] + b"X: y\r\n\r\n")
    equal(trailers.status, 202, f"the status of good chunks with a trailer: {trailers.received}")


@framing_case("an escaped line break or NUL in a header stays as it was sent, on every path")
def escaped_breaks(world):
    server = world.server()
    close = b"Connection: close\r\n"
    for value in (b"a%0d%0aX-Evil: 1", b"a%0D%0A%0D%0Ahello", b"a%0a", b"%0d", b"a%00b", b"a%u000ab"):
        for name in (b"X-Any", b"Idempotency-Key", b"Authorization", b"Cookie", b"Referer", b"Location"):
            for path, status in ((b"GET /healthz", 200), (b"GET /nowhere", 404), (b"DELETE /agent/ask", 405)):
                data = path + b" HTTP/1.1\r\nHost: localhost\r\n" + close + name + b": " + value + b"\r\n\r\n"
                answer = exchange(server, data)
                equal((answer.status, answer.header("X-Evil")), (status, None), f"the answer to {data}")
        foreign = HEALTH + close + b"Origin: " + value + b"\r\n\r\n"
        equal(exchange(server, foreign).status, 403, f"the status of {foreign}")


@framing_case("a request must arrive within its deadlines, which are settings")
def deadlines(world):
    server = world.server({"limits": {"head_deadline_seconds": 1, "body_deadline_seconds": 3}})
    for data, least, most in ((HEALTH, 0.9, 2.0), (b"G", 0.9, 2.0), (ASK + SIZED + b"\r\n{", 2.9, 4.0),
                              (ASK + CHUNKED + b"\r\n5\r\n{", 2.9, 4.0)):
        started = time.monotonic()
        answer = exchange(server, data)
        took = time.monotonic() - started
        equal((answer.status, answer.error["code"]), (408, "too_slow"), f"status and code of {data}")
        check(least < took < most, f"{data}: ended after {took:.2f} s")


LIMIT = 8


def new_connection(server):
    """A connection that the server has seen and keeps; none while the address has too many."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    if healthy(connection):
        return connection
    connection.close()
    return None


def fill(world, server, count):
    # The harness's own connections, which are closed, may still count for a moment.
    return [world.keep(wait_until(lambda: new_connection(server), "a place for a connection")) for _ in range(count)]


def healthy(connection):
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    response.read()
    return response.status == 200


@framing_case("an address has so many connections; one more gets a 429 without asking, and frees nobody's place")
def connections_per_address(world):
    server = world.server({"limits": {"max_connections_per_address": LIMIT}})
    connections = fill(world, server, LIMIT)
    for data in (b"", HEALTH + b"\r\n", ASK + SIZED + b"\r\n" + BODY, ASK + b"Content-Length: 500000\r\n\r\n" + b" " * 500000):
        answer = exchange(server, data)
        equal(answer.status, 429, f"{answer.received}: the status")
        equal(answer.error["code"], "too_many_connections", "the code")
        equal(answer.header("Retry-After"), "1", "Retry-After")
        equal(answer.header("X-Content-Type-Options"), "nosniff", "X-Content-Type-Options")
    check(all(healthy(connection) for connection in connections), "an old connection is not served")
    connections.pop().close()
    wait_until(lambda: exchange(server, HEALTH + b"Connection: close\r\n\r\n").status == 200,
               "a place is free after a connection was closed")
    check(all(healthy(connection) for connection in connections), "an old connection is not served")
    connections[0].request("GET", "/agent/sessions")
    equal(json.loads(connections[0].getresponse().read())["sessions"], [], "sessions stored over the limit")


def threads(server):
    return sum(1 for _ in Path(f"/proc/{server.pid}/task").iterdir())


@framing_case("2,000 connections of one address beyond its limit hold up nobody who is there")
def flood(world):
    server = world.server({"limits": {"max_connections_per_address": LIMIT}})
    connection = fill(world, server, 1)[0]
    before, most = threads(server), 0
    flood = []
    slowest = 0.0
    for number in range(2000):
        sock = socket.create_connection(server.address, timeout=20)
        flood.append(sock)
        world.closing(sock.close)
        if number % 100 == 99:
            asked = time.monotonic()
            check(healthy(connection), "the old connection is not served")
            slowest = max(slowest, time.monotonic() - asked)
            most = max(most, threads(server))
    check(slowest < 1, f"the old connection waited {slowest:.2f} s")
    # Its limit, those that get an answer, and what the harness has open.
    check(most - before < LIMIT + 32 + 8, f"the server took {most - before} more threads")
    for sock in flood:
        sock.close()
    wait_until(lambda: exchange(server, HEALTH + b"Connection: close\r\n\r\n").status == 200, "places are free again")
