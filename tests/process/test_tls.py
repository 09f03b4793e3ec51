"""TLS as its clients see it: versions, certificates that change while the server runs, and the same manners as in the clear."""

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
import warnings
from functools import partial

from client import check, equal, wait_until
from harness import BINARY, case, clean_environment, command_agent, external_agent
from test_many_idle_clients import open_sockets

tls_case = partial(case, engine="any", why="TLS ends at the connection, before any database is asked")
BODY = b'{"questions":[{"question":"Go on?"}]}'


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificate(folder, name, key_type=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    """(certificate, key), signed by itself, for 127.0.0.1."""
    folder.mkdir(parents=True, exist_ok=True)
    cert, key = folder / f"{name}.cert", folder / f"{name}.key"
    openssl("req", "-x509", "-newkey", *key_type, "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert)
    key.chmod(0o600)
    return cert, key


def der(cert):
    return ssl.PEM_cert_to_DER_cert(cert.read_text())


def trusting(*certs):
    context = ssl.create_default_context()
    for cert in certs:
        context.load_verify_locations(cert)
    return context


def install(server, cert, key):
    """Puts a pair where the server reads it."""
    (server.folder / "tls.cert").write_bytes(cert.read_bytes())
    (server.folder / "tls.key").write_bytes(key.read_bytes())
    (server.folder / "tls.key").chmod(0o600)


class Pair:
    def __init__(self, world, name):
        self.cert, self.key = make_certificate(world.folder / "certificates", name)


def start(world, *pairs, settings=None, agents=(), start=True):
    """A server with the first pair; its clients trust all of them."""
    settings = dict(settings or {})
    settings["server"] = {"tls_cert": "tls.cert", "tls_key": "tls.key", **settings.get("server", {})}
    server = world.server(settings, agents, start=False, tls=trusting(*(pair.cert for pair in pairs)))
    install(server, pairs[0].cert, pairs[0].key)
    if start:
        server.start()
    return server


def connect(server, context=None, timeout=20, **options):
    plain = socket.create_connection(server.address, timeout=timeout)
    try:
        return (context or server.tls).wrap_socket(plain, server_hostname="127.0.0.1", **options)
    except BaseException:
        plain.close()
        raise


def exchange(server, data):
    """All that comes back for exactly these bytes, until the server ends the stream the way TLS asks for."""
    with connect(server, suppress_ragged_eofs=False) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(data)
        return read_to_end(connection)


def read_to_end(connection):
    received = b""
    while data := connection.recv(65536):
        received += data
    return received


def status_of(response):
    check(response.startswith(b"HTTP/1.1 "), f"no response: {response[:200]}")
    return int(response.split()[1])


def served_certificate(server):
    with connect(server) as connection:
        return connection.getpeercert(binary_form=True)


def hang_up(server, event):
    """SIGHUP; the log event with which the server says what came of it."""
    def found():
        return [e for e in server.log_events() if e.get("event") in ("tls_reloaded", "tls_not_reloaded")]

    before = len(found())
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(found()) > before, f"a log line {event}")
    equal(found()[-1]["event"], event, f"{found()[-1]}: the event")
    return found()[-1]


@tls_case("TLS 1.2 and 1.3 work, 1.1 is refused, and the protocol chosen is HTTP/1.1 or none")
def versions(world):
    server = start(world, Pair(world, "one"))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = trusting(server.folder / "tls.cert")
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["h2", "http/1.1"])
        with connect(server, context) as connection:
            equal(connection.version(), {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name], "the version")
            equal(connection.selected_alpn_protocol(), "http/1.1", "the protocol chosen by ALPN")
            equal(connection.compression(), None, "the compression")
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            equal(status_of(read_to_end(connection)), 200, f"the status under {version.name}")

    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    only_h2 = trusting(server.folder / "tls.cert")
    only_h2.set_alpn_protocols(["h2"])
    for context, alert in ((old, "alert protocol version"), (only_h2, "alert no application protocol")):
        try:
            connect(server, context).close()
        except ssl.SSLError as error:
            check(alert in str(error), f"not refused by the server's {alert}: {error}")
        else:
            raise AssertionError(f"a handshake went through that should end in {alert}")
    equal(server.client().get("/healthz").status, 200, "/healthz afterwards")


@tls_case("a client cannot renegotiate")
def renegotiation(world):
    server = start(world, Pair(world, "one"))
    client = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_2"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    world.closing(client.kill)
    output = b""
    while b"Verify return code" not in output:
        line = client.stdout.readline()
        check(line, f"the client ended before the handshake was done: {output}")
        output += line
    client.stdin.write(b"R\n")
    client.stdin.flush()
    rest, _ = client.communicate(timeout=20)
    check(b"RENEGOTIATING" in rest and b"no renegotiation" in rest, f"the client renegotiated: {rest}")


@tls_case("SIGHUP brings a new certificate to new connections, and open ones go on")
def reload(world):
    first, second = Pair(world, "first"), Pair(world, "second")
    server = start(world, first, second)
    equal(served_certificate(server), der(first.cert), "the certificate at the start")

    kept = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.tls)
    kept.request("GET", "/healthz")
    kept.getresponse().read()
    old_socket = kept.sock
    stream = world.keep(server.events())
    old_session = connect(server)
    old_session.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    read_to_end(old_session)  # A ticket has come with it.

    install(server, second.cert, second.key)
    equal(served_certificate(server), der(first.cert), "the certificate before SIGHUP")
    hang_up(server, "tls_reloaded")
    for _ in range(5):
        equal(served_certificate(server), der(second.cert), "the certificate after SIGHUP")
    with connect(server, session=old_session.session) as resumed:
        check(not resumed.session_reused, "a session of the old certificate was resumed")
        equal(resumed.getpeercert(binary_form=True), der(second.cert), "the certificate after trying to resume")

    kept.request("POST", "/agent/ask", BODY, {"Content-Type": "application/json"})
    response = kept.getresponse()
    equal(response.status, 202, "the status on the old connection")
    response.read()
    check(kept.sock is old_socket, "the old connection was closed")
    equal(old_socket.getpeercert(binary_form=True), der(first.cert), "the old connection's certificate")
    wait_until(lambda: stream.events, "an event on the stream that was open before")
    kept.close()


def bad_files(world, good):
    """(name, what to do to a good pair in `folder`, what the reason must say)."""
    other = Pair(world, "other")
    weak = make_certificate(world.folder / "certificates", "weak", ("rsa:1024",))

    def write(name, data):
        return lambda folder: (folder / name).write_bytes(data)

    def encrypt(folder):
        openssl("pkey", "-in", good.key, "-aes256", "-passout", "pass:secret", "-out", folder / "tls.key")

    cert = good.cert.read_bytes()
    return [
        ("no certificate file", lambda folder: (folder / "tls.cert").unlink(), ("tls_cert", "cannot be read")),
        ("no key file", lambda folder: (folder / "tls.key").unlink(), ("tls_key", "cannot be read")),
        ("a folder for a key", lambda folder: ((folder / "tls.key").unlink(), (folder / "tls.key").mkdir()),
         ("tls_key", "cannot be read")),
        ("an empty certificate", write("tls.cert", b""), ("tls_cert", "holds no certificate")),
        ("a certificate that is none", write("tls.cert", b"certificate\n"), ("tls_cert", "holds no certificate")),
        ("a certificate cut off", write("tls.cert", cert[:200]), ("tls_cert", "holds no certificate")),
        ("a chain cut off", write("tls.cert", cert + cert[:200]), ("tls_cert", "chain")),
        ("the key for a certificate", write("tls.cert", good.key.read_bytes()), ("tls_cert", "holds no certificate")),
        ("a key that is none", write("tls.key", b"key\n"), ("tls_key", "holds no private key")),
        ("the certificate for a key", write("tls.key", cert), ("tls_key", "holds no private key")),
        ("another's key", write("tls.key", other.key.read_bytes()), ("tls_key", "does not belong to the certificate")),
        ("a key with a passphrase", encrypt, ("tls_key", "passphrase")),
        ("a key that everyone may read", lambda folder: (folder / "tls.key").chmod(0o604), ("tls_key", "chmod 600")),
        ("a certificate too weak", lambda folder: [(folder / f"tls.{part}").write_bytes(path.read_bytes())
                                                   for part, path in zip(("cert", "key"), weak)],
         ("tls_cert", "too small")),
    ]


def put_back(server, pair):
    with contextlib.suppress(OSError):
        os.rmdir(server.folder / "tls.key")
    install(server, pair.cert, pair.key)


def check_keeps_secret(text, *keys):
    for key in keys:
        for line in key.read_text().splitlines():
            check(line.startswith("--") or line not in text, "a line of a private key is in the log")


@tls_case("files that cannot be used leave the old certificate in place, and the log says why")
def bad_reload(world):
    good, better = Pair(world, "good"), Pair(world, "better")
    server = start(world, good, better)
    wrong = []
    for name, spoil, words in bad_files(world, good):
        put_back(server, good)
        spoil(server.folder)
        try:
            reason = hang_up(server, "tls_not_reloaded")["reason"]
            check(all(word in reason for word in words), f"the reason does not say {words}: {reason}")
            equal(served_certificate(server), der(good.cert), "the certificate")
            equal(server.client().get("/healthz").status, 200, "/healthz")
        except (AssertionError, OSError) as problem:
            wrong.append(f"{name}: {problem}")
    check(not wrong, "\n".join(wrong))
    put_back(server, better)
    hang_up(server, "tls_reloaded")
    equal(served_certificate(server), der(better.cert), "the certificate after a good reload")
    check_keeps_secret(server.log_text(), *(world.folder / "certificates").glob("*.key"))


@tls_case("files that cannot be used keep the server from starting, and check finds them too")
def bad_start(world):
    good = Pair(world, "good")
    server = start(world, good, start=False)
    wrong = []
    for name, spoil, words in bad_files(world, good):
        put_back(server, good)
        spoil(server.folder)
        for command in ("serve", "check"):
            done = subprocess.run([str(BINARY), command, "--settings", str(server.settings_path)], timeout=20,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env=clean_environment())
            if done.returncode == 0 or not all(word in done.stdout for word in words):
                wrong.append(f"{command} with {name}: exit {done.returncode}, {done.stdout}")
            check_keeps_secret(done.stdout, good.key)
    check(not wrong, "\n".join(wrong))
    put_back(server, good)
    server.start()


@tls_case("a certificate's chain is sent with it")
def chain(world):
    folder = world.folder / "certificates"
    root, root_key = make_certificate(folder, "root")
    (folder / "ca.ext").write_text("basicConstraints=critical,CA:TRUE\n")
    (folder / "leaf.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    signer = (root, root_key)
    for name, extensions in (("between", "ca.ext"), ("leaf", "leaf.ext")):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")
        openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA", signer[0], "-CAkey", signer[1], "-CAcreateserial",
                "-days", "2", "-extfile", folder / extensions, "-out", folder / f"{name}.cert")
        signer = (folder / f"{name}.cert", folder / f"{name}.key")
    whole = folder / "whole.cert"
    whole.write_text((folder / "leaf.cert").read_text() + (folder / "between.cert").read_text())
    settings = {"server": {"tls_cert": "tls.cert", "tls_key": "tls.key"}}
    server = world.server(settings, start=False, tls=trusting(root))
    install(server, whole, folder / "leaf.key")
    server.start()
    equal(served_certificate(server), der(folder / "leaf.cert"), "the certificate")


@tls_case("who speaks plain HTTP to the TLS port is told so, noise is closed, and others are served on")
def plain_http(world):
    server = start(world, Pair(world, "one"))
    for data in (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n" + BODY):
        connection = server.raw()
        connection.send(data)
        status, head = connection.response()
        equal(status, 400, f"the status of {data}")
        check(b"strict-transport-security" not in head.lower(), f"HSTS in the clear: {head}")
        wait_until(lambda: connection.read_available(wait=0.2) or connection.ended, "the server closes")
        error = json.loads(connection.received.partition(b"\r\n\r\n")[2])["error"]
        equal(error["code"], "tls_required", "the code")
        check("https" in error["message"], f"the message names no way out: {error}")
        connection.close()
    hello = bytes.fromhex("16030100c8010000c40303")
    for data in (b"\0" * 4096, b"\x80\x2e\x01\x00\x02" + b"x" * 64, hello + os.urandom(400), b"DELETE / HTTP/1.1\r\n\r\n",
                 b"\x15\x03\x01\x00\x02\x02\x28", b"\x16\x03\x01\xff\xff" + b"y" * 70000):
        connection = server.raw()
        connection.send(data)
        wait_until(lambda: connection.read_available(wait=0.2) or connection.ended, f"closed after {data[:20]}")
        check(b"HTTP/" not in connection.received, f"an answer in the clear: {connection.received}")
        connection.close()
    connection = server.raw()  # Comes and goes without a word, as probes do.
    connection.close()
    equal(len(server.client().sessions()), 0, "sessions")


@tls_case("a handshake that takes too long is ended, and holds up nobody meanwhile")
def slow_handshakes(world):
    server = start(world, Pair(world, "one"), settings={"limits": {"head_deadline_seconds": 2}})
    started = time.monotonic()
    silent = [server.raw() for _ in range(20)]
    dribbling = [server.raw() for _ in range(20)]
    outgoing = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        server.tls.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="127.0.0.1").do_handshake()
    hello, sent = outgoing.read(), 0
    client = server.client()
    slowest = 0.0
    open_ones = silent + dribbling
    while open_ones:
        check(time.monotonic() - started < 6, f"{len(open_ones)} handshakes are still open after 6 s")
        open_ones[0].read_available(wait=0.1)
        for connection in open_ones:
            connection.read_available()
            if connection in dribbling and not connection.ended:
                connection.ended = not connection.send(hello[sent:sent + 1])
        sent += 1
        asked = time.monotonic()
        equal(server.client().get("/healthz").status, 200, "/healthz on a new connection meanwhile")
        equal(client.get("/healthz").status, 200, "/healthz meanwhile")
        slowest = max(slowest, time.monotonic() - asked)
        open_ones = [c for c in open_ones if not c.ended]
    check(sent < len(hello), "the handshake was not slow enough to be ended")
    check(time.monotonic() - started > 1.9, "the handshakes were ended before their time")
    check(slowest < 1, f"another client waited {slowest:.2f} s meanwhile")


@tls_case("HSTS is sent under TLS, on every kind of response, and never in the clear")
def hsts(world):
    secure, plain = start(world, Pair(world, "one")), world.server()
    for server, wanted in ((secure, "max-age=31536000"), (plain, None)):
        client = server.client()
        for method, path, status in (("GET", "/healthz", 200), ("HEAD", "/healthz", 200), ("GET", "/nowhere", 404),
                                     ("PUT", "/healthz", 405), ("GET", "/agent/session/1", None),
                                     ("GET", "/" + "x" * 9000, 414)):
            reply = client.request(method, path)
            check(status in (None, reply.status), f"{reply}: wanted {status}")
            equal(reply.headers.get("Strict-Transport-Security"), wanted, f"HSTS of {reply.call} on {server.url}")
            equal(reply.headers.get_all("Cache-Control"), ["no-store"], f"Cache-Control of {reply.call}")


@tls_case("200 clients at once get each their own answer over TLS")
def parallel(world):
    server = start(world, Pair(world, "one"), agents=[external_agent("ci")])
    wrong = []
    ready = threading.Barrier(200)

    def one(number):
        try:
            client = server.client()
            ready.wait(30)
            text = f"Question {number}? " + "x" * number * 20
            asked = client.ask(text)
            for _ in range(3):
                equal(client.question(asked["questions"][0]["id"])["question"], text, "the question read back")
            client.answer(asked["session_id"], f"answer {number}").expect(200)
            found = client.question(asked["questions"][0]["id"])
            check(f"answer {number}" in json.dumps(found), f"another's answer: {found}")
            client.close()
        except Exception as problem:
            wrong.append(f"{number}: {type(problem).__name__} {problem}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not wrong, f"{len(wrong)} of 200: {wrong[:5]}")
    equal(len(server.client().questions(status="answered")), 200, "answered questions")


@tls_case("events stream over TLS, and a stream whose reader has left is let go")
def event_stream(world):
    server = start(world, Pair(world, "one"))
    client = server.client()
    stream = world.keep(server.events())
    sessions = [client.ask(f"Question {n}?")["session_id"] for n in range(20)]
    wait_until(lambda: {e["data"]["session_id"] for e in stream.events} >= set(sessions), "an event of each session")
    equal(stream.ids, sorted(set(stream.ids)), "the ids, in order and once each")

    before = open_sockets(server.pid)
    politely = connect(server)
    politely.sendall(b"GET /agent/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check(politely.recv(9).startswith(b"HTTP/1.1"), "no response")
    wait_until(lambda: open_sockets(server.pid) == before + 1, "the stream is open")
    with contextlib.suppress(OSError):
        politely.unwrap()  # Says goodbye under TLS, and leaves the socket open.

    def let_go():
        client.ask("Anyone?")
        return open_sockets(server.pid) == before

    wait_until(let_go, "the server closes the stream whose reader said goodbye")
    politely.close()


@tls_case("large bodies and large responses pass over TLS, one after the other on one connection")
def large(world):
    server = start(world, Pair(world, "one"), agents=[command_agent("helper")])
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.tls, timeout=20)
    sockets = set()
    for size in (1, 8191, 16384, 16385, 65536, 1_000_000):
        body = json.dumps({"text": "x" * size}).encode()
        connection.request("POST", "/agent/webhook/helper", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        equal(response.status, 202, f"the status of a body of {len(body)} bytes: {text}")
        sockets.add(connection.sock)
        connection.request("GET", "/openapi.json")
        response = connection.getresponse()
        equal(response.status, 200, "the status of a large response")
        json.loads(response.read())
        sockets.add(connection.sock)
    # Chunked, in pieces that fall anywhere in TLS's records.
    connection.request("POST", "/agent/webhook/helper", iter([b'{"text":"'] + [b"y" * 777] * 1000 + [b'"}']),
                       {"Content-Type": "application/json"}, encode_chunked=True)
    response = connection.getresponse()
    equal(response.status, 202, f"the status of a chunked body: {response.read()}")
    sockets.add(connection.sock)
    equal(len(sockets), 1, "connections used")
    connection.close()

    # Two requests in one record.
    twice = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    equal(exchange(server, twice).count(b"HTTP/1.1 200 "), 2, "responses to two requests in one record")


@tls_case("hostile requests are refused over TLS as in the clear, and the stream is ended as TLS asks")
def hostile(world):
    server = start(world, Pair(world, "one"),
                   settings={"limits": {"max_body_bytes": 65536, "head_deadline_seconds": 1, "body_deadline_seconds": 2}})
    post = b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    smuggled = b"POST /agent/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 37\r\n\r\n" + BODY
    wrong = []
    for name, data, status in (
            ("101 headers", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 100 + b"\r\n", 431),
            ("100,000 headers", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 100_000 + b"\r\n", 431),
            ("a negative chunk", post + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n" + smuggled, 400),
            ("two lengths", post + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400),
            ("a body over the limit", post + b"Content-Length: 70000\r\n\r\n" + b" " * 70000 + smuggled, 413),
            ("a body far over the limit", post + b"Content-Length: 9000000\r\n\r\n" + b" " * 9_000_000, 413),
            ("a head that never ends", b"GET / HTTP/1.1\r\nHost: localhost\r\n", 408),
            ("a body that never comes", post + b"Content-Length: 37\r\n\r\n{", 408),
            ("a line break that is no CRLF", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\nY: 1\r\n\r\n", 400)):
        try:
            response = exchange(server, data)
            equal(status_of(response), status, "the status")
            equal(response.count(b"HTTP/1.1 "), 1, "responses")
        except (AssertionError, OSError) as problem:
            wrong.append(f"{name}: {type(problem).__name__} {problem}")
    check(not wrong, "\n".join(wrong))
    equal(len(server.client().sessions()), 0, "sessions stored")


@tls_case("a connection over its address's limit gets its 429 under TLS too, and a silent one is soon closed")
def over_the_limit(world):
    server = start(world, Pair(world, "one"), settings={"limits": {"max_connections_per_address": 3}})

    def place():
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.tls, timeout=20)
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        response.read()
        return connection if response.status == 200 else connection.close()

    kept = [world.keep(wait_until(place, "a place for a connection")) for _ in range(3)]
    response = exchange(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    equal(status_of(response), 429, "the status")
    check(b"\r\nRetry-After: 1\r\n" in response and b"\r\nStrict-Transport-Security: " in response, f"{response}")
    silent = world.keep(server.raw())
    started = time.monotonic()
    wait_until(lambda: silent.read_available(wait=0.2) or silent.ended, "the silent connection is closed")
    check(time.monotonic() - started < 3, f"it was held for {time.monotonic() - started:.1f} s")
    for connection in kept:
        connection.request("GET", "/healthz")
        equal(connection.getresponse().read(), b'{"ok":true}', "what an old connection gets")


@tls_case("a server stops at once under TLS, whatever its connections are at")
def stop(world):
    server = start(world, Pair(world, "one"))
    idle = [world.keep(connect(server)) for _ in range(5)]
    silent = [world.keep(server.raw()) for _ in range(5)]
    stream = world.keep(server.events())
    code, took = server.terminate()
    equal(code, 0, "the exit code")
    check(took < 3, f"it took {took:.1f} s")
    check(idle and silent and stream, "the connections must outlive the check")
