"""What one hostile request is, how its bytes are put together, and the list of kinds that there are."""

from dataclasses import dataclass, field

MAX_BODY = 1 << 20  # The default of [limits] max_body_bytes.



def codes(*statuses):
    return frozenset(statuses)


# What a server that is up to it may say at all. Everything else is an accident.
SANE = codes(200, 202, 303, 400, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 421, 422, 431, 501, 505)
TAKEN = codes(202)
REFUSED = codes(400, 422)
MAYBE = codes(202, 400, 422)
BAD = codes(400)


@dataclass
class Shot:
    data: bytes
    allowed: frozenset
    # keep: the message is framed well, gets one answer, and others may follow on the connection.
    # wait: the server must answer and close by itself. half: it is told that no more comes.
    # reset: nobody waits for an answer. hold: the rest never comes, and the server must give up.
    end: str = "keep"
    silent: bool = False  # Closing without an answer is fine too.
    to_head: bool = False
    more: bool = False  # Several answers are fine.
    page: bool = False  # Refusals may be pages for people instead of JSON.
    rpc: bool = False  # Refusals may be errors of JSON-RPC.
    lost: bool = False  # May be carried out, though nobody reads the answer.
    kind: str = ""


@dataclass
class Target:
    """The server as the requests name it."""
    host: bytes
    session: str
    question: str
    cancelled: str
    login_nonce: str
    # Of openapi.json: method, path with {names}, names of query parameters, names of the body's members, and the
    # statuses of success, or of what a route never does.
    routes: list = field(default_factory=list)


KINDS = []


def kind(weight):
    """Registers a maker of shots: a function of a Random and a Target."""
    def register(make):
        KINDS.append((make, weight))
        return make
    return register


def request(target, method=b"POST", path=b"/agent/ask", headers=b"", body=None, version=b"HTTP/1.1", typed=True):
    """Well framed: with a Content-Length if there is a body."""
    head = method + b" " + path + b" " + version + b"\r\nHost: " + target.host + b"\r\n"
    if body is not None:
        head += (b"Content-Type: application/json\r\n" if typed else b"") + b"Content-Length: %d\r\n" % len(body)
    return head + headers + b"\r\n" + (body or b"")


def unframed(target, headers, rest, path=b"/agent/ask", method=b"POST"):
    """Where the body ends, if anywhere, is in the headers."""
    return (method + b" " + path + b" HTTP/1.1\r\nHost: " + target.host + b"\r\nContent-Type: application/json\r\n" +
            headers + b"\r\n" + rest)


def chunks(*parts):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def smuggled(target):
    """Follows, or hides in, what a server must refuse: nothing else ever names that agent."""
    return request(target, path=b"/agent/webhook/smuggled", body=b"{}")


def an_ask(rng):
    return b'{"questions":[{"question":"Go on, %d?"}]}' % rng.randrange(10**6)


def printable(rng, size):
    return bytes(rng.choices(range(0x21, 0x7f), k=size))
