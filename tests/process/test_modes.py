"""Open, closed, and reachable from other machines: what each mode lets in, and what starts at all."""

import base64
import socket

from access import (Caller, add_user, command, expire_key, inputs_of, key_id, log_in, make_key, new_key, new_user,
                    refused_total, run_command, shown, with_key)
from client import check, equal, wait_until
from harness import case, external_agent

PUBLIC = {"server": {"public_url": "https://holdpoint.example.org"}}
CANARY = "whsec_" + base64.b64encode(b"a secret nobody may ever read").decode()


def named(server, host, **headers):
    """Somebody who calls the server by that name."""
    return Caller(server, {"Host": host, **headers})


def pending(client):
    asked = client.ask("Ship it?")
    return asked["session_id"], asked["questions"][0]["id"]


def refusal(reply):
    """The code of a refusal, from JSON; for a page its status alone."""
    equal(reply.status, 403, f"status of {reply}")
    return reply.error["code"] if reply.headers["Content-Type"].startswith("application/json") else "page"


def status_of(server, *lines):
    """Of a request with exactly these header lines."""
    connection = server.raw()
    try:
        head = ["GET /agent/sessions HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *lines, "Connection: close", "", ""]
        connection.send("\r\n".join(head).encode())
        return connection.response()[0]
    finally:
        connection.close()


@case("an open server answers to the names of this machine and to its public one, and to no other")
def hosts(world):
    server = world.server(PUBLIC)
    client = server.client()
    session, question = pending(client)
    for name in ("localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "[::1]", "holdpoint.example.org"):
        for host in (name, f"{name}:{server.port}", f"{name}:443"):
            for path in ("/agent/sessions", "/", "/questions", f"/question/{question}", "/healthz"):
                equal(named(server, host).get(path).status, 200, f"GET {path} from {host}")

    foreign = ["evil.example", "0.0.0.0", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example.localhost.",
               "xholdpoint.example.org", "holdpoint.example.org.evil.example", "[::]", "[::2]", "10.0.0.1", "2130706433",
               "0x7f.1", "127.0.0.1.", "[::ffff:10.0.0.1]", "", "[::1].evil.example", "localhost:80.evil.example"]
    before = refused_total(client, "foreign_host")
    tried = 0
    for name in foreign:
        for host in {name, f"{name}:{server.port}"}:
            stranger = named(server, host)
            for reply in (stranger.get("/agent/sessions"), stranger.get("/"), stranger.get("/login"),
                          stranger.get("/healthz"), stranger.answer(session, "yes"),
                          stranger.post("/agent/keys", {"name": "mine", "scopes": ["admin"]})):
                check(refusal(reply) in ("foreign_host", "page"), f"{host!r}: {reply}")
                tried += 1
    equal(refused_total(client, "foreign_host") - before, tried, "refusals counted")

    with_no_host = world.keep(server.raw())
    with_no_host.send(b"GET /agent/sessions HTTP/1.0\r\n\r\n")
    equal(with_no_host.response()[0], 403, "HTTP/1.0 without Host")
    equal(client.question(question)["status"], "pending", "the question after all this")
    equal(client.get("/agent/keys").expect(200), {"keys": []}, "keys after all this")


@case("an open server takes changes from its own pages and from programs, not from pages of others")
def origins(world):
    server = world.server(PUBLIC)
    client = server.client()
    own, site = f"http://127.0.0.1:{server.port}", "Sec-Fetch-Site"
    mine = [{}, {"Origin": own}, {"Origin": own, site: "same-origin"}, {"Origin": "https://holdpoint.example.org"},
            {"Origin": f"http://localhost:{server.port}", "Host": f"localhost:{server.port}"},
            {"Origin": "null", site: "same-origin"}, {site: "same-origin"}, {site: "none"}]
    for headers in mine:
        session, _ = pending(client)
        reply = client.post(f"/agent/answer/{session}", {"answer": "yes"}, headers)
        equal(reply.status, 200, f"an answer with {headers}: {reply}")

    others = [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "null", site: "cross-site"},
              {"Origin": "null", site: "same-site"}, {"Origin": f"https://127.0.0.1:{server.port}"},
              {"Origin": f"http://127.0.0.1:{server.port + 1}"}, {"Origin": "http://127.0.0.1"},
              {"Origin": own + ".evil.example"}, {"Origin": own + "/"}, {"Origin": "file://"},
              {"Origin": "http://holdpoint.example.org"}, {"Origin": "https://holdpoint.example.org.evil.example"},
              {"Origin": "http://evil.example", site: "same-origin"}, {site: "cross-site"}, {site: "same-site"}]
    session, question = pending(client)
    for headers in others:
        reply = client.post(f"/agent/answer/{session}", {"answer": "yes"}, headers)
        equal(refusal(reply), "foreign_origin", f"an answer with {headers}")
        if "Origin" in headers:
            equal(refusal(client.request("GET", "/agent/sessions", headers=headers)), "foreign_origin",
                  f"a script that reads, with {headers}")
    for two in ((own, "http://evil.example"), ("http://evil.example", own), ("http://evil.example", "")):
        equal(status_of(server, *(f"Origin: {origin}" for origin in two)), 403, f"two origins {two}")
    equal(client.request("GET", "/", headers={site: "cross-site"}).status, 200, "a link that somebody follows")
    equal(client.question(question)["status"], "pending", "the question after all this")


@case("an open server refuses what came through a proxy")
def forwarded(world):
    server = world.server()
    client = server.client()
    session, question = pending(client)
    for name, value in (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-For", "127.0.0.1"),
                        ("Forwarded", "for=203.0.113.9"), ("x-forwarded-for", "unknown")):
        for reply in (client.request("GET", "/agent/sessions", headers={name: value}),
                      client.post(f"/agent/answer/{session}", {"answer": "yes"}, {name: value})):
            equal(refusal(reply), "forwarded", f"{name}: {value}")
    for name in ("X-Forwarded-For", "Forwarded"):
        for two in (("for=203.0.113.9", ""), ("", "for=203.0.113.9")):
            equal(status_of(server, *(f"{name}: {value}" for value in two)), 403, f"two {name}: {two}")
    equal(client.question(question)["status"], "pending", "the question after all this")


@case("an open server's forms need the nonce of its page")
def open_forms(world):
    server = world.server()
    caller = Caller(server)
    session, question = pending(caller)
    path = f"/question/{question}"
    for nonce in (None, "", "1.x", inputs_of(caller.get("/login"))["nonce"]):
        equal(caller.form(path, {"nonce": nonce, "own": "yes", "do": "answer"}).status, 403, f"a form with {nonce!r}")
    nonce = inputs_of(caller.get(path))["nonce"]
    equal(caller.form(path, {"nonce": nonce, "own": "yes"}, {"Origin": "http://evil.example"}).status, 403,
          "a form of another site")
    equal(caller.question(question)["status"], "pending", "the question")
    equal(caller.form(path, {"nonce": nonce, "own": "yes"}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}).status,
          200, "the page's own form, as a browser sends it")
    equal(caller.question(question)["answer"], "yes", "the answer")


def check_closed(server, what):
    nobody = Caller(server)
    equal(nobody.get("/agent/sessions").status, 401, f"GET /agent/sessions {what}")
    equal(nobody.post("/agent/keys", {"name": "mine", "scopes": ["admin"]}).status, 401, f"POST /agent/keys {what}")
    reply = nobody.get("/")
    equal((reply.status, reply.headers["Location"]), (303, "/login?next=%2F"), f"GET / {what}")


@case("the first key closes the server at once, and no later loss of keys opens it again")
def key_closes(world):
    server = world.server()
    client = server.client()
    client.get("/agent/sessions").expect(200)
    root = make_key(client, "admin", name="root")
    check_closed(server, "right after the first key")
    admin = with_key(server, root)
    other = make_key(admin, "sessions:read")
    for key in (other, root):
        admin.post(f"/agent/keys/{key_id(key)}/revoke").expect(200)
    check_closed(server, "without a live key")
    equal(admin.get("/agent/keys").status, 401, "the key that revoked itself")
    server.restart()
    check_closed(server, "after a restart")
    # Who has the database can let themselves in again.
    server.kill()
    lost = new_key(server, "sessions:read", name="lost", days=1)
    expire_key(server, lost)
    server.start()
    check_closed(server, "with an expired key")
    equal(with_key(server, lost).get("/agent/sessions").status, 401, "the expired key")
    server.kill()
    again = new_key(server, "sessions:read", name="again")
    server.start()
    with_key(server, again).get("/agent/sessions").expect(200)


@case("the first user closes the server at once, and removing the last one does not open it")
def user_closes(world):
    server = world.server()
    add_user(server.client(), "ana", "admin")
    check_closed(server, "right after the first user")
    log_in(server, "ana").post("/agent/users/ana/remove").expect(200)
    check_closed(server, "without users")
    server.restart()
    check_closed(server, "after a restart")


@case("a key made on the command line closes the server that its settings name, also while it runs")
def command_closes(world):
    server = world.server()
    server.write_settings()  # With the port that it took: where the command finds it.
    result = run_command("keys", "create", "--name", "ci", "--scope", "sessions:read", "--settings", server.settings_path)
    equal(result.returncode, 0, f"exit code; {shown(result)}")
    if server.database.engine == "postgres":
        # The command changes the database itself, and the nodes hear of it.
        wait_until(lambda: server.client().get("/agent/sessions").status == 401, "the server heard of the key", deadline=2)
    check_closed(server, "after keys create")
    with_key(server, result.stdout.strip()).get("/agent/sessions").expect(200)


def start_elsewhere(server, listen="0.0.0.0:0", **env):
    """The finished `serve` on an address that other machines reach; it must not stay up."""
    return run_command("serve", "--settings", server.settings_path,
                       env={"HOLDPOINT_SERVER_LISTEN": listen, **env})


NO_CREDENTIAL, NO_SECRECY = "holdpoint users add", "insecure_http"


def check_refuses(result, what, *wanted):
    equal(result.returncode, 2, f"exit code {what}; {shown(result)}")
    for sentence in (NO_CREDENTIAL, NO_SECRECY):
        equal(sentence in result.stderr, sentence in wanted, f"whether it names {sentence} {what}; {shown(result)}")
    check("lets other machines in" in result.stderr, f"it does not say why {what}; {shown(result)}")


@case("a server that other machines reach needs a live credential and a safe way, or it does not start")
def reachable(world):
    server = world.server(start=False)
    insecure = {"HOLDPOINT_SERVER_INSECURE_HTTP": "true"}
    proxied = {"HOLDPOINT_SERVER_TRUSTED_PROXIES": "127.0.0.1"}
    for listen in ("0.0.0.0:0", "[::]:0"):
        check_refuses(start_elsewhere(server, listen), f"on {listen}", NO_CREDENTIAL, NO_SECRECY)
    for way in (insecure, proxied):
        check_refuses(start_elsewhere(server, **way), f"without a credential, {way}", NO_CREDENTIAL)

    key = new_key(server, "admin", name="root", days=1)
    check_refuses(start_elsewhere(server), "with a key, in the clear", NO_SECRECY)
    expire_key(server, key)
    check_refuses(start_elsewhere(server, **insecure), "with an expired key", NO_CREDENTIAL)
    key = new_key(server, "admin", name="root")
    command(server, "keys", "revoke", key_id(key))
    check_refuses(start_elsewhere(server, **insecure), "with a revoked key", NO_CREDENTIAL)
    new_user(server, "ana", "admin")
    command(server, "users", "remove", "ana")
    check_refuses(start_elsewhere(server, **insecure), "with a removed user", NO_CREDENTIAL)

    key = new_key(server, "admin", name="root")
    for way in (insecure, proxied):
        server.start(env={"HOLDPOINT_SERVER_LISTEN": "0.0.0.0:0", **way})
        check_closed(server, f"on 0.0.0.0 with {way}")
        with_key(server, key).get("/agent/sessions").expect(200)
        equal(named(server, "any.example", Authorization=f"Bearer {key}").get("/agent/sessions").status, 200,
              "a key under another name")
        server.kill()
        server.port = 0
    server.start(env={"HOLDPOINT_SERVER_LISTEN": "0.0.0.0:0", **insecure})
    with_key(server, key).post(f"/agent/keys/{key_id(key)}/revoke").expect(200)
    check_closed(server, "on 0.0.0.0 after its last key was revoked")


@case("a server on 0.0.0.0 that refused to start leaves its port alone")
def refused_port(world):
    server = world.server(start=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    check_refuses(start_elsewhere(server, f"0.0.0.0:{port}"), "on a port of its own", NO_CREDENTIAL, NO_SECRECY)
    with socket.create_server(("127.0.0.1", port)):
        pass


def secret_file(server, mode, name="secret"):
    path = server.folder / name
    path.write_text(CANARY + "\n")
    path.chmod(mode)
    return f"file:{name}"


def check_silent(result, what):
    check(CANARY not in result.stdout + result.stderr, f"the secret is printed {what}; {shown(result)}")


@case("check shows the settings with every secret as ***, wherever the secret comes from")
def masked(world):
    server = world.server(agents=[external_agent("caller", callback_secret=CANARY, webhook_verify="standard",
                                                 webhook_secret=CANARY)], start=False)
    for given, env in ((CANARY, {}), ("env:MY_SECRET", {"MY_SECRET": CANARY}), (secret_file(server, 0o600), {}),
                       ([CANARY, "env:MY_SECRET"], {"MY_SECRET": CANARY})):
        server.settings["questions"] = {"callback_secret": given}
        server.write_settings()
        result = run_command("check", "--settings", server.settings_path, env=env)
        equal(result.returncode, 0, f"exit code with {given}; {shown(result)}")
        check_silent(result, f"by check with {given}")
        stars = ", ".join(["***"] * (len(given) if isinstance(given, list) else 1))
        check(f"[questions] callback_secret = [{stars}]\n" in result.stdout, f"no {stars}; {shown(result)}")
        check("[server] listen = \"127.0.0.1:0\"\n" in result.stdout, f"other settings are not shown; {shown(result)}")

    server.settings["questions"] = {"callback_secret": CANARY, "on_timeout": "explode"}
    server.write_settings()
    result = run_command("check", "--settings", server.settings_path)
    equal(result.returncode, 2, f"exit code with a wrong setting; {shown(result)}")
    check_silent(result, "by a complaint about another key")
    server.settings["questions"] = {"callback_secret": CANARY[:-4] + "!!"}
    server.write_settings()
    result = run_command("check", "--settings", server.settings_path)
    equal(result.returncode, 2, f"exit code with a broken secret; {shown(result)}")
    check(CANARY[6:-4] not in result.stdout + result.stderr, f"a broken secret is printed; {shown(result)}")


@case("a secret's file that everybody may read stops check and serve, in settings and in agents")
def readable_secret(world):
    server = world.server(start=False)
    for mode in (0o644, 0o604, 0o666):
        server.settings["questions"] = {"callback_secret": secret_file(server, mode)}
        server.write_settings()
        for verb in ("check", "serve"):
            result = run_command(verb, "--settings", server.settings_path)
            equal(result.returncode, 2, f"exit code of {verb} with {oct(mode)}; {shown(result)}")
            check("callback_secret" in result.stderr and "chmod 600" in result.stderr, f"{verb}; {shown(result)}")
            check_silent(result, f"by {verb}")
    (server.folder / "secret").chmod(0o640)
    equal(run_command("check", "--settings", server.settings_path).returncode, 0, "a file for the group")

    secret = secret_file(server, 0o644, "agents/secret")
    for front in ({"callback_secret": "file:secret"}, {"webhook_verify": "github", "webhook_secret": "file:secret"}):
        name, text = external_agent("caller", **front)
        (server.folder / "agents" / f"{name}.md").write_text(text)
        for verb in ("check", "serve"):
            result = run_command(verb, "--settings", server.settings_path)
            equal(result.returncode, 2, f"exit code of {verb} with {front} and {secret}; {shown(result)}")
            check("caller.md" in result.stderr and "chmod 600" in result.stderr, f"{verb}; {shown(result)}")
            check_silent(result, f"by {verb}")
