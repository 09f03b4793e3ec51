"""Requests of which there is too much, or not all, or that were damaged on the way."""

from shots import MAX_BODY, SANE, Shot, an_ask, chunks, codes, kind, printable, request, smuggled, unframed

CHUNKED = b"Transfer-Encoding: chunked\r\n"


@kind(3)
def long_path(rng, target):
    size = rng.choice([8100, 8192, 8193, 8200, 9000, 16_000, 30_000, 40_000, 100_000])
    path = rng.choice([b"a" * size, b"%41" * (size // 3), b"a/" * (size // 2), printable(rng, size).replace(b"#",
                                                                                                            b"a")])
    path = (b"/agent/sessions?cursor=" if rng.random() < 0.3 else b"/agent/session/") + path
    allowed = codes(414, 431) if len(path) > 8192 else codes(400, 404, 414, 422)
    return Shot(request(target, b"GET", path), allowed, end="half")


@kind(2)
def many_headers(rng, target):
    count = 100_000 if rng.random() < 0.01 else rng.choice([101, 150, 500, 2000])
    headers = b"".join(b"X-%d: 1\r\n" % n for n in range(count)) if rng.random() < 0.7 else b"X: 1\r\n" * count
    return Shot(request(target, headers=headers, body=an_ask(rng)), codes(400, 431), end="wait")


@kind(1)
def long_header(rng, target):
    size = rng.choice([8193, 10_000, 33_000, 100_000])
    line = rng.choice([b"X-Long: " + b"a" * size, b"a" * size + b": 1", b"Cookie: " + b"a=b; " * (size // 5),
                       b"Accept: " + b"a/b," * (size // 4), b"a" * size])
    return Shot(request(target, headers=line + b"\r\n", body=an_ask(rng)), codes(400, 431), end="wait")


@kind(1)
def endless_chunks(rng, target):
    """Chunks that go on beyond [limits] max_body_bytes: some large ones, or very many of one byte."""
    if rng.random() < 0.99:
        rest = (b"10000\r\n" + b"x" * 65536 + b"\r\n") * rng.choice([17, 20])
    else:
        rest = b"1\r\nx\r\n" * (MAX_BODY + 100)
    return Shot(unframed(target, CHUNKED, rest), codes(413), end="wait")


@kind(1)
def endless_line(rng, target):
    """A head, a chunk's extension or a trailer that never ends."""
    begin = rng.choice([b"GET /", b"", b"GET /healthz HTTP/1.1\r\nX: ", b"GET /healthz HTTP/1.1\r\n",
                        unframed(target, CHUNKED, b"1;"), unframed(target, CHUNKED, b"0\r\nX: ")])
    return Shot(begin + b"a" * rng.choice([40_000, 200_000]), codes(400, 414, 431), end="wait")


@kind(2)
def large_body(rng, target):
    """Refused by its length alone, whether it comes or not."""
    length = rng.choice([MAX_BODY + 1, MAX_BODY + 5000, 10_000_000, 2**31, 2**32 + 10, 2**40, 2**63 - 1])
    body = b"" if rng.random() < 0.5 else b" " * 3000 + smuggled(target)
    if rng.random() < 0.02:
        body = b'{"questions":[{"question":"' + b"a" * 10_000_000 + b'"}]}'
        length = len(body)
    expect = rng.choice([b"", b"Expect: 100-continue\r\n"])
    return Shot(unframed(target, b"Content-Length: %d\r\n" % length + expect, body), codes(413), end="wait")


def whole_request(rng, target):
    body = an_ask(rng)
    key = b"Idempotency-Key: %d\r\nAccept: application/json\r\nUser-Agent: x\r\n" % rng.randrange(10**9)
    return rng.choice([request(target, body=body), request(target, headers=key, body=body),
                       request(target, path=b"/agent/webhook/helper", body=b'{"a":[1,2.5,"\xc3\xa9"]}'),
                       unframed(target, CHUNKED, chunks(body[:10], body[10:])),
                       request(target, path=b"/agent/answer/" + target.session.encode(), body=b'{"answer":7}')])


@kind(6)
def cut_off(rng, target):
    whole = whole_request(rng, target)
    return Shot(whole[:rng.randrange(1, len(whole))], codes(400, 408), end=rng.choice(["half", "half", "reset"]),
                silent=True)


@kind(0.25)
def left_alone(rng, target):
    whole = whole_request(rng, target)
    return Shot(whole[:rng.randrange(1, len(whole))], codes(408), end="hold", silent=True)


@kind(0.5)
def vanished(rng, target):
    """Whole, but nobody stays for the answer."""
    return Shot(request(target, path=b"/agent/webhook/lost", body=b"{}"), SANE, end="reset", lost=True)


@kind(0.5)
def deaf(rng, target):
    """Asks for a lot and reads none of it."""
    return Shot(request(target, b"GET", b"/openapi.json") * rng.choice([5, 50, 200]), SANE, end="reset")


@kind(10)
def mutated(rng, target):
    data = bytearray(whole_request(rng, target))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(data))
        change = rng.randrange(5)
        if change == 0:
            data[at] = rng.randrange(256)
        elif change == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 2:
            del data[at:at + rng.choice([1, 1, 2, 10])]
        elif change == 3:
            data[at:at] = rng.choice([b"\r\n", b"\n", b"\0", b" ", b":", b"%00", b"\r\n\r\n", rng.randbytes(3),
                                      data[at:at + 20]])
        else:
            data[at:at + 4] = data[at:at + 4][::-1]
    return Shot(bytes(data), SANE, end="half", silent=True, more=True)
