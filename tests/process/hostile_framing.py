"""Requests whose end two readers could see in different places: they are refused, and what follows is no request."""

from shots import BAD, Shot, an_ask, chunks, codes, kind, request, smuggled, unframed

CHUNKED = b"Transfer-Encoding: chunked\r\n"


@kind(8)
def length_and_chunks(rng, target):
    body = an_ask(rng)
    length = rng.choice([b"%d" % len(body), b"4", b"6", b"1", b"999999", b"-1", b"0"])
    coding = rng.choice([b"chunked", b"chunked", b"Chunked", b"identity", b"gzip, chunked", b"xchunked"])
    both = [b"Content-Length: " + length + b"\r\n", b"Transfer-Encoding: " + coding + b"\r\n"]
    rng.shuffle(both)
    rest = rng.choice([chunks(body), b"0\r\n\r\n", body])
    return Shot(unframed(target, b"".join(both), rest + smuggled(target)), BAD, end="wait")


@kind(6)
def two_lengths(rng, target):
    body = an_ask(rng)
    right = b"%d" % len(body)
    pair = rng.choice([(right, b"0"), (b"0", right), (right, b"%d" % (len(body) + 60)), (right, b"-1"), (b"0", b"00"),
                       (b"", right), (right, b"+" + right), (right, b"a")])
    headers = rng.choice([b"Content-Length: %s\r\nContent-Length: %s\r\n", b"Content-Length: %s, %s\r\n",
                          b"content-length: %s\r\nCONTENT-LENGTH: %s\r\n",
                          b"Content-Length: %s\r\nX: 1\r\nContent-Length: %s\r\n"])
    return Shot(unframed(target, headers % pair, body + smuggled(target)), BAD, end="wait")


@kind(6)
def odd_length(rng, target):
    body = an_ask(rng)
    right = b"%d" % len(body)
    length = rng.choice([b"-1", b"-" + right, b"+" + right, b"0x%x" % len(body), right + b".0", right + b" 0",
                         right + b"a", b"a" + right, b"1e3", b"", b"  ", b'"' + right + b'"', b"\xd9\xa3",
                         right + b";", b",", right + b",", b"\x0b" + right, b"-0", b"4%35", b"%34%35", b"9" * 300,
                         b"4294967296", b"-9223372036854775808", b"9223372036854775807", b"18446744073709551615",
                         b"18446744073709551616"])
    method, path = rng.choice([(b"POST", b"/agent/ask"), (b"POST", b"/agent/ask"), (b"GET", b"/healthz"),
                               (b"PUT", b"/no")])
    data = unframed(target, b"Content-Length: " + length + b"\r\n", body + smuggled(target), path, method)
    return Shot(data, codes(400, 413), end="wait")


CODINGS = [b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: identity",
           b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked;q=1", b"Transfer-Encoding: \x0bchunked",
           b"Transfer-Encoding: chunked\x00", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
           b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", b"Transfer-Encoding : chunked",
           b"Transfer-Encoding\t: chunked", b" Transfer-Encoding: chunked", b"Transfer-Encoding:\r\n chunked",
           b"Transfer-Encoding: \xff", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: ,chunked",
           b'Transfer-Encoding: "chunked"', b"Transfer-Encoding:", b"X: 1\nTransfer-Encoding: chunked",
           b"X: 1\rTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
           b"Transfer-Encoding: %63hunked"]


@kind(6)
def odd_coding(rng, target):
    rest = rng.choice([chunks(an_ask(rng)), b"0\r\n\r\n", an_ask(rng)])
    data = unframed(target, rng.choice(CODINGS) + b"\r\n", rest + smuggled(target))
    return Shot(data, codes(400, 501), end="wait")


@kind(8)
def bad_chunk(rng, target):
    body = an_ask(rng)
    size, last = b"%x" % len(body), b"\r\n0\r\n\r\n"
    start, whole = size + b"\r\n" + body, body + last
    rest = rng.choice([b"-1\r\n" + body, b"-" + size + b"\r\n" + whole, b"+" + size + b"\r\n" + whole,
                       b"0x" + size + b"\r\n" + whole, b"fffffffffffffffff\r\n" + body,
                       b"ffffffffffffffff\r\n" + body, b"8000000000000000\r\n" + body, b"zz\r\n" + body,
                       b"\r\n" + body, b" " + start, size + b"\n" + body + b"\n0\n\n", size + b"\r" + body,
                       start + b"0\r\n\r\n", start + b"XX0\r\n\r\n", start + b"\r\n-5\r\nabcde" + last,
                       start + b"\n0\r\n\r\n", b"0" * 20 + start, b"1,1\r\na" + last, b"\xd9\xa1\r\na" + last,
                       size + b";\n\r\n" + whole, b"\x00\r\n\r\n", size + b";" + b"a" * 5000 + b"\r\n" + whole,
                       b"g\r\n"])
    path = rng.choice([b"/agent/ask", b"/agent/webhook/helper", b"/nowhere", b"/healthz"])
    # A path that takes no body may be refused before the body is looked at.
    allowed = codes(400, 413) if path.startswith(b"/agent") else codes(400, 404, 405, 413)
    return Shot(unframed(target, CHUNKED, rest + smuggled(target), path), allowed, end="wait")


@kind(2)
def bad_trailer(rng, target):
    body = an_ask(rng)
    trailer = rng.choice([b"X-After: " + b"a" * 8000, b"\r\n".join(b"X-%d: 1" % n for n in range(1000)), b"no colon",
                          b" folded", b"X: 1\nY: 2", b"X-\x00: 1", b"a b: 1", b": 1"])
    rest = b"%x\r\n%s\r\n0\r\n%s\r\n\r\n" % (len(body), body, trailer)
    return Shot(unframed(target, CHUNKED, rest + smuggled(target)), codes(400, 431), end="wait")


LINES = [b"X-Fold: a\r\n b", b"X-Fold: a\r\n\tb", b" X-First: 1", b"X Name: 1", b"X-Name : 1", b": 1", b"no colon",
         b"X-\x00: 1", b"X: a\x00b", b"X: a\rb", b"X: a\nY: b", b"X: a\n\nGET / HTTP/1.1", b"X\x80: 1", b"(X): 1",
         b"X: \x01", b"X: \x7f", b"X@Y: 1", b"\r: 1", b"X[]: 1", b"X/Y: 1", b'"X": 1', b"X: 1\r", b"\x0bX: 1"]


@kind(8)
def bad_header(rng, target):
    data = request(target, headers=rng.choice(LINES) + b"\r\n", body=an_ask(rng))
    return Shot(data + smuggled(target), BAD, end="wait")


@kind(4)
def bad_host(rng, target):
    mine = b"Host: " + target.host + b"\r\n"
    lines = rng.choice([b"", b"", mine + mine, mine + b"Host: evil.example\r\n", b"Host: evil.example\r\n" + mine,
                        b"Host: a b\r\n", b"Host: a/b\r\n", b"Host: a@b\r\n", b"Host: \xff\r\n", b"Host: <b>evil\r\n",
                        b"Host: ,\r\n", b"Host:\r\n", b"Host: evil.example\r\n", b"Host: localhost.evil.example\r\n",
                        b"Host: 127.0.0.1.evil.example\r\n"])
    body = an_ask(rng)
    headers = lines + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    return Shot(b"POST /agent/ask HTTP/1.1\r\n" + headers + body, codes(400, 403, 421), end="half")


STARTS = [b"GET /healthz HTTP/9.9", b"GET /healthz HTTP/2.0", b"GET /healthz http/1.1", b"GET  /healthz HTTP/1.1",
          b"GET", b"GET /healthz  HTTP/1.1", b"GET\t/healthz\tHTTP/1.1", b"GET\t /healthz HTTP/1.1",
          b" GET /healthz HTTP/1.1", b"GET /healthz HTTP/1.1 ", b"GET /a b HTTP/1.1", b"GET /healthz HTTP/1.1x",
          b"GET /healthz HTTP/11", b"EHLO x", b"GET /healthz HTTP/1.", b"GET /healthz HTTP/-1.1",
          b"GET /heal\x00thz HTTP/1.1", b"GET /healthz\x0b HTTP/1.1", b"/healthz HTTP/1.1", b"GET /healthz",
          b"HTTP/1.1 200 OK", b"PRI * HTTP/2.0", b"GET /healthz HTTP/1.1\rX: 1", b"GET /healthz HTTP/1.1\n",
          b"SSH-2.0-OpenSSH_9.2"]


@kind(4)
def bad_start(rng, target):
    data = rng.choice(STARTS) + b"\r\nHost: " + target.host + b"\r\n\r\n" + smuggled(target)
    return Shot(data, codes(400, 501, 505), end="wait")


@kind(2)
def no_http(rng, target):
    hello = b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03" + rng.randbytes(190)
    data = rng.choice([hello, b"\x05\x01\x00", rng.randbytes(rng.randrange(1, 3000)), b"\r\n" * rng.randrange(2, 50),
                       b"\x00" * 100, b"\n\n"])
    return Shot(data + b"\r\n\r\n", codes(400, 414, 501, 505), end="half", silent=True)


@kind(3)
def after_close(rng, target):
    """Who says close has said all there was."""
    option = b"Connection: " + rng.choice([b"close", b"close", b"Close", b"keep-alive, close", b"close, TE"]) + b"\r\n"
    data, answer = rng.choice([(request(target, b"GET", b"/healthz", option), 200),
                               (request(target, b"GET", b"/nowhere", option), 404),
                               (request(target, headers=option, body=an_ask(rng)), 202),
                               (request(target, b"GET", b"/healthz", version=b"HTTP/1.0"), 200),
                               (request(target, body=an_ask(rng), version=b"HTTP/1.0"), 202)])
    return Shot(data + smuggled(target), codes(answer), end="wait")
