"""API keys: made, listed and ended on the command line, taken to the letter, limited, and never kept as they are."""

import hashlib
import time
from datetime import datetime, timedelta, timezone

from access import (KEY_SHAPE, PASSWORD, Caller, command, cookie_of, expire_key, in_parallel, json_of, key_id,
                    log_in, make_key, new_key, new_user, refused_total, run_command, send_login, shown, with_key)
from client import EventStream, check, equal, wait_until
from harness import case
from tables import audit, look


def listed(server, key=None):
    """{name: key} of `keys list --json`."""
    return {about["name"]: about for about in json_of(command(server, "keys", "list", "--json", key=key))["keys"]}


def when(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@case("keys are created, listed and revoked on the command line, without a server")
def offline(world):
    server = world.server(start=False)
    equal(command(server, "keys", "list").stdout, "no keys\n", "keys list before the first")
    made = command(server, "keys", "create", "--name", "ci bot", "--scope", "questions:ask", "--scope", "sessions:read")
    key = made.stdout.rstrip("\n")
    check(KEY_SHAPE.fullmatch(key), f"standard output has more than the key: {shown(made)}")
    check("only time" in made.stderr and key not in made.stderr, f"standard error; {shown(made)}")
    about = json_of(command(server, "keys", "create", "--json", "--name", "short", "--scope", "webhook:deploy",
                            "--expires-days", 2))
    check(KEY_SHAPE.fullmatch(about["key"]), f"keys create --json: {about}")
    lives = when(about["about"]["expires_at"]) - datetime.now(timezone.utc)
    check(timedelta(days=2, minutes=-2) < lives <= timedelta(days=2), f"it lives for {lives}")

    keys = listed(server)
    equal({name: (k["id"], k["scopes"], k["status"]) for name, k in keys.items()},
          {"ci bot": (key_id(key), ["questions:ask", "sessions:read"], "live"),
           "short": (key_id(about["key"]), ["webhook:deploy"], "live")}, "keys list --json")
    equal((keys["ci bot"]["expires_at"], keys["ci bot"]["last_used_at"]), (None, None), "a new key")
    text = command(server, "keys", "list").stdout
    check(all(part in text for part in ("ci bot", key_id(key), "questions:ask sessions:read", "live")), f"list: {text}")
    for secret in (key, about["key"]):
        check(secret.split("_", 2)[2] not in text + str(keys), "a list shows a secret")

    command(server, "keys", "revoke", key_id(key))
    command(server, "keys", "revoke", key_id(key))  # To be sure.
    equal(listed(server)["ci bot"]["status"], "revoked", "the revoked key")
    expire_key(server, about["key"])
    equal(listed(server)["short"]["status"], "expired", "the expired key")
    trail = [(row["action"], row["credential"]) for row in audit(server)]
    equal(trail, [("key_created", "local"), ("key_created", "local"), ("key_revoked", "local")], "the audit log")


@case("no key asks and answers, or asks and rules; unknown scopes and broken calls make no key")
def scope_rules(world):
    server = world.server(start=False)

    def refused(exit_code, says, *arguments):
        result = command(server, "keys", "create", *arguments, exit_code=exit_code)
        equal(result.stdout, "", f"standard output of {arguments}")
        check(says in result.stderr, f"no {says!r} in {result.stderr!r}")

    def scopes(*names):
        return ["--name", "bad"] + [option for name in names for option in ("--scope", name)]

    refused(1, "questions:answer", *scopes("questions:ask", "questions:answer"))
    refused(1, "questions:answer", *scopes("questions:answer", "sessions:read", "questions:ask"))
    refused(1, "admin", *scopes("questions:ask", "admin"))
    for unknown in ("sessions", "sessions:*", "Admin", "webhook:", "questions:ask questions:answer", "webhook:a b", ""):
        refused(1, "scope", *scopes(unknown))
        refused(1, "scope", *scopes("sessions:read", unknown))
    refused(1, "name", "--name", " ", "--scope", "admin")
    refused(1, "name", "--name", "x" * 65, "--scope", "admin")
    refused(2, "--scope", "--name", "bad")
    refused(2, "--name", "--scope", "admin")
    for days in ("0", "-1", "4000", "soon"):
        refused(2, "--expires-days", *scopes("admin"), "--expires-days", days)
    command(server, "keys", "revoke", "0123456789abcdef", exit_code=1)
    equal(listed(server), {}, "keys after all this")

    server.start()
    client = server.client()
    for body in ({"name": "bad", "scopes": ["questions:ask", "questions:answer"]},
                 {"name": "bad", "scopes": ["questions:ask", "admin"]}, {"name": "bad", "scopes": ["root"]},
                 {"name": "bad", "scopes": []}, {"name": "bad", "scopes": "admin"}, {"name": "bad"},
                 {"scopes": ["admin"]}, {"name": "bad", "scopes": ["admin"], "expires_in_days": 0},
                 {"name": "bad", "scopes": ["admin"], "id": "0123456789abcdef"}):
        equal(client.post("/agent/keys", body).status, 422, f"{body}")
    equal(client.get("/agent/keys").expect(200), {"keys": []}, "keys after all this, and the server is open")


@case("the command line asks a running server, with the key in HOLDPOINT_KEY")
def against_a_server(world):
    server = world.server(start=False)
    root, reader = new_key(server, "admin", name="root"), new_key(server, "sessions:read", name="reader")
    server.start()
    made = new_key(server, "questions:read", name="made online", key=root)
    with_key(server, made).get("/agent/questions").expect(200)
    equal(set(listed(server, root)), {"root", "reader", "made online"}, "keys list")
    command(server, "keys", "revoke", key_id(made), key=root)
    equal(with_key(server, made).get("/agent/questions").status, 401, "the key, once revoked")
    equal(command(server, "keys", "list", key=root).stdout.count("revoked"), 1, "keys list shows what is revoked")

    result = command(server, "keys", "list", exit_code=1)
    check("HOLDPOINT_KEY" in result.stderr, f"without a key; {shown(result)}")
    for key, says in ((reader, "admin"), (made, "HOLDPOINT_KEY"), ("nonsense", "HOLDPOINT_KEY")):
        result = command(server, "keys", "create", "--name", "mine", "--scope", "admin", key=key, exit_code=1)
        check(says in result.stderr and not result.stdout, f"no {says}; {shown(result)}")
        check(key not in result.stderr, f"the key is printed; {shown(result)}")
    server.write_settings()  # With the port that it took: where the command finds it.
    found = run_command("keys", "list", "--json", "--settings", server.settings_path, env={"HOLDPOINT_KEY": root})
    equal(len(json_of(found)["keys"]), 3, "keys list on the settings of a running server")
    online = [row for row in audit(server) if row["credential"] != "local"]
    equal([(row["action"], row["actor"], row["credential"], row["address"]) for row in online],
          [(action, "root", f"key:{key_id(root)}", "127.0.0.1") for action in ("key_created", "key_revoked")],
          "the audit log")


@case("the last use of a key is written at once, then at most once a minute, and at the end")
def last_use(world):
    server = world.server(start=False)
    root, late = new_key(server, "admin", name="root"), new_key(server, "sessions:read", name="late")
    server.start()
    with_key(server, late + "x").get("/agent/sessions")
    with_key(server, root, source="127.0.0.3").get("/agent/keys").expect(200)

    def uses():
        return {row["name"]: (row["last_used_at"], row["last_used_from"]) for row in look(server, "SELECT * FROM api_keys")}

    wait_until(lambda: uses()["root"][0], "the first use is written")
    equal(uses()["root"][1], "127.0.0.3", "from where")
    written = uses()
    for _ in range(20):
        with_key(server, late).get("/agent/sessions").expect(200)
    equal(uses(), written, "uses written within the same minute")
    equal(server.terminate()[0], 0, "exit code")
    server.start()
    found = listed(server, root)
    # Against what was written before: the list itself is a use of root's.
    check(when(found["late"]["last_used_at"]) >= when(written["root"][0]), f"the later use: {found}")
    equal(found["late"]["last_used_from"], "127.0.0.1", "from where")
    check("last used" in command(server, "keys", "list", key=root).stdout, "keys list does not show the last use")


@case("a key's secret, a password and a login's cookie stand in no log and in no file")
def kept_as_hashes(world):
    server = world.server(start=False)
    root, password = new_key(server, "admin", name="root"), "a password to look for"
    new_user(server, "ana", "admin", password)
    server.start()
    admin = with_key(server, root)
    online = make_key(admin, "sessions:read")
    with_key(server, online).get("/agent/sessions").expect(200)
    with_key(server, online[:-1]).get("/agent/sessions")
    # Where keys do not belong.
    Caller(server).get("/agent/sessions", key=root)
    Caller(server).get(f"/agent/session/{root}")
    admin.get("/agent/sessions", status=root)
    admin.post("/agent/answer/nobody", {"answer": root, root: 1})
    Caller(server, {root: root, "Cookie": f"holdpoint={root}"}).get("/agent/sessions")
    send_login(Caller(server), password, password + "!")
    login = send_login(Caller(server), "ana", password)
    cookie = cookie_of(login).value
    user = Caller(server, {"Cookie": f"holdpoint={cookie}"})
    user.get("/agent/sessions").expect(200)
    command(server, "keys", "revoke", key_id(online), key=root)
    metrics = admin.get("/metrics").body
    server.terminate()
    places = {path.name: path.read_bytes() for path in server.folder.rglob("*") if path.is_file() and path.name != "settings.toml"}
    places |= server.database.contents()
    check("server.log" in places and len(places) > 1, f"only {list(places)}")
    for name, secret in (("root's", root.split("_", 2)[2]), ("online's", online.split("_", 2)[2]),
                         ("password", password), ("cookie", cookie), ("near miss", online.split("_", 2)[2][:-1])):
        for place, content in places.items():
            check(secret.encode() not in content, f"{name} secret stands in {place}")
        check(secret.encode() not in metrics, f"{name} secret stands in the metrics")
    kept = {row["id"]: row["secret_hash"] for row in look(server, "SELECT id, secret_hash FROM api_keys")}
    equal(kept, {key_id(key): hashlib.sha256(key.split("_", 2)[2].encode()).hexdigest() for key in (root, online)},
          "what is kept of the keys")
    [row] = look(server, "SELECT password_hash FROM users")
    check(row["password_hash"].startswith("$argon2id$"), f"what is kept of the password: {row}")


@case("a key counts to the letter: near misses are 401, and look alike")
def near_misses(world):
    server = world.server({"limits": {"wrong_credentials_per_minute": 100000}}, start=False)
    key, other = new_key(server, "sessions:read", name="one"), new_key(server, "sessions:read", name="two")
    revoked, expired = new_key(server, "sessions:read"), new_key(server, "sessions:read")
    command(server, "keys", "revoke", key_id(revoked))
    expire_key(server, expired)
    server.start()
    prefix, ident, secret = key.split("_", 2)
    flipped = [key[:i] + ("B" if key[i] == "A" else "A") + key[i + 1:] for i in range(len(key))]
    wrong = [*flipped, key[:-1], key + "A", key + " x", key.upper(), key.lower(), key[1:], f"{prefix}_{ident}_",
             f"{prefix}_{ident}", f"{prefix}__{secret}", f"{prefix}_{ident.upper()}_{secret}", "hp_", "", "null",
             f"{prefix}_{key_id(other)}_{secret}", f"{prefix}_{'0' * 16}_{secret}", f"{key},{other}", f"{key} {other}",
             f"{prefix}_{ident}_{hashlib.sha256(secret.encode()).hexdigest()}", f'"{key}"', f"<{key}>", revoked, expired,
             key.replace("_", "-", 1), "hp_%' OR 1=1 --_" + secret]
    check(len(set(wrong) - {key, other}) > 80, "too few near misses")
    bodies = set()
    for text in set(wrong) - {key}:
        reply = with_key(server, text).get("/agent/sessions")
        equal((reply.status, reply.error["code"]), (401, "unauthenticated"), f"{text!r}: {reply}")
        bodies.add(reply.body)
    equal(len(bodies), 1, f"different answers to wrong keys: {bodies}")
    for header in (key, f"Basic {key}", f"Token {key}", f"Bearer{key}", f"Bearer: {key}"):
        equal(Caller(server, {"Authorization": header}).get("/agent/sessions").status, 401, f"Authorization: {header}")
    for header in (f"Bearer {key}", f"bearer {key}", f"BEARER {key}", f"Bearer   {key}  "):
        equal(Caller(server, {"Authorization": header}).get("/agent/sessions").status, 200, f"Authorization: {header}")
    for first, second in ((key, other), (key, key), ("x", key)):
        twice = world.keep(server.raw())
        twice.send(f"GET /agent/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {first}\r\n"
                   f"Authorization: Bearer {second}\r\nConnection: close\r\n\r\n".encode())
        check(twice.response()[0] in (400, 401), f"two keys at once: {twice.received[:200]}")


@case("a revoked key is out at once, also from a connection that is open")
def revoked_at_once(world):
    server = world.server()
    admin = with_key(server, make_key(server.client(), "admin", name="root"))
    key = make_key(admin, "sessions:read", "sessions:create")
    holder = with_key(server, key)
    holder.get("/agent/sessions").expect(200)
    admin.post(f"/agent/keys/{key_id(key)}/revoke").expect(200)
    equal(holder.get("/agent/sessions").status, 401, "the next request of the same connection")
    equal(in_parallel(8, lambda _: with_key(server, key).get("/agent/sessions").status), [401] * 8, "other connections")


@case("an event stream ends for a key that is revoked: it tells nothing that happens afterwards")
def revoked_stream(world):
    server = world.server()
    admin = with_key(server, make_key(server.client(), "admin", name="root"))
    asker = with_key(server, make_key(admin, "questions:ask"))
    keys = [make_key(admin, "sessions:read") for _ in range(2)]
    streams = [world.keep(EventStream(*server.address, "/agent/events", headers={"Authorization": f"Bearer {key}"}))
               for key in keys]
    told = len(admin.events(asker.ask("Before?")["session_id"]))
    for stream in streams:
        wait_until(lambda: len(stream.events) == told, "the events before")
    admin.post(f"/agent/keys/{key_id(keys[0])}/revoke").expect(200)
    for n in range(3):
        asker.ask("After?")
        wait_until(lambda: len(streams[1].events) >= told * (n + 2), "the events at the key that lives")
    equal(len(streams[0].events), told, "events that the revoked key was told")


@case("a key that sends too many requests gets 429 with Retry-After; others do not wait for it")
def requests_per_key(world):
    limit = 3
    server = world.server({"limits": {"requests_per_key_per_second": limit}}, start=False)
    busy, other, watcher = (new_key(server, "sessions:read", name=name) for name in ("busy", "other", "watcher"))
    server.start()
    started = time.monotonic()
    replies = in_parallel(40, lambda _: with_key(server, busy).get("/agent/sessions"))
    took = time.monotonic() - started
    statuses = [reply.status for reply in replies]
    equal(set(statuses), {200, 429}, "statuses")
    check(limit <= statuses.count(200) <= limit * (1 + took) + 1, f"{statuses.count(200)} in {took:.2f} s")
    for reply in replies:
        if reply.status == 429:
            equal((reply.error["code"], reply.headers["Retry-After"]), ("too_many_requests", "1"), f"{reply}")
    with_key(server, other).get("/agent/sessions").expect(200)
    equal(refused_total(with_key(server, watcher), "requests_per_key"), statuses.count(429), "counted in the metrics")
    wait_until(lambda: with_key(server, busy).get("/agent/sessions").status == 200, "the key gets in again", deadline=5)


@case("wrong keys of one address are limited; a right key still gets in from there, a login does not")
def wrong_keys(world):
    limit = 5
    server = world.server({"limits": {"wrong_credentials_per_minute": limit}}, start=False)
    root = new_key(server, "admin", name="root")
    new_user(server, "ana", "viewer")
    server.start()
    admin = with_key(server, root)
    wrong = with_key(server, root[:-2] + "AA")
    started = time.monotonic()
    replies = [wrong.get("/agent/sessions") for _ in range(limit + 10)]
    spared = int((time.monotonic() - started) / 60 * limit) + 1  # What the clock gave back meanwhile.
    statuses = [reply.status for reply in replies]
    equal(set(statuses), {401, 429}, "statuses")
    equal(statuses[:limit], [401] * limit, "the first ones")
    check(statuses.count(401) < limit + spared + 1, f"{statuses.count(401)} times 401")
    for reply in replies:
        if reply.status == 429:
            equal(reply.error["code"], "too_many_requests", f"{reply}")
            check(1 <= int(reply.headers["Retry-After"]) <= 60 // limit, f"Retry-After: {reply.headers['Retry-After']}")
    admin.get("/agent/sessions").expect(200)
    check(refused_total(admin, "wrong_credentials") >= statuses.count(429), "not counted in the metrics")
    equal(Caller(server).get("/login").status, 200, "the login page")
    reply = send_login(Caller(server), "ana", PASSWORD)
    check(reply.status == 429 and reply.headers["Retry-After"], f"a login from there: {reply}")
    equal(with_key(server, "hp_nonsense", source="127.0.0.2").get("/agent/sessions").status, 401, "another address")
    log_in(server, "ana", source="127.0.0.2")
