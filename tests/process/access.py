"""Callers of every kind: keys and users made on the command line, people who log in on the page; and what they changed."""

import http.client
import json
import re
import subprocess
import threading
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from client import Client, Reply, check, equal
from harness import BINARY, clean_environment
from tables import edit

PASSWORD = "correct horse battery"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
KEY_SHAPE = re.compile(r"hp_[0-9a-f]{16}_[A-Za-z0-9_-]{43}")


class Caller(Client):
    """A client with a credential: its headers go with every request, its CSRF token with every change."""

    def __init__(self, server, headers=None, csrf=None, source=None):
        """`source` is the address it calls from."""
        super().__init__("127.0.0.1", server.port, 70.0, server.tls)
        self.server, self.headers, self.csrf, self.source = server, dict(headers or {}), csrf, source

    def _connection(self):
        connection = super()._connection()
        connection.source_address = (self.source, 0) if self.source else None
        return connection

    def request(self, method, path, body=None, headers=None):
        own = dict(self.headers)
        if self.csrf and method != "GET":
            own["X-CSRF-Token"] = self.csrf
        given = {name: value for name, value in {**own, **(headers or {})}.items() if value is not None}
        # One browser for all of a server's callers, as far as the login form's own cookie goes.
        form_cookie = getattr(self.server, "form_cookie", None)
        if path.startswith("/login") and form_cookie:
            given["Cookie"] = "; ".join(filter(None, [given.get("Cookie"), form_cookie]))
        reply = super().request(method, path, body, given)
        for cookie in reply.headers.get_all("Set-Cookie") or []:
            if cookie.startswith("holdpoint-login="):
                self.server.form_cookie = cookie.partition(";")[0]
        return reply

    def form(self, path, fields, headers=None):
        """Posts a form, with the caller's own nonce unless `fields` has one; a `nonce` of None sends none."""
        fields = {"nonce": self.csrf, **fields}
        body = urlencode({name: value for name, value in fields.items() if value is not None}, doseq=True).encode()
        return self.post(path, body, {**FORM, "X-CSRF-Token": None, **(headers or {})})

    def stream(self, path, headers=None):
        """The reply to a GET of server-sent events, with the stream's first line as its body; else the whole reply."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            connection.request("GET", path, headers={**self.headers, "Accept": "text/event-stream", **(headers or {})})
            response = connection.getresponse()
            streams = response.headers.get("Content-Type", "").startswith("text/event-stream")
            return Reply(f"GET {path}", response.status, response.headers,
                         response.readline() if streams else response.read())
        finally:
            connection.close()

    def me(self):
        return self.get("/agent/me").expect(200)


def with_key(server, key, source=None):
    return Caller(server, {"Authorization": f"Bearer {key}"}, source=source)


def key_id(key):
    return key.split("_")[1]


def make_key(admin, *scopes, name="made"):
    """The text of a new key; `admin` is whoever may make one."""
    return admin.post("/agent/keys", {"name": name, "scopes": list(scopes)}).expect(201)["key"]


def add_user(admin, name, role, password=PASSWORD):
    body = {"name": name, "role": role, **({"password": password} if password else {})}
    admin.post("/agent/users", body).expect(201)


class _Inputs(HTMLParser):
    def __init__(self):
        super().__init__()
        self.values = {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "input" and "name" in attributes:
            self.values[attributes["name"]] = attributes.get("value") or ""


def inputs_of(reply):
    """The values of a page's input fields, by name."""
    check(reply.headers.get("Content-Type", "").startswith("text/html"), f"{reply} is no page")
    parser = _Inputs()
    parser.feed(reply.body.decode())
    return parser.values


def send_login(visitor, name, password, **fields):
    """The reply to the login form, filled in as a browser would."""
    page = visitor.get("/login")
    equal(page.status, 200, f"status of {page}")
    nonce = inputs_of(page).get("nonce")
    check(nonce, f"the login form has no nonce: {page}")
    return visitor.form("/login", {"nonce": nonce, "next": "/", "name": name, "password": password, **fields})


def cookie_of(reply):
    """The only cookie that a reply sets."""
    set_by = reply.headers.get_all("Set-Cookie") or []
    equal(len(set_by), 1, f"cookies set by {reply}: {set_by}")
    [cookie] = SimpleCookie(set_by[0]).values()
    return cookie


def log_in(server, name, password=PASSWORD, source=None):
    """A caller with the cookie and the CSRF token of a new login."""
    reply = send_login(Caller(server, source=source), name, password)
    equal(reply.status, 303, f"status of {reply}")
    cookie = cookie_of(reply)
    user = Caller(server, {"Cookie": f"{cookie.key}={cookie.value}"}, source=source)
    user.csrf = user.me()["csrf"]
    check(user.csrf, f"no CSRF token for {name}")
    return user


def run_command(*arguments, stdin="", env=None):
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60, input=stdin,
                          env=clean_environment(env))


def shown(result):
    return f"exit {result.returncode}\nstdout: {result.stdout}\nstderr: {result.stderr}"


def command(server, *arguments, stdin="", key=None, exit_code=0):
    """The finished `holdpoint …` on the server's settings, or, while it runs, on the server itself with that key."""
    env = {"HOLDPOINT_KEY": key} if key else {}
    where = ("--server", server.url) if server.alive() else ("--settings", server.settings_path)
    result = run_command(*arguments, *where, stdin=stdin, env=env)
    equal(result.returncode, exit_code, f"exit code of {' '.join(map(str, arguments))}; {shown(result)}")
    return result


def new_key(server, *scopes, name="made", key=None, days=None):
    """The text of a key made on the command line."""
    options = [option for scope in scopes for option in ("--scope", scope)]
    options += ["--expires-days", days] if days else []
    text = command(server, "keys", "create", "--name", name, *options, key=key).stdout
    check(KEY_SHAPE.fullmatch(text.rstrip("\n")), f"keys create printed {text!r}")
    return text.rstrip("\n")


def new_user(server, name, role, password=PASSWORD, key=None):
    command(server, "users", "add", name, "--role", role, "--password-stdin", stdin=password + "\n", key=key)


def change_database(server, statement, *values):
    check(edit(server, (statement, values)) > 0, f"{statement} {values} changed nothing")


def expire_key(server, key):
    change_database(server, "UPDATE api_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", key_id(key))


def refused_total(caller, reason):
    """How many requests were turned away for that reason, as the metrics say."""
    text = caller.get("/metrics")
    equal(text.status, 200, f"status of {text}")
    found = re.search(rf'^holdpoint_refused_total{{reason="{reason}"}} (\S+)$', text.body.decode(), re.MULTILINE)
    return float(found.group(1)) if found else 0.0


def in_parallel(count, run):
    """The results of run(0) … run(count - 1), started together; the first exception, if any."""
    start, results, errors = threading.Barrier(count), [None] * count, []

    def one(i):
        try:
            start.wait(30)
            results[i] = run(i)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    check(not any(thread.is_alive() for thread in threads), f"{count} calls took more than 60 s")
    if errors:
        raise errors[0]
    return results


def json_of(result):
    return json.loads(result.stdout)
