"""Keys, people and links, as a test holds them."""

import http.client
import re
from urllib.parse import urlencode

from client import Client, check, equal

PASSWORD = "correct horse battery"


class Holder(Client):
    """A client that sends the same headers with every request."""

    def __init__(self, server, headers, timeout=70.0):
        super().__init__("127.0.0.1", server.port, timeout, server.tls)
        self.headers = headers

    def request(self, method, path, body=None, headers=None):
        return super().request(method, path, body, {**self.headers, **(headers or {})})


def make_key(admin, *scopes, name="test"):
    """The text of a new key; `admin` may make one."""
    return admin.post("/agent/keys", {"name": name, "scopes": list(scopes)}).expect(201)["key"]


def with_key(server, key):
    return Holder(server, {"Authorization": f"Bearer {key}"})


def close_server(server):
    """Makes the first key of an open server; a client that holds all a key may hold at once and still answer."""
    return with_key(server, make_key(server.client(), "admin", "questions:answer", name="root"))


def form(client, path, fields, headers=None):
    """Posts a form; `fields` is a dict, or pairs where a name comes more than once."""
    body = urlencode(fields).encode()
    return client.post(path, body, {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})


def add_user(admin, name, role, password=PASSWORD):
    admin.post("/agent/users", {"name": name, "role": role, "password": password}).expect(201)


def hidden_field(page, name):
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', page)
    check(found, f"no hidden field {name} in {page[:400]}")
    return found.group(1)


def cookies_of(reply):
    """Those that a reply sets, as {name: value}; without those that it takes away."""
    pairs = (line.partition(";")[0].partition("=") for line in reply.headers.get_all("Set-Cookie") or [])
    return {name: value for name, _, value in pairs if value}


def open_login(server):
    """(a client that has opened the login page, the fields its form brings along)"""
    page = server.client().get("/login")
    equal(page.status, 200, "GET /login")
    cookies = "; ".join(f"{name}={value}" for name, value in cookies_of(page).items())
    return Holder(server, {"Cookie": cookies} if cookies else {}), {"nonce": hidden_field(page.body.decode(), "nonce"), "next": "/"}


def log_in(server, name, password=PASSWORD):
    """A client with the cookie of a login through the login page."""
    visitor, fields = open_login(server)
    reply = form(visitor, "/login", {**fields, "name": name, "password": password})
    equal(reply.status, 303, f"login of {name}: {reply}")
    return Holder(server, {"Cookie": "holdpoint=" + cookies_of(reply)["holdpoint"]})


def make_link(admin, question, recipient):
    """The path and query of a new answer link."""
    url = admin.post(f"/agent/questions/{question}/links", {"recipient": recipient}).expect(201)["url"]
    return path_of(url)


def path_of(url):
    return "/" + url.split("/", 3)[3]


def send(server, path, headers, body):
    """(status, body) of a POST with exactly these headers; pairs, as a name may come twice. On a connection of its own."""
    connection = http.client.HTTPConnection(*server.address, timeout=70)
    try:
        connection.putrequest("POST", path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
