"""Requests that are framed well and mean ill: odd JSON, types, queries, forms, methods, paths, targets and headers."""

import re

import hostile_json
from shots import MAYBE, REFUSED, TAKEN, Shot, an_ask, chunks, codes, kind, printable, request, smuggled, unframed

NO_ID = "019f0000-0000-7000-8000-000000000000"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


@kind(2)
def valid(rng, target):
    if rng.random() < 0.7:
        path = rng.choice([b"/healthz", b"/readyz", b"/openapi.json", b"/agent/sessions?limit=1"])
        to_head = rng.random() < 0.2
        return Shot(request(target, b"HEAD" if to_head else b"GET", path), codes(200), to_head=to_head)
    if rng.random() < 0.5:
        return Shot(request(target, body=an_ask(rng)), TAKEN)
    return Shot(request(target, path=b"/agent/webhook/helper", body=b'{"n":%d}' % rng.randrange(10**6)), TAKEN)


@kind(26)
def odd_json(rng, target):
    body, asked, triggered = rng.choice(hostile_json.MAKERS)(rng)
    to_helper = rng.random() < 0.3 and len(body) < 100_000
    path, allowed = (b"/agent/webhook/helper", triggered) if to_helper else (b"/agent/ask", asked)
    headers = rng.choice([b"", b"", b"", b"Accept: text/html\r\n", b"X-HTTP-Method-Override: DELETE\r\n"])
    return Shot(request(target, path=path, headers=headers, body=body, typed=rng.random() < 0.8), allowed)


# None holds a request back: `wait` is left out of the queries.
QUERY_VALUES = ["", "-1", "0", "1e9", "999999999999999999999", "NaN", "%00", "%0d%0aX-Evil:%201", "%C0%AF", "%",
                "%zz", "a" * 500, "pending", "completed", "'+OR+1=1--", "<b>evil", "%F0%9F%92%A9", NO_ID, "[]", "{}",
                "true", "null", "+", "%2B", "%26", "1%00", "\xff"]
QUERY_NAMES = [b"status", b"agent", b"session", b"limit", b"cursor", b"after", b"until", b"", b"st%61tus",
               b"limit%00", b"limit[]"]
LISTS = [b"/agent/questions", b"/agent/sessions", b"/agent/deliveries", b"/agent/questions/0", b"/agent/session/0",
         b"/agent/session/0/events", b"/agent/events", b"/agent/keys", b"/agent/users", b"/agent/audit", b"/agent/me"]


@kind(26)
def wrong_types(rng, target):
    """Every route of openapi.json, with ids, parameters and members of any type."""
    named = {"{agent}": ["helper", "nobody", "%F0%9F%92%A9", "a" * 300, "helper%20", "..%2F..%2Fetc", "external"],
             "{session}": [target.session, target.cancelled, target.question, "1", "'%20OR%201=1--", "%25s",
                           "a" * 2000],
             "{question}": [target.question, target.session, "0", "null", "%C0%AF", "-1"]}
    method, path, query, members, answers = rng.choice(target.routes)
    rpc = path == "/mcp"
    for_programs = rpc or path.startswith(("/agent/", "/humanlayer/"))
    page = not for_programs or (method, path) == (b"GET", "/agent/answer/{session}")
    path = re.sub(r"\{\w+\}", lambda name: rng.choice(named.get(name[0], [NO_ID, "0", "undefined", "%2E%2E"])), path)
    if rng.random() < 0.6:
        path += "?" + "&".join(f"{rng.choice(query or ['surplus'])}={rng.choice(QUERY_VALUES)}"
                               for _ in range(rng.randrange(1, 4)))
    body = None
    if method == b"POST":
        body = hostile_json.misfit(rng, members or ["a"]) if rng.random() < 0.8 else b""
    # Pages take forms with a nonce, and count wrong links.
    allowed = answers | REFUSED | {404, 409} | ({403, 415, 429} if page else set())
    return Shot(request(target, method, path.encode("latin-1"), body=body), allowed, page=page, rpc=rpc)


@kind(10)
def random_query(rng, target):
    path = rng.choice(LISTS) + b"?"
    for _ in range(rng.randrange(1, 8)):
        text = rng.choice([printable(rng, rng.randrange(20)), rng.choice(QUERY_VALUES).encode("latin-1")])
        path += rng.choice(QUERY_NAMES) + rng.choice([b"=", b"", b"=="]) + text
        path += rng.choice([b"&", b"&&", b";", b"?", b"=", b"#"])
    return Shot(request(target, b"GET", path), codes(200, 400, 404, 422))


@kind(2)
def chunk_extras(rng, target):
    """Extensions and trailers are allowed, and mean nothing here."""
    body = an_ask(rng)
    extension = rng.choice([b"", b";a=b", b";a", b';a="b c"', b";" + printable(rng, 200), b";a=b;c=d", b" ;a"])
    trailer = rng.choice([b"", b"X-After: 1\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n",
                          b"Host: evil\r\n", b"X-Long: " + b"a" * 1000 + b"\r\n"])
    rest = b"%x%s\r\n%s\r\n0%s\r\n%s\r\n" % (len(body), extension, body, extension, trailer)
    return Shot(unframed(target, b"Transfer-Encoding: chunked\r\n", rest), MAYBE)


@kind(1)
def expect_continue(rng, target):
    expects = rng.choice([b"100-continue", b"100-Continue", b"100-continue, 100-continue", b"200-ok", b"", b"a" * 200])
    body = rng.choice([an_ask(rng), b"{", b"", b"\xff"])
    return Shot(request(target, headers=b"Expect: " + expects + b"\r\n", body=body), MAYBE | {417})


@kind(2)
def odd_key(rng, target):
    name = rng.choice([b"Idempotency-Key: ", b"webhook-id: ", b"X-GitHub-Delivery: "])
    value = rng.choice([b"a" * 256, b"a" * 4000, b"\xff\xfe", b"caf\xc3\xa9", b"", b"  ", b"'; DROP TABLE x;--", b"k",
                        b"%00", b"%0", b"%zz", b"\x80", b"a\tb"])
    return Shot(request(target, path=b"/agent/webhook/helper", headers=name + value + b"\r\n", body=b"{}"), MAYBE)


@kind(1)
def stream(rng, target):
    seen = rng.choice([b"0", b"-1", b"99999999999999999999", b"a", b"", b"1e3", b"\xff", b"9223372036854775807"])
    path = rng.choice([b"/agent/events", b"/agent/session/" + target.session.encode() + b"/events"])
    headers = b"Accept: text/event-stream\r\nLast-Event-ID: " + seen + b"\r\n"
    return Shot(request(target, b"GET", path, headers), codes(200, 400, 422))


# The rest may be refused in a way that ends the connection: each has a connection of its own.

TYPES = [b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x", b"multipart/form-data",
         b"text/plain", b'multipart/form-data; boundary="', b"text/json", b"*/*", b"application/jsonp",
         b"application/xml", b"\xff", b"a" * 500]


@kind(3)
def other_type(rng, target):
    path = rng.choice([b"/agent/ask", b"/agent/webhook/helper", b"/agent/session/%s/message" % target.session.encode()])
    body = rng.choice([b"a=1&b=2", b"a=" + b"x" * 9000, b"--x", b"answer=yes&question_id=1", an_ask(rng),
                       smuggled(target), b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'])
    headers = b"Content-Type: " + rng.choice(TYPES) + b"\r\n"
    return Shot(request(target, path=path, headers=headers, body=body, typed=False), codes(415), end="half")


@kind(1)
def packed_body(rng, target):
    """A body that says that it is packed is not unpacked."""
    how = rng.choice([b"gzip", b"deflate", b"br", b"zstd", b"GZIP", b"gzip, gzip", b"x-unknown"])
    body = rng.choice([b"\x1f\x8b\x08" + rng.randbytes(50), an_ask(rng)])
    headers = b"Content-Encoding: " + how + b"\r\n"
    return Shot(request(target, headers=headers, body=body), codes(400, 415), end="half")


FIELDS = [b"token", b"nonce", b"choice", b"own", b"do", b"name", b"password", b"next", b"", b"a" * 300]
SHORT_TEXTS = [b"", b"<b>evil", b"%3Cb%3Eevil", b'"><b>evil', b"%00", b"%0d%0aX-Evil:+1", b"%C0%AF", b"%zz", b"\xff",
               b"cancel"]
TEXTS = SHORT_TEXTS + [b"a" * 9000, b"//evil.example", b"https://evil.example", b"%2F%2Fevil.example",
                       b"/\\evil.example"]


@kind(3)
def odd_form(rng, target):
    """Forms of the pages, without the nonce that a page would have put in."""
    path = rng.choice([b"/agent/answer/" + target.session.encode(), b"/question/" + target.question.encode(),
                       b"/agent/answer/0", b"/question/0", b"/login", b"/logout"])
    count = rng.choice([0, 1, 2, 3, 5, 101, 5000])
    texts = SHORT_TEXTS if count > 5 else TEXTS
    body = b"&".join(rng.choice(FIELDS) + rng.choice([b"=", b"=", b""]) + rng.choice(texts) for _ in range(count))
    headers = FORM + rng.choice([b"", b"Origin: null\r\n", b"Origin: http://evil\r\n", b"Cookie: holdpoint=a%00b\r\n"])
    return Shot(request(target, path=path, headers=headers, body=body, typed=False),
                codes(400, 403, 404, 409, 413, 415, 422, 429), end="half", page=True)


@kind(1)
def odd_page(rng, target):
    answer = b"/agent/answer/" + target.session.encode()
    path = rng.choice([b"/login?next=", answer + b"?token=", answer + b"?answer=", b"/question/", b"/agent/answer/",
                       b"/?x="])
    return Shot(request(target, b"GET", path + rng.choice(TEXTS)), codes(200, 303, 400, 404, 414, 422, 429), end="half",
                page=True)


@kind(0.5)
def wrong_login(rng, target):
    """Each costs the server much memory and time; it may say that it is busy."""
    body = b"name=admin&password=%s&next=/&nonce=%s" % (rng.randbytes(9).hex().encode(), target.login_nonce.encode())
    headers = FORM + b"Origin: http://" + target.host + b"\r\n"
    return Shot(request(target, path=b"/login", headers=headers, body=body, typed=False), codes(401, 403, 429, 503),
                end="half", page=True)


@kind(1)
def foreign_page(rng, target):
    """A page of another site, in the browser of whoever uses this machine."""
    line = rng.choice([b"Origin: http://evil.example", b"Origin: null", b"Sec-Fetch-Site: cross-site",
                       b"Origin: file://", b"Origin: http://localhost.evil",
                       b"Origin: http://" + target.host + b".evil.example"])
    return Shot(request(target, path=b"/agent/webhook/smuggled", headers=line + b"\r\n", body=b"{}"), codes(400, 403),
                end="half")


@kind(3)
def odd_method(rng, target):
    method = rng.choice([b"get", b"Post", b"FOO", b"TRACE", b"CONNECT", b"PROPFIND", b"PRI", b"G\x00T", b"<b>", b"-",
                         b"A" * 300, b"PURGE", b"DEBUG", b"QUERY", b"G\xc9T"])
    path = rng.choice([b"/healthz", b"/agent/ask", b"/agent/webhook/smuggled", b"*", b"/"])
    return Shot(request(target, method, path), codes(400, 405, 501), end="half")


WRONG_WAY = [(b"GET", b"/agent/ask"), (b"GET", b"/agent/webhook/smuggled"), (b"HEAD", b"/agent/webhook/smuggled"),
             (b"PUT", b"/agent/webhook/smuggled"), (b"OPTIONS", b"/agent/webhook/smuggled"), (b"PATCH", b"/healthz"),
             (b"POST", b"/healthz"), (b"POST", b"/agent/sessions"), (b"DELETE", b"/agent/sessions"),
             (b"OPTIONS", b"*")]


@kind(3)
def other_method(rng, target):
    method, path = rng.choice(WRONG_WAY)
    override = rng.choice([b"", b"X-HTTP-Method-Override: POST\r\n", b"X-Method-Override: POST\r\n"])
    body = rng.choice([None, b"{}", smuggled(target)])
    return Shot(request(target, method, path, override, body), codes(400, 404, 405, 501), end="half",
                to_head=method == b"HEAD")


@kind(5)
def hidden_in_body(rng, target):
    """The body of a request that is refused, or that needs none, is a body still."""
    method, path = rng.choice(WRONG_WAY + [
        (b"GET", b"/healthz"), (b"GET", b"/nowhere"), (b"HEAD", b"/healthz"), (b"POST", b"/nowhere"),
        (b"FOO", b"/healthz"), (b"POST", b"/agent/session/0/cancel"), (b"POST", b"/agent/webhook/nobody"),
        (b"POST", b"/agent/ask")])
    if rng.random() < 0.3:
        data = unframed(target, b"Transfer-Encoding: chunked\r\n", chunks(smuggled(target)), path, method)
    else:
        data = request(target, method, path, rng.choice([b"", b"Expect: 100-continue\r\n"]), smuggled(target))
    return Shot(data, codes(200, 400, 404, 405, 417, 422, 501), end="half", to_head=method == b"HEAD")


PATHS = [b"/", b"//", b"/..", b"/../../../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/agent/../healthz",
         b"//healthz", b"/healthz/", b"/healthz%00", b"/%00", b"/agent/ask%0d%0aX-Evil:%201", b"/%0d%0a%0d%0a<b>evil",
         b"/healthz%20HTTP/1.1", b"/a%", b"/%zz", b"/%u0041", b"/\xff\xfe", b"/\xc0\xae\xc0\xae/", b"/agent\\ask",
         b"/agent/ask;a=b", b"/agent//ask", b"/Agent/Ask", b"/.git/config", b"/admin", b"/agent/session/",
         b"/agent/session//events", b"/agent/webhook/", b"/agent/webhook/a/b", b"/assets/../page.css",
         b"/assets/%2e%2e%2fpage.css", b"/assets/0/../../page.css", b"/assets/0/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
         b"/assets/0/shell.html", b"/session/", b"/session/<b>evil", b"/session/%3Cb%3Eevil", b"/" + b"a/" * 1000, b"/" + b"%41" * 1000]


@kind(4)
def odd_path(rng, target):
    path = rng.choice(PATHS) if rng.random() < 0.9 else b"/" + printable(rng, 60)
    return Shot(request(target, b"GET", path), codes(200, 400, 404, 405, 422), end="half", page=True)


@kind(2)
def odd_target(rng, target):
    """Absolute, authority and asterisk form, and what is no target at all."""
    path = rng.choice([b"http://" + target.host + b"/healthz", b"HTTP://" + target.host + b"/healthz",
                       b"http://evil.example/healthz", b"https://evil.example:443/agent/sessions", b"http://",
                       b"http:///healthz", b"evil.example:443", target.host, b"*", b"healthz", b"?x", b"#x",
                       b"ftp://x/", b"file:///etc/passwd", b"javascript:alert(1)", b"http://a@b:c/healthz",
                       b"http://[::1/healthz", b"@evil.example", b"", b"\\\\evil\\share"])
    method = rng.choice([b"GET", b"OPTIONS", b"CONNECT"])
    return Shot(request(target, method, path), codes(200, 400, 403, 404, 405, 421, 501), end="half")


@kind(3)
def escaped_header(rng, target):
    """An escaped line break in a value must come back in no header, and start no request."""
    escaped = smuggled(target).replace(b" ", b"%20").replace(b"\r\n", b"%0d%0a")
    value = rng.choice([b"a%0d%0aX-Evil: 1", b"a%0D%0A%0D%0A<b>evil", b"a%0aX-Evil:%201", b"a%0dX-Evil: 1", b"%00",
                        b"a%e5%98%8a%e5%98%8dX-Evil: 1", b"a%0d%0a%0d%0a" + escaped])
    name = rng.choice([b"Idempotency-Key", b"webhook-id", b"X-Any", b"Origin", b"Cookie", b"User-Agent", b"Referer",
                       b"Last-Event-ID", b"Accept", b"X-Forwarded-For", b"Authorization"])
    path, body = rng.choice([(b"/agent/webhook/helper", b"{}"), (b"/agent/ask", an_ask(rng))])
    return Shot(request(target, path=path, headers=name + b": " + value + b"\r\n", body=body), MAYBE | {401, 403},
                end="half")


UPGRADES = [b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
            b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhl\r\n",
            b"Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n"]


@kind(1)
def upgrade(rng, target):
    return Shot(request(target, b"GET", b"/healthz", rng.choice(UPGRADES)), codes(200, 400, 404, 426), end="half")
