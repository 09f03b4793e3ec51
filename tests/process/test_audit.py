"""The audit log: a row for every change that somebody asked for, in the change's own transaction, in a chain that shows tampering."""

import hashlib
import json
import random
import subprocess
import threading
import time
from collections import Counter
from http.client import HTTPException
from urllib.parse import parse_qs, urlsplit

from audit_chain import COLUMNS, broken_at, hash_of, read_chain, rewrite
from client import check, equal, wait_until
from credentials import PASSWORD, Holder, add_user, form, log_in, make_key, make_link, open_login, send, with_key
from harness import BINARY, case, clean_environment, external_agent, http_agent
from pages import read_page
from signing import GitHub
from tables import audit, difference, dump, edit, rows, seconds_of

SIGNED = GitHub("hook", "x" * 32)


def holdpoint(*arguments, key=None, stdin=""):
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60, input=stdin,
                          env=clean_environment({"HOLDPOINT_KEY": key} if key else {}))


def verify(server, *options, live=False, key=None):
    where = ("--server", server.url) if live else ("--settings", server.settings_path)
    return holdpoint("audit", "verify", *where, *options, key=key)


def check_whole(result):
    check(result.returncode == 0 and "whole" in result.stdout, f"verify: {result}")
    return result.stdout.split()[-1]


def start(world, receiver=None):
    runner = world.http_agent(lambda turn: {"result": {}} if turn["payload"].get("good") else {"error": "no", "retry": False})
    callback = {"question_callback": receiver.url} if receiver else {}
    return world.server({"server": {"trusted_proxies": ["127.0.0.1"]}}, [
        external_agent("caller", **callback), http_agent("worker", runner),
        http_agent("hook", runner, webhook_verify="github", webhook_secret=SIGNED.secret)])


class Watch:
    """What each step adds to the log."""

    def __init__(self, server):
        self.server, self.seen = server, 0

    def new(self):
        found = [tuple(row.get(name) for name in COLUMNS) for row in audit(self.server, self.seen)]
        self.seen += len(found)
        return found

    def expect(self, *wanted, address="127.0.0.1"):
        """Each of `wanted` is (actor, credential, action, subject[, detail])."""
        found = self.new()
        got = [(row[2], row[3], row[5], row[6], row[7])[:len(want)] for row, want in zip(found, wanted)]
        check(len(found) == len(wanted) and got == list(wanted), f"new rows {found}, wanted {wanted}")
        for row in found:
            equal(row[4], address, f"the address in {row}")
            age = time.time() - seconds_of(row[1])
            check(-5 < age < 60, f"the time in {row} is {age:.0f} s off")


def id_of(key):
    return "key:" + key.split("_")[1]


def link_credential(path):
    token = parse_qs(urlsplit(path).query)["token"][0]
    return "link:" + hashlib.sha256(token.encode()).hexdigest()[:16]


@case("a day's work: each change is one row with who, by which credential, from where and what")
def days_work(world):
    receiver = world.receiver(lambda callback: 410)
    server = start(world, receiver)
    client, log = server.client(), Watch(server)

    # Open mode: nobody has a name but the one they give.
    asked = client.ask("Go?", agent="caller")
    log.expect(("", "open", "question_asked", f"session:{asked['session_id']}", "caller"))
    client.answer(asked["session_id"], "yes", by="ana").expect(200)
    log.expect(("ana", "open", "question_answered", f"question:{asked['questions'][0]['id']}", "as ana via api"))
    client.answer(asked["session_id"], "yes").expect(200)
    client.answer(asked["session_id"], "no").expect(409)
    log.expect()
    signed = SIGNED.sign(b'{"good":true}')
    status, body = send(server, "/agent/webhook/hook", signed.headers, signed.body)
    equal(status, 202, f"{body}")
    log.expect(("hook", "webhook:github", "session_started", f"session:{json.loads(body)['session_id']}", "hook"))
    equal(send(server, "/agent/webhook/hook", signed.headers, signed.body)[0], 401, "a copy")
    log.expect()

    # The first key closes the server.
    root_key = make_key(client, "admin", "questions:answer", name="root")
    root, admin = with_key(server, root_key), ("root", id_of(root_key))
    log.expect(("", "open", "key_created", id_of(root_key), "root: admin questions:answer"))
    ask_key, short_key = make_key(root, "questions:ask", name="asker"), make_key(root, "sessions:read", name="short")
    asker = with_key(server, ask_key)
    log.expect((*admin, "key_created", id_of(ask_key), "asker: questions:ask"), (*admin, "key_created", id_of(short_key)))
    root.post(f"/agent/keys/{short_key.split('_')[1]}/revoke").expect(200)
    log.expect((*admin, "key_revoked", id_of(short_key), "short"))
    root.post(f"/agent/keys/{short_key.split('_')[1]}/revoke").expect(200)
    equal(with_key(server, short_key).get("/agent/sessions").status, 401, "the revoked key")
    log.expect()

    for name, role in (("Ana", "answerer"), ("ben", "viewer")):
        add_user(root, name, role)
        log.expect((*admin, "user_added", f"user:{name.lower()}", role))
    root.post("/agent/users/ben/role", {"role": "admin"}).expect(200)
    log.expect((*admin, "role_changed", "user:ben", "admin"))
    ben = log_in(server, "ben")
    log.expect(("ben", "user:ben", "logged_in", "user:ben"))
    root.post("/agent/users/ben/password", {"password": PASSWORD + "2"}).expect(200)
    log.expect((*admin, "password_changed", "user:ben"))
    equal(ben.get("/agent/me").status, 401, "the login before the new password")
    root.post("/agent/users/ben/remove").expect(200)
    log.expect((*admin, "user_removed", "user:ben"))
    equal(root.post("/agent/users/ben/remove").status, 404, "removing twice")
    visitor, fields = open_login(server)
    wrong = form(visitor, "/login", {**fields, "name": "ana", "password": "not " + PASSWORD})
    equal(wrong.status, 401, "a wrong password")
    log.expect()

    # A question by a key, answered on the web by somebody who is logged in.
    asked = asker.ask({"question": "Web?", "options": ["yes", "no"]}, agent="caller")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    log.expect(("asker", id_of(ask_key), "question_asked", f"session:{session}", "caller"))
    ana = log_in(server, "ana")
    log.expect(("ana", "user:ana", "logged_in", "user:ana"))
    web = read_page(ana.get(f"/question/{question}"))
    read_page(form(ana, web.actions[0], {**web.hidden, "choice": "yes"}))
    log.expect(("ana", "user:ana", "question_answered", f"question:{question}", "as ana via web"))
    # By a key in somebody's name: the row has both.
    asked = asker.ask("Api?", agent="caller")
    root.answer(asked["session_id"], "yes", by="carl").expect(200)
    log.expect(("asker", id_of(ask_key), "question_asked", f"session:{asked['session_id']}"),
               (*admin, "question_answered", f"question:{asked['questions'][0]['id']}", "as carl via api"))

    # By link; and off by link.
    asked = asker.ask({"question": "Link?", "options": ["yes", "no"]}, "Other?", agent="caller")
    ids = [found["id"] for found in asked["questions"]]
    links = [make_link(root, id, "dora@example.org") for id in ids]
    log.expect(("asker", id_of(ask_key), "question_asked", f"session:{asked['session_id']}"),
               *((*admin, "link_made", f"question:{id}", "for dora@example.org") for id in ids))
    first, second = (read_page(server.client().request("GET", link)) for link in links)
    log.expect()
    behind = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    read_page(form(server.client(), first.actions[0], {**first.hidden, "choice": "yes"}, behind))
    log.expect(("dora@example.org", link_credential(links[0]), "question_answered", f"question:{ids[0]}", "as dora@example.org via link"),
               address="203.0.113.9")
    read_page(form(server.client(), second.actions[0], {**second.hidden, "do": "cancel"}))
    log.expect(("dora@example.org", link_credential(links[1]), "question_cancelled", f"question:{ids[1]}"))
    equal(root.session(asked["session_id"])["status"], "cancelled", "the session")

    # What owners do with sessions and deliveries.
    asked = asker.ask("Cancel?", agent="caller")
    root.post(f"/agent/session/{asked['session_id']}/message", {"message": 1}).expect(202)
    root.post(f"/agent/session/{asked['session_id']}/cancel", {"reason": "no need"}).expect(200)
    root.post(f"/agent/session/{asked['session_id']}/cancel").expect(200)
    session = f"session:{asked['session_id']}"
    log.expect(("asker", id_of(ask_key), "question_asked", session), (*admin, "message_queued", session), (*admin, "session_cancelled", session, "no need"))
    failed = root.trigger("worker", {"good": False})
    root.finished(failed)
    root.post(f"/agent/session/{failed}/retry").expect(202)
    root.finished(failed)
    log.expect((*admin, "session_started", f"session:{failed}", "worker"), (*admin, "session_retried", f"session:{failed}"))
    dead = wait_until(lambda: root.deliveries(status="dead"), "a dead delivery")[0]["id"]
    root.post(f"/agent/deliveries/{dead}/redeliver").expect(202)
    log.expect((*admin, "delivery_requeued", f"delivery:{dead}"))

    # A person, through the API of pages with script.
    me = ana.get("/agent/me").expect(200)
    asked = asker.ask("Script?", agent="caller")
    equal(ana.answer(asked["session_id"], "yes").status, 403, "without the token of GET /agent/me")
    scripted = Holder(server, {**ana.headers, "X-CSRF-Token": me["csrf"], "Origin": server.url})
    scripted.answer(asked["session_id"], "yes").expect(200)
    log.expect(("asker", id_of(ask_key), "question_asked", f"session:{asked['session_id']}"),
               ("ana", "user:ana", "question_answered", f"question:{asked['questions'][0]['id']}", "as ana via web"))
    home = read_page(ana.get("/"))
    equal(form(ana, "/logout", home.hidden).status, 303, "the logout")
    log.expect(("ana", "user:ana", "logged_out", "user:ana"))

    # What was refused has left nothing, and reading neither.
    for path, body in ((f"/agent/session/{failed}/cancel", {"reason": ""}), ("/agent/keys", {"name": "x", "scopes": ["all"]}),
                       ("/agent/users", {"name": "ana", "role": "viewer", "password": PASSWORD}), ("/agent/users/nobody/role", {"role": "admin"}),
                       (f"/agent/questions/{question}/links", {"recipient": "x"}), (f"/agent/deliveries/{failed}/redeliver", None)):
        check(root.post(path, body).status in (404, 409, 422), f"{path} {body}")
        check(asker.post(path, body).status in (403, 404, 409, 422), f"{path} by the asker")
    for path in ("/agent/audit", "/agent/audit/verify", "/agent/keys", "/agent/users", "/metrics"):
        equal(root.get(path).status, 200, path)
    log.expect()

    # By hand, beside the stopped server.
    whole = check_whole(verify(server, live=True, key=root_key))
    equal(server.terminate()[0], 0, "exit code")
    made = holdpoint("keys", "create", "--name", "by hand", "--scope", "admin", "--settings", server.settings_path)
    equal(made.returncode, 0, made.stderr)
    holdpoint("users", "add", "eve", "--role", "viewer", "--password-stdin", "--settings", server.settings_path, stdin=PASSWORD + "\n")
    found = log.new()
    equal([(row[3], row[4], row[5], row[6]) for row in found],
          [("local", "", "key_created", id_of(made.stdout.strip())), ("local", "", "user_added", "user:eve")], "rows made by hand")
    check(found[0][2], f"nobody made the key: {found}")
    check_whole(verify(server, "--expect", whole))
    equal(broken_at(server), None, "the chain, by our own reckoning")


@case("a change whose row cannot be written does not happen")
def one_transaction(world):
    receiver = world.receiver(lambda callback: 410)
    server = start(world, receiver)
    client = server.client()
    sessions = [client.ask({"question": "Go?", "options": ["a", "b"]}, agent="caller") for _ in range(4)]
    links = [make_link(client, asked["questions"][0]["id"], "ana") for asked in sessions]
    failed = client.trigger("worker", {"good": False})
    client.finished(failed)
    key = make_key(client, "admin", "questions:answer", "sessions:create")
    asks = make_key(with_key(server, key), "questions:ask")
    root = with_key(server, key)
    for name in ("ana", "ben"):
        add_user(root, name, "admin")
    wait_until(lambda: len(root.deliveries(status="dead")) == 4, "dead deliveries")
    dead = root.deliveries(status="dead")[0]["id"]
    ana = log_in(server, "ana")
    pages = [read_page(server.client().request("GET", link)) for link in links]
    web = read_page(ana.get(f"/question/{sessions[2]['questions'][0]['id']}"))
    home = read_page(ana.get("/"))
    newcomer, login = open_login(server)
    server.terminate()
    # Where a change writes its row; what has no place in the chain yet is there all the same.
    first = "audit_pending" if "audit_pending" in server.database.tables() else "audit_log"
    server.database.forbid_inserts(first)
    server.start()
    before = dump(server)
    asker, visitor = with_key(server, asks), server.client()
    ids = [asked["session_id"] for asked in sessions]
    signed = SIGNED.sign(b"{}")
    replies = {
        "a trigger": root.post("/agent/webhook/worker", {"good": True}),
        "an ask": asker.post("/agent/ask", {"agent": "caller", "questions": [{"question": "New?"}]}),
        "an answer by a key": root.answer(ids[0], "a"),
        "an answer by a link": form(visitor, pages[1].actions[0], {**pages[1].hidden, "choice": "a"}),
        "a cancel by a link": form(visitor, pages[1].actions[0], {**pages[1].hidden, "do": "cancel"}),
        "an answer on the web": form(ana, web.actions[0], {**web.hidden, "choice": "a"}),
        "a cancel": root.post(f"/agent/session/{ids[3]}/cancel"), "a retry": root.post(f"/agent/session/{failed}/retry"),
        "a message": root.post(f"/agent/session/{ids[3]}/message", {"message": 1}),
        "a redelivery": root.post(f"/agent/deliveries/{dead}/redeliver"),
        "a link": root.post(f"/agent/questions/{sessions[0]['questions'][0]['id']}/links", {"recipient": "x"}),
        "a key": root.post("/agent/keys", {"name": "x", "scopes": ["admin"]}), "a revoked key": root.post(f"/agent/keys/{asks.split('_')[1]}/revoke"),
        "a user": root.post("/agent/users", {"name": "x", "role": "admin", "password": PASSWORD}),
        "a removed user": root.post("/agent/users/ben/remove"), "a role": root.post("/agent/users/ben/role", {"role": "viewer"}),
        "a password": root.post("/agent/users/ben/password", {"password": PASSWORD + "2"}),
        "a login": form(newcomer, "/login", {**login, "name": "ben", "password": PASSWORD}),
        "a logout": form(ana, "/logout", home.hidden),
    }
    status, _ = send(server, "/agent/webhook/hook", signed.headers, signed.body)
    done = {what: reply.status for what, reply in replies.items() if reply.status < 500}
    equal((done, status >= 500), ({}, True), "changes that were acknowledged without a row")
    equal(difference(before, dump(server)), {}, "changes that happened without a row")
    server.terminate()
    server.database.allow_inserts(first)
    server.start()
    root.answer(ids[0], "a").expect(200)
    check_whole(verify(server, live=True, key=key))


def fill(server, client):
    """Some 14 rows of several kinds."""
    for n in range(4):
        asked = client.ask("Go?", agent="caller")
        make_link(client, asked["questions"][0]["id"], "zoë \"quoted\" \\ <b>\u2028")
        client.answer(asked["session_id"], "yes", by=f"person {n}").expect(200)


@case("verify is whole for an untouched log, running or not, and export prints all of it as JSON lines")
def whole(world):
    server = start(world)
    client = server.client()
    for _ in range(2):
        empty = verify(server, live=True)
        check(empty.returncode == 0 and " 0 rows" in empty.stdout, f"an empty log: {empty}")
    fill(server, client)
    found, head = read_chain(server)
    equal(broken_at(server), None, "the chain, by our own reckoning")
    equal(check_whole(verify(server, live=True)), head[1], "the hash of a running server")
    # Beside a running server the settings lead to it; the port is written down by now.
    server.write_settings()
    equal(check_whole(verify(server)), head[1], "the hash by the settings of a running server")
    told = json.loads(verify(server, "--json", live=True).stdout)
    equal((told["ok"], told["rows"], told["head"], told["broken"]), (True, len(found), head[1], None), "verify --json")
    exported = holdpoint("audit", "export", "--server", server.url)
    equal(server.terminate()[0], 0, "exit code")
    equal(check_whole(verify(server)), head[1], "the hash of a stopped server")
    offline = holdpoint("audit", "export", "--settings", server.settings_path)
    for result in (exported, offline):
        equal(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.split("\n") if line]
        equal([tuple(line[name] for name in (*COLUMNS, "hash")) for line in lines], found, "the export")
        equal({frozenset(line) for line in lines}, {frozenset((*COLUMNS, "hash"))}, "the names in the export")
    for number in (1, len(found) // 2, len(found)):
        check_whole(verify(server, "--expect", found[number - 1][-1]))
    unknown = verify(server, "--expect", "0" * 64)
    check(unknown.returncode == 1 and "expect" in unknown.stderr, f"an unknown hash: {unknown}")


@case("an export of more rows than fit a page is complete")
def long_export(world):
    server = start(world)
    server.terminate()
    count = 2500
    rewrite(server, lambda _: [])
    edit(server, "INSERT INTO audit_head VALUES (1, 0, '') ON CONFLICT DO NOTHING")
    rewrite(server, lambda _: [[0, "2026-11-16T00:00:00.000Z", f"actor {n}", "open", "", "did", "it", ""] for n in range(count)])
    check_whole(verify(server))
    lines = holdpoint("audit", "export", "--settings", server.settings_path).stdout.splitlines()
    equal([json.loads(line)["actor"] for line in lines], [f"actor {n}" for n in range(count)], "the exported rows")
    server.start()
    lines = holdpoint("audit", "export", "--server", server.url).stdout.splitlines()
    equal([json.loads(line)["seq"] for line in lines], list(range(1, count + 1)), "the rows exported by the running server")


def tampering(found, head, engine):
    """(what, statements, what verify must name)"""
    loose = engine == "sqlite"  # It stores anything in any column; others refuse numbers that are none, and bytes that are no text.
    last, middle = len(found), len(found) // 2
    for number in (1, middle, last):
        for column in ("actor", "credential", "address", "action", "subject", "detail"):
            yield f"{column} of row {number}", [(f"UPDATE audit_log SET {column} = {column} || 'x' WHERE seq = ?", (number,))], f"row {number}"
        yield f"hash of row {number}", [("UPDATE audit_log SET hash = ? WHERE seq = ?", ("0" * 64, number))], f"row {number}"
        yield f"time of row {number}", [("UPDATE audit_log SET at = '2026-01-01T00:00:00.000Z' WHERE seq = ?", (number,))], f"row {number}"
        yield f"a removed row {number}", [("DELETE FROM audit_log WHERE seq = ?", (number,))], "last rows" if number == last else f"row {number}"
    at = found[middle - 1][1]
    for what, text in (("nonsense", "yesterday"), ("another millisecond", at[:-2] + str((int(at[-2]) + 1) % 10) + "Z"), ("no text", "")):
        yield f"a time that is {what}", [("UPDATE audit_log SET at = ? WHERE seq = ?", (text, middle))], f"row {middle}"
    odd = [("a NUL", "a\0b"), ("bytes that are no text", b"\xff\xfe\x00")] if loose else []
    for what, value in (*odd, ("an empty text", "")):
        yield f"a subject with {what}", [("UPDATE audit_log SET subject = ? WHERE seq = ?", (value, middle))], f"row {middle}"
    yield "text moved between columns", [("UPDATE audit_log SET subject = subject || substr(detail, 1, 1), detail = substr(detail, 2) WHERE seq = 1", ())], "row 1"
    yield "a renumbered row", [("UPDATE audit_log SET seq = ? WHERE seq = ?", (last + 1, middle))], f"row {middle}"
    if loose:
        yield "a number that is no number", [("UPDATE audit_log SET seq = 'x' WHERE seq = ?", (middle,))], f"row {middle}"
    yield "the first three rows removed", ["DELETE FROM audit_log WHERE seq <= 3"], "row 1"
    yield "the last three rows removed", [("DELETE FROM audit_log WHERE seq > ?", (last - 3,))], "last rows"
    yield "all rows removed", ["DELETE FROM audit_log"], "last rows"
    swap = "UPDATE audit_log SET seq = CASE seq WHEN {a} THEN -1 ELSE -2 END WHERE seq IN ({a}, {b})"
    back = "UPDATE audit_log SET seq = CASE seq WHEN -1 THEN {b} ELSE {a} END WHERE seq < 0"
    for a, b in ((1, 2), (middle, middle + 1), (2, last)):
        yield f"rows {a} and {b} swapped", [swap.format(a=a, b=b), back.format(a=a, b=b)], f"row {a}"
        moved = []
        for to, source in ((a, found[b - 1]), (b, found[a - 1])):
            moved.append(("UPDATE audit_log SET at=?, actor=?, credential=?, address=?, action=?, subject=?, detail=? WHERE seq = ?",
                          (*source[1:8], to)))
        yield f"the contents of rows {a} and {b} swapped", moved, f"row {a}"
    # With a hash as right as anybody can make it, but in a place that the chain does not have.
    more = [last + 1, at, "eve", "open", "", "did", "it", ""]
    insert = "INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    yield "a row more at the end", [(insert, (*more, hash_of(head[1], more)))], "last rows"
    yield "a row more before the first", [(insert, (0, *more[1:], hash_of("", [0, *more[1:]])))], "row 0"
    yield "a row more with a negative number", [(insert, (-7, *more[1:], "0" * 64))], "row -7"
    if loose:
        yield "a row more without a number", [(insert, (None, *more[1:], "0" * 64))], "row"
        yield "a row more in between", [(insert, (middle + 0.5, *more[1:], "0" * 64))], f"row {middle}"
    pushed = ["UPDATE audit_log SET seq = -seq WHERE seq > 2", "UPDATE audit_log SET seq = 1 - seq WHERE seq < 0",
              (insert, (3, *more[1:], hash_of(found[1][-1], [3, *more[1:]]))), "UPDATE audit_head SET seq = seq + 1"]
    yield "a row more in between, with all others moved", pushed, "row 4"
    yield "the head's number", ["UPDATE audit_head SET seq = seq - 1"], "last rows"
    yield "the head's hash", [("UPDATE audit_head SET hash = ?", (found[-2][-1],))], "last rows"
    yield "no head", ["DELETE FROM audit_head"], "last rows"
    yield "the head and the last row's hash", [("UPDATE audit_log SET hash = ? WHERE seq = ?", ("0" * 64, last)), ("UPDATE audit_head SET hash = ?", ("0" * 64,))], f"row {last}"


@case("every kind of tampering with the database is found, and verify says which row")
def tampered(world):
    server = start(world)
    fill(server, server.client())
    equal(server.terminate()[0], 0, "exit code")
    found, head = read_chain(server)
    check_whole(verify(server))
    kept = server.database.keep(world.folder)
    missed, count = [], 0
    for what, statements, where in tampering(found, head, server.database.engine):
        server.database.restore(kept)
        edit(server, *statements)
        result = verify(server)
        count += 1
        if result.returncode != 1 or where not in result.stderr:
            missed.append(f"{what}: exit {result.returncode}, said {(result.stdout + result.stderr).strip()!r}, wanted {where!r}")
    check(not missed, f"{len(missed)} of {count} not found, or not named:\n" + "\n".join(missed))

    # The running server says so too, and goes on.
    server.database.restore(kept)
    edit(server, "UPDATE audit_log SET actor = 'eve' WHERE seq = 2")
    server.start()
    result = verify(server, live=True)
    check(result.returncode == 1 and "row 2" in result.stderr, f"verify by the running server: {result}")
    server.client().ask("Go?", agent="caller")


@case("who rewrites the whole chain is found by a hash that was noted elsewhere")
def rewritten(world):
    server = start(world)
    fill(server, server.client())
    server.terminate()
    noted = check_whole(verify(server))
    kept = server.database.keep(world.folder)

    def blame_eve(found):
        found[1][2] = "eve"
        return found

    for what, change in (("an edited row", blame_eve), ("a row less in the middle", lambda found: found[:3] + found[4:]),
                         ("the last rows cut off", lambda found: found[:-2]), ("nothing left", lambda found: [])):
        server.database.restore(kept)
        rewrite(server, change)
        check_whole(verify(server))
        for live in (False, True):
            if live:
                server.start()
            result = verify(server, "--expect", noted, live=live)
            check(result.returncode == 1 and "expected hash" in result.stderr, f"{what}: {result}")
        server.terminate()


@case("an empty --expect is no proof: a script may have forgotten to set its variable")
def forgotten_hash(world):
    server = start(world)
    server.client().ask("Go?", agent="caller")
    for live in (True, False):
        forgotten = verify(server, "--expect", "", live=live)
        check(forgotten.returncode != 0, f"an empty --expect: {forgotten}")
        if live:
            server.terminate()


@case("kill -9 under load: the chain is whole, with exactly one row for each acknowledged change", limit=200)
def killed(world):
    server = start(world)
    stop, acknowledged, refused, guard = threading.Event(), {}, [], threading.Lock()
    noise = random.Random(5)

    def note(action, subject):
        with guard:
            acknowledged[action, subject] = acknowledged.get((action, subject), 0) + 1

    def work(n):
        client = server.client(timeout=10)
        while not stop.is_set():
            try:
                asked = client.ask("Go?", agent="caller")
                session, question = f"session:{asked['session_id']}", asked["questions"][0]["id"]
                note("question_asked", session)
                if n % 3 == 0:
                    client.post(f"/agent/session/{asked['session_id']}/cancel").expect(200)
                    note("session_cancelled", session)
                    continue
                make_link(client, question, "ana")
                note("link_made", f"question:{question}")
                client.answer(asked["session_id"], "yes", by=f"person {n}").expect(200)
                note("question_answered", f"question:{question}")
                note("session_started", "session:" + client.trigger("worker", {"good": True}))
            except AssertionError as error:
                refused.append(error)
                return
            except (OSError, HTTPException):
                client.close()
                stop.wait(0.02)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(12)]
    for thread in threads:
        thread.start()
    world.closing(stop.set)
    for kill in range(10):
        wanted = len(acknowledged) + noise.randrange(20, 150)
        wait_until(lambda: len(acknowledged) >= wanted, f"{wanted} acknowledged changes", deadline=60)
        server.kill()
        with guard:
            told = list(acknowledged)
        equal(broken_at(server), None, f"the chain after kill {kill + 1}")
        written = Counter((row["action"], row["subject"]) for row in audit(server))
        equal([key for key in told if written[key] != 1], [], f"acknowledged changes without exactly one row after kill {kill + 1}")
        server.start()
    stop.set()
    for thread in threads:
        thread.join(20)
    equal(refused, [], "requests that were answered with a refusal")
    check_whole(verify(server, live=True))
    counts = {(action, subject): count for action, subject, count in
              rows(server, "SELECT action, subject, COUNT(*) FROM audit_log GROUP BY action, subject")}
    lost = [key for key in acknowledged if counts.get(key) != 1]
    equal(lost, [], f"acknowledged changes of {len(acknowledged)} without exactly one row")
    # And the other way round: a change on disk has its row, a row has its change.
    sessions = {f"session:{id}" for (id,) in rows(server, "SELECT id FROM agent_sessions")}
    equal({subject for action, subject in counts if action in ("question_asked", "session_started")}, sessions, "sessions and their rows")
    answered = {f"question:{id}" for (id,) in rows(server, "SELECT id FROM agent_questions WHERE status = 'answered'")}
    equal({subject for action, subject in counts if action == "question_answered"}, answered, "answers and their rows")
    made = rows(server, "SELECT 'question:' || question_id, COUNT(*) FROM answer_links GROUP BY question_id")
    equal({(subject, count) for (action, subject), count in counts.items() if action == "link_made"}, set(made), "links and their rows")
    print(f"     {len(acknowledged)} acknowledged changes over 10 kills", flush=True)
