"""The client's side of a test: HTTP with keep-alive, the API's calls by name, raw sockets, and an SSE reader."""

import http.client
import json
import select
import socket
import threading
import time
from urllib.parse import urlencode


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def wait_until(condition, what, deadline=10.0):
    """The first truthy value of condition(); fails once `deadline` seconds have passed."""
    end = time.monotonic() + deadline
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise AssertionError(f"not within {deadline:g} s: {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def readable(sock, seconds=0.0):
    """poll, as select refuses descriptors above 1023."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def new_connection(host, port, timeout, tls=None):
    """`tls` is an ssl.SSLContext."""
    if tls is None:
        return http.client.HTTPConnection(host, port, timeout=timeout)
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)


class Reply:
    def __init__(self, call, status, headers, body):
        self.call, self.status, self.headers, self.body = call, status, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"{self} is not JSON") from None

    @property
    def error(self):
        """The `error` object that every refusal must carry."""
        body = self.json
        check(isinstance(body, dict) and body.get("ok") is False, f"{self} has no \"ok\":false")
        error = body.get("error")
        check(isinstance(error, dict) and error.get("code") and error.get("message"),
              f"{self} lacks error.code or error.message")
        return error

    def expect(self, *statuses):
        check(self.status in statuses, f"{self}, wanted {statuses}")
        return self.json

    def __str__(self):
        return f"{self.call} -> {self.status} {self.body[:600].decode('utf-8', 'replace')}"


class Client:
    """Safe to share: each thread has its own keep-alive connection. A POST is never repeated by itself."""

    def __init__(self, host, port, timeout=70.0, tls=None):
        self.host, self.port, self.timeout, self.tls = host, port, timeout, tls
        self._local = threading.local()

    def request(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if body is not None:
            if not isinstance(body, bytes):
                body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection = self._connection()
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            self.close()
            raise
        return Reply(f"{method} {path[:200]}", response.status, response.headers, content)

    def _connection(self):
        connection = getattr(self._local, "connection", None)
        # Readable while idle means that the server has closed it: a POST on it would fail for no good reason.
        if connection is not None and connection.sock is not None:
            if readable(connection.sock):
                connection.close()
        if connection is None:
            connection = new_connection(self.host, self.port, self.timeout, self.tls)
            self._local.connection = connection
        return connection

    def close(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()

    def get(self, path, **query):
        query = {name: value for name, value in query.items() if value is not None}
        return self.request("GET", path + ("?" + urlencode(query) if query else ""))

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, body, headers)

    # The API's calls by name. Those that return a Reply leave the status to the test.

    def trigger(self, agent, payload=None, key=None):
        headers = {"Idempotency-Key": key} if key else None
        reply = self.post(f"/agent/webhook/{agent}", payload or {}, headers)
        return reply.expect(202)["session_id"]

    def ask(self, *questions, **fields):
        """`questions` are objects, or plain texts for questions without options."""
        listed = [{"question": q} if isinstance(q, str) else q for q in questions]
        return self.post("/agent/ask", {"questions": listed, **fields}).expect(202)

    def answer(self, session, answer, question=None, by=None):
        body = {"answer": answer}
        if question:
            body["question_id"] = question
        if by:
            body["answered_by"] = by
        return self.post(f"/agent/answer/{session}", body)

    def question(self, question, wait=None):
        return self.get(f"/agent/questions/{question}", wait=wait).expect(200)

    def session(self, session, wait=None, until=None):
        return self.get(f"/agent/session/{session}", wait=wait, until=until).expect(200)

    def finished(self, session):
        found = self.session(session, wait=30, until="finished")
        check(found["status"] in ("completed", "failed", "cancelled"), f"not finished within 30 s: {found}")
        return found

    def completed(self, session):
        found = self.finished(session)
        equal(found["status"], "completed", f"status of {found}")
        return found

    def pending(self, session):
        """The pending questions of a session that is running or already parked."""
        found = self.session(session, wait=30)
        equal(found["status"], "pending_input", f"status of {found}")
        return found["questions"]

    def every(self, path, key, **query):
        cursor = None
        while True:
            page = self.get(path, limit=500, cursor=cursor, **query).expect(200)
            yield from page[key]
            cursor = page["next_cursor"]
            if not cursor:
                return

    def questions(self, **query):
        return list(self.every("/agent/questions", "questions", **query))

    def sessions(self, **query):
        return list(self.every("/agent/sessions", "sessions", **query))

    def deliveries(self, **query):
        return list(self.every("/agent/deliveries", "deliveries", **query))

    def events(self, session, of_type=None):
        found, after = [], 0
        while True:
            page = self.get(f"/agent/session/{session}/events", after=after, limit=500).expect(200)["events"]
            if not page:
                return [event for event in found if of_type in (None, event["type"])]
            found += page
            after = page[-1]["seq"]


class RawConnection:
    """A socket for requests that no library would send."""

    def __init__(self, address, timeout=20.0):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.received = b""
        self.ended = False

    def send(self, data):
        """False when the server has closed its side already."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def read_available(self, wait=0.0):
        """Takes in what has arrived, waiting at most `wait` seconds for the first of it."""
        while not self.ended and readable(self.socket, wait):
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            self.ended = not data
            self.received += data
            wait = 0.0

    def response(self, deadline=20.0):
        """(status, head) of the first response, or (None, b"") when the server closed without one."""
        end = time.monotonic() + deadline
        while b"\r\n\r\n" not in self.received and not self.ended:
            check(time.monotonic() < end, f"neither a response nor a close within {deadline:g} s")
            self.read_available(wait=0.2)
        head = self.received.split(b"\r\n\r\n")[0]
        return (int(head.split()[1]), head) if head.startswith(b"HTTP/1.") else (None, b"")

    def close(self):
        self.socket.close()


class EventStream:
    """Reads server-sent events on a thread of its own into `events`: {"id", "event", "data"}."""

    def __init__(self, host, port, path, last_event_id=None, tls=None, headers=None):
        headers = {"Accept": "text/event-stream", **(headers or {})}
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        connection = new_connection(host, port, 60, tls)
        connection.connect()
        self._socket = connection.sock
        connection.request("GET", path, headers=headers)
        self._response = connection.getresponse()
        equal(self._response.status, 200, f"status of GET {path}")
        check(self._response.headers.get("Content-Type", "").startswith("text/event-stream"),
              f"GET {path} is not an event stream: {self._response.headers}")
        self.events = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        fields = {}
        try:
            while line := self._response.readline():
                text = line.decode().rstrip("\r\n")
                if not text and "data" in fields:
                    fields["data"] = json.loads(fields["data"])
                    self.events.append(fields)
                    fields = {}
                elif text and not text.startswith(":"):
                    name, _, value = text.partition(":")
                    fields[name] = value.removeprefix(" ")
        except (OSError, http.client.HTTPException, ValueError):
            pass

    @property
    def ids(self):
        return [int(event["id"]) for event in self.events]

    @property
    def ended(self):
        return not self._thread.is_alive()

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._thread.join(5)
