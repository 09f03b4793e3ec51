"""Stand-ins for what Holdpoint talks to: an agent behind HTTP, and a receiver of callbacks."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    owner = None

    def handle_error(self, request, client_address):
        """Silent: a killed server breaks its connections, and that is what the tests are about."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, content = self.server.owner.exchange(self.path, self.headers, body)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PATCH = do_POST

    def log_message(self, *_):
        pass


class LocalServer:
    def __init__(self, host="127.0.0.1"):
        self._listener = _Listener((host, 0), _Exchange)
        self._listener.owner = self
        self.host, self.port = self._listener.server_address
        self.url = f"http://{self.host}:{self.port}/in"
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._listener.shutdown()
        self._listener.server_close()


class HttpAgent(LocalServer):
    """`respond(turn)` returns the turn's outcome: an object, or the exact bytes of one. `turns` and `raw` keep what came."""

    def __init__(self, respond, host="127.0.0.1"):
        self.respond = respond
        self.turns, self.raw = [], []
        super().__init__(host)

    def exchange(self, path, headers, body):
        turn = json.loads(body)
        self.raw.append(body)
        self.turns.append(turn)
        outcome = self.respond(turn)
        content = outcome if isinstance(outcome, bytes) else json.dumps(outcome).encode()
        return 200, {"Content-Type": "application/json"}, content


class Callback:
    def __init__(self, path, headers, raw):
        self.path, self.headers, self.raw = path, headers, raw
        self.body = json.loads(raw)
        self.at = time.monotonic()

    @property
    def id(self):
        return self.headers["webhook-id"]

    @property
    def event(self):
        return self.body["event"]


class Receiver(LocalServer):
    """Keeps each callback in `received`; `respond(callback)` gives a status, or a status and headers."""

    def __init__(self, respond=lambda callback: 200, host="127.0.0.1"):
        self.respond = respond
        self.received = []
        super().__init__(host)

    def exchange(self, path, headers, body):
        callback = Callback(path, headers, body)
        self.received.append(callback)
        answer = self.respond(callback)
        status, extra = answer if isinstance(answer, tuple) else (answer, {})
        return status, extra, b""

    def of(self, event):
        return [callback for callback in list(self.received) if callback.event == event]
