"""People: users on the command line, the login page, cookies and CSRF, who may answer whose questions, trusted proxies."""

import re
import time
from pathlib import Path

from access import (PASSWORD, Caller, add_user, change_database, command, cookie_of, in_parallel, inputs_of, json_of, log_in,
                    make_key, new_user, refused_total, send_login, shown, with_key)
from client import check, equal
from harness import case, external_agent
from tables import audit, difference, dump, look, seconds_of

OTHER_PASSWORD = "another horse battery"


def closed_server(world, settings=None, agents=(), users=()):
    """(server, an admin's key as a caller) with these users: {name: role}."""
    server = world.server(settings, agents)
    admin = with_key(server, make_key(server.client(), "admin", name="root"))
    for name, role in dict(users).items():
        add_user(admin, name, role)
    return server, admin


def listed(server):
    return {user["name"]: user for user in json_of(command(server, "users", "list", "--json"))["users"]}


@case("users are added, listed, given another role and password, and removed on the command line")
def users_on_the_command_line(world):
    server = world.server(start=False)
    equal(command(server, "users", "list").stdout, "no users\n", "users list before the first")
    new_user(server, "Ana", "answerer")
    command(server, "users", "add", "bo@example.org", "--role", "viewer", "--no-password")
    equal({name: (user["role"], user["has_password"], user["last_login_at"]) for name, user in listed(server).items()},
          {"ana": ("answerer", True, None), "bo@example.org": ("viewer", False, None)}, "users list --json")
    text = command(server, "users", "list").stdout
    check(all(part in text for part in ("ana", "answerer", "bo@example.org", "proxy only")), f"users list: {text}")
    command(server, "users", "role", "ANA", "admin")
    command(server, "users", "password", "ana", "--password-stdin", stdin=OTHER_PASSWORD + "\n")
    command(server, "users", "remove", "bo@example.org")
    equal({name: user["role"] for name, user in listed(server).items()}, {"ana": "admin"}, "users in the end")

    def refused(exit_code, says, *arguments, stdin=PASSWORD + "\n"):
        result = command(server, "users", *arguments, stdin=stdin, exit_code=exit_code)
        check(says in result.stderr, f"no {says!r}; {shown(result)}")

    add = ["--role", "viewer", "--password-stdin"]
    refused(1, "taken", "add", "ANA", *add)
    for name in ("a b", "key:bot", "a/b", "<b>", "", "x" * 129, "anä"):
        refused(1, "name", "add", name, *add)
    for password in ("short", "", "x" * 1025):
        refused(1, "password", "add", "cy", *add, stdin=password + "\n")
        refused(1, "password", "password", "ana", "--password-stdin", stdin=password + "\n")
    refused(1, "--password-stdin", "add", "cy", "--role", "viewer")
    refused(2, "--role", "add", "cy", "--role", "owner", "--password-stdin")
    refused(2, "--role", "add", "cy", "--password-stdin")
    for verb in (["remove", "bo@example.org"], ["role", "cy", "admin"], ["password", "cy", "--password-stdin"]):
        refused(1, "no such user", *verb)
    equal(set(listed(server)), {"ana"}, "users after all this")
    actions = [row["action"] for row in audit(server)]
    equal(actions, ["user_added", "user_added", "role_changed", "password_changed", "user_removed"], "the audit log")

    server.start()
    equal(send_login(Caller(server), "ana", PASSWORD).status, 401, "the old password")
    [ana] = log_in(server, "ana", OTHER_PASSWORD).get("/agent/users").expect(200)["users"]
    check(ana["last_login_at"], f"the last login is not shown: {ana}")


@case("who is removed, or gets another password, is out at once; another role counts at once")
def out_at_once(world):
    server, admin = closed_server(world, users={"ana": "answerer", "bo": "answerer", "cy": "answerer"})
    users = {name: log_in(server, name) for name in ("ana", "bo", "cy")}
    for user in users.values():
        user.get("/agent/sessions").expect(200)
    admin.post("/agent/users/ana/remove").expect(200)
    admin.post("/agent/users/bo/password", {"password": OTHER_PASSWORD}).expect(200)
    for name in ("ana", "bo"):
        equal(users[name].get("/agent/sessions").status, 401, f"the login of {name}")
        equal(users[name].get("/").status, 303, f"the page of {name}")
        equal(send_login(Caller(server), name, PASSWORD).status, 401, f"the old password of {name}")
    log_in(server, "bo", OTHER_PASSWORD)
    admin.post("/agent/users/cy/role", {"role": "viewer"}).expect(200)
    equal(users["cy"].post("/agent/answer/nobody", {"answer": "yes"}).status, 403, "an answer of who is a viewer now")
    # The same name again is another person: the old cookie must not fit.
    add_user(admin, "ana", "admin", OTHER_PASSWORD)
    equal(users["ana"].get("/agent/sessions").status, 401, "the old login of a name that is back")
    equal(send_login(Caller(server), "ana", PASSWORD).status, 401, "the old password of a name that is back")


@case("the login page keeps the name beside a wrong password; a right one gives a cookie that no script reads")
def login_page(world):
    server, admin = closed_server(world, users={"ana": "viewer"})
    add_user(admin, "nopass", "viewer", password=None)
    visitor = Caller(server)
    login = visitor.get("/")
    equal((login.status, login.headers["Location"]), (303, "/login?next=%2F"), "the inbox without a login")
    page = visitor.get("/login", next="/question/x?y=1&z")
    equal(inputs_of(page)["next"], "/question/x?y=1&z", "where the form goes on to")

    bodies = set()
    wrong = [("ana", "wrong horse battery"), ("nobody", PASSWORD), ("nopass", ""), ("nopass", PASSWORD), ("ana", ""),
             ("ana", "x" * 2000), ("ana", PASSWORD + " "), ("", PASSWORD), ("ana", PASSWORD.upper())]
    for name, password in wrong:
        reply = send_login(visitor, name, password, next="/agent/me")
        equal((reply.status, reply.headers["Set-Cookie"]), (401, None), f"{name!r} with {password[:30]!r}")
        fields = inputs_of(reply)
        equal((fields["name"], fields["next"], fields["password"]), (name, "/agent/me", ""), "the form again")
        bodies.add(re.sub(r'value="[^"]*"', "", reply.body.decode()))
    equal(len(bodies), 1, f"wrong names and wrong passwords look different: {bodies}")
    nasty = '"><script>alert(1)</script>'
    reply = send_login(visitor, nasty, "wrong horse battery")
    equal(inputs_of(reply)["name"], nasty, "a nasty name")
    check(b"<script" not in reply.body, f"a name breaks out: {reply}")

    reply = send_login(visitor, "ANA", PASSWORD, next="/agent/me?x=1")
    equal((reply.status, reply.headers["Location"]), (303, "/agent/me?x=1"), f"{reply}")
    cookie = cookie_of(reply)
    equal((cookie.key, cookie["path"], cookie["httponly"], cookie["samesite"], cookie["secure"], cookie["domain"]),
          ("holdpoint", "/", True, "Lax", "", ""), "the cookie")
    check(re.fullmatch(r"[A-Za-z0-9_-]{43}", cookie.value), f"the cookie's value is {cookie.value!r}")
    user = Caller(server, {"Cookie": f"a=b; holdpoint={cookie.value}; c=d"})
    equal({key: user.me()[key] for key in ("kind", "name", "scopes")},
          {"kind": "user", "name": "ana", "scopes": ["questions:read", "sessions:read"]}, "GET /agent/me")
    equal(user.get("/login", next="/agent/me").headers["Location"], "/agent/me", "the login page for who is in")
    second = send_login(visitor, "ana", PASSWORD)
    check(cookie_of(second).value != cookie.value, "two logins share a cookie")
    entries = [(row["actor"], row["address"]) for row in audit(server) if row["action"] == "logged_in"]
    equal(entries, [("ana", "127.0.0.1")] * 2, "logins in the audit log")


@case("the login leads nowhere but to paths of this server")
def next_stays_here(world):
    server, admin = closed_server(world, users={"ana": "viewer"})
    nonce = inputs_of(Caller(server).get("/login"))["nonce"]
    user = log_in(server, "ana")
    for target in ("//evil.example", "///evil.example", "https://evil.example/", "http:evil.example", "/\\evil.example",
                   "\\/evil.example", "\\\\evil.example", "/\t/evil.example", "\t//evil.example", "/\n/evil.example",
                   " //evil.example", "javascript:alert(1)", "data:text/html,x", "evil.example", "@evil.example",
                   ".evil.example", "", "/x\r\nSet-Cookie: a=b", "/" + "x" * 600):
        equal(inputs_of(Caller(server).get("/login", next=target))["next"], "/", f"the form for {target!r}")
        equal(user.get("/login", next=target).headers["Location"], "/", f"who is in already, with {target!r}")
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "/x\r\nSet-Cookie: a=b"):
        reply = Caller(server).form("/login", {"nonce": nonce, "next": target, "name": "ana", "password": PASSWORD})
        equal((reply.status, reply.headers["Location"]), (303, "/"), f"a login with {target!r}")
        cookie_of(reply)


@case("the login form needs its nonce, and a page of this server around it")
def login_csrf(world):
    server, admin = closed_server(world, users={"ana": "viewer"})
    visitor = Caller(server)
    user = log_in(server, "ana")
    fields = {"name": "ana", "password": PASSWORD, "next": "/"}
    for nonce in (None, "", "1.x", "nonsense", user.csrf):
        reply = visitor.form("/login", {**fields, "nonce": nonce})
        equal((reply.status, reply.headers["Set-Cookie"]), (403, None), f"a login with the nonce {nonce!r}")
        check(inputs_of(reply)["nonce"], "no fresh nonce to go on with")
    nonce = inputs_of(visitor.get("/login"))["nonce"]
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "cross-site"}):
        reply = visitor.form("/login", {**fields, "nonce": nonce}, headers)
        equal((reply.status, reply.headers["Set-Cookie"]), (403, None), f"a login with {headers}")
    equal(visitor.post("/login", {**fields, "nonce": nonce}).headers["Set-Cookie"], None, "a login as JSON")
    equal(visitor.get("/login", **fields, nonce=nonce).headers["Set-Cookie"], None, "a login by GET")
    for headers in ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, {"Origin": "null"}):
        reply = visitor.form("/login", {**fields, "nonce": nonce}, headers)
        equal(reply.status, 303, f"the page's own form, as a browser sends it: {headers}")
    server.form_cookie = None
    equal(visitor.form("/login", {**fields, "nonce": nonce}, {"Origin": "null"}).status, 403,
          "the form of another browser")


@case("a logout ends that login alone, for good")
def logout(world):
    server, admin = closed_server(world, users={"ana": "viewer"})
    leaves, stays = log_in(server, "ana"), log_in(server, "ana")
    for fields, headers in (({"nonce": None}, {}), ({"nonce": stays.csrf}, {}), ({}, {"Origin": "http://evil.example"})):
        equal(leaves.form("/logout", fields, headers).status, 403, f"a logout with {fields} {headers}")
    leaves.get("/agent/sessions").expect(200)
    check(leaves.get("/logout").status in (404, 405), "GET /logout")
    nonce = inputs_of(leaves.get("/"))["nonce"]
    reply = leaves.form("/logout", {"nonce": nonce})
    equal((reply.status, reply.headers["Location"]), (303, "/login"), f"{reply}")
    cookie = cookie_of(reply)
    equal((cookie.key, cookie.value, cookie["max-age"], cookie["path"]), ("holdpoint", "", "0", "/"), "the cookie goes")
    equal(leaves.get("/agent/sessions").status, 401, "the old cookie")
    stays.get("/agent/sessions").expect(200)
    server.restart()
    equal(Caller(server, leaves.headers).get("/agent/sessions").status, 401, "the old cookie after a restart")
    equal(audit(server)[-1]["action"], "logged_out", "the audit log")


@case("logins survive a restart, and end after login_hours")
def login_life(world):
    server, admin = closed_server(world, {"auth": {"login_hours": 3}}, users={"ana": "viewer"})
    headers = log_in(server, "ana").headers
    [login] = look(server, "SELECT * FROM logins")
    equal(seconds_of(login["expires_at"]) - seconds_of(login["created_at"]), 3 * 3600, "how long a login is good for")
    server.restart()
    user = Caller(server, headers)
    user.get("/agent/sessions").expect(200)
    user.csrf = user.me()["csrf"]
    equal(user.form("/logout", {"nonce": "1.x"}).status, 403, "a wrong nonce after the restart")
    server.kill()
    change_database(server, "UPDATE logins SET expires_at = '2020-01-01T00:00:00.000Z'")
    server.start()
    user = Caller(server, headers)
    equal(user.get("/agent/sessions").status, 401, "the expired login")
    equal(user.get("/").status, 303, "the expired login's inbox")
    log_in(server, "ana")
    equal(len(look(server, "SELECT * FROM logins")), 1, "logins that are kept")


@case("a change that a cookie vouches for needs the CSRF token of that login and a page of this server")
def csrf(world):
    server, admin = closed_server(world, {"server": {"public_url": "https://holdpoint.example.org"}},
                                  users={"ana": "admin", "bo": "admin"})
    asker = with_key(server, make_key(admin, "questions:ask"))
    ana, ana_again, bo = log_in(server, "ana"), log_in(server, "ana"), log_in(server, "bo")
    bare = Caller(server, ana.headers)
    asked = asker.ask("Ship it?")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    own = f"http://127.0.0.1:{server.port}"
    login_nonce = inputs_of(Caller(server).get("/login"))["nonce"]
    before = dump(server)
    bad = [{}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "1.x"}, {"X-CSRF-Token": ana_again.csrf}, {"X-CSRF-Token": bo.csrf},
           {"X-CSRF-Token": login_nonce}, {"X-CSRF-Token": ana.csrf[:-1]}, {"X-CSRF-Token": ana.csrf + "A"},
           {"X-CSRF-Token": re.sub(r"^\d+", lambda at: str(int(at.group()) + 1), ana.csrf)},
           {"X-CSRF-Token": ana.csrf, "Origin": "http://evil.example"}, {"X-CSRF-Token": ana.csrf, "Origin": "null"},
           {"X-CSRF-Token": ana.csrf, "Origin": "https://127.0.0.1"},
           {"X-CSRF-Token": ana.csrf, "Sec-Fetch-Site": "cross-site"},
           {"X-CSRF-Token": ana.csrf, "Origin": own, "Host": "evil.example"}]
    posts = [(f"/agent/answer/{session}", {"answer": "yes"}), (f"/agent/session/{session}/cancel", None),
             ("/agent/keys", {"name": "mine", "scopes": ["admin"]}), ("/agent/users/bo/remove", None),
             ("/agent/webhook/external", {}), (f"/agent/questions/{question}/links", {"recipient": "eve"})]
    for path, body in posts:
        for headers in bad:
            reply = bare.post(path, body, headers)
            equal((reply.status, reply.error["code"]), (403, "csrf"), f"{path} with {headers}")
    for fields in ({}, {"nonce": "1.x"}, {"nonce": bo.csrf}, {"nonce": ana_again.csrf}, {"nonce": login_nonce}):
        reply = bare.form(f"/question/{question}", {"own": "yes", **fields}, {"X-CSRF-Token": ana.csrf})
        equal(reply.status, 403, f"a form with {fields}")
    # A form for the JSON route is a link's, and needs a link's token.
    reply = bare.form(f"/agent/answer/{session}", {"nonce": ana.csrf, "own": "yes"})
    equal(reply.status, 415, f"a form without a link: {reply}")
    equal(difference(before, dump(server)), {}, "rows after all this")
    check(refused_total(admin, "csrf") >= len(posts) * len(bad), "not counted in the metrics")

    for headers in ({}, {"Origin": own}, {"Origin": "https://holdpoint.example.org"},
                    {"Origin": "null", "Sec-Fetch-Site": "same-origin"}):
        session = asker.ask("Ship it?")["session_id"]
        equal(ana.post(f"/agent/answer/{session}", {"answer": "yes"}, headers).status, 200, f"an answer with {headers}")
    page = ana.get(f"/question/{question}")
    nonce = inputs_of(page)["nonce"]
    equal(ana.form(f"/question/{question}", {"nonce": nonce, "own": "yes"}).status, 200, "the page's form")
    found = admin.question(question)
    equal((found["answer"], found["answered_by"], found["answered_via"]), ("yes", "ana", "web"), "the answer")


@case("a person answers in their own name")
def own_name(world):
    server, admin = closed_server(world, users={"ana": "answerer"})
    asker = with_key(server, make_key(admin, "questions:ask"))
    ana = log_in(server, "ana")
    asked = asker.ask("Ship it?")
    reply = ana.answer(asked["session_id"], "yes", by="bo")
    equal((reply.status, reply.error["field"]), (422, "answered_by"), f"{reply}")
    ana.answer(asked["session_id"], "yes").expect(200)
    equal(admin.question(asked["questions"][0]["id"])["answered_by"], "ana", "who answered")


LIMIT = 3


def throttled_server(world):
    return closed_server(world, {"limits": {"wrong_credentials_per_minute": LIMIT}}, users={"ana": "viewer"})


@case("wrong logins of one address are limited: then even the right password is not looked at")
def login_throttle(world):
    server, admin = throttled_server(world)
    inside = log_in(server, "ana")
    replies = [send_login(Caller(server), "ana", f"wrong horse battery {n}") for n in range(LIMIT)]
    equal([reply.status for reply in replies], [401] * LIMIT, "the first wrong ones")
    reply = send_login(Caller(server), "ana", PASSWORD)
    equal((reply.status, reply.headers["Set-Cookie"]), (429, None), f"the right one after them: {reply}")
    check(1 <= int(reply.headers["Retry-After"]) <= 60 // LIMIT, f"Retry-After: {reply.headers['Retry-After']}")
    equal(inputs_of(reply)["name"], "ana", "the name in the form")
    check(refused_total(admin, "wrong_credentials") >= 1, "not counted in the metrics")
    inside.get("/agent/sessions").expect(200)
    log_in(server, "ana", source="127.0.0.2")


@case("wrong logins sent at once are limited like those sent one by one")
def login_throttle_at_once(world):
    server, admin = throttled_server(world)
    nonce = inputs_of(Caller(server).get("/login"))["nonce"]
    started = time.monotonic()
    replies = in_parallel(14, lambda n: Caller(server).form("/login", {
        "nonce": nonce, "next": "/", "name": "ana", "password": f"wrong horse battery {n}"}))
    given_back = (time.monotonic() - started) / 60 * LIMIT
    check({reply.status for reply in replies} <= {401, 429}, f"{[reply.status for reply in replies]}")
    looked_at = refused_total(admin, "wrong_login")
    check(LIMIT <= looked_at <= LIMIT + given_back + 1, f"{looked_at:.0f} passwords were looked at, the limit is {LIMIT}")


@case("a crowd of wrong logins costs little memory, and holds up nobody else", limit=60, alone=True)
def login_crowd(world):
    limits = {"wrong_credentials_per_minute": 1000, "requests_per_key_per_second": 100_000}
    server, admin = closed_server(world, {"limits": limits}, users={"ana": "viewer"})
    nonce = inputs_of(Caller(server).get("/login"))["nonce"]
    slowest, during = [], []

    def visit(n):
        if n < 20:
            reply = Caller(server).form("/login", {"nonce": nonce, "next": "/", "name": "ana",
                                                   "password": f"wrong horse battery {n}"})
            during.append(reply.status)
            return reply
        while len(during) < 20:
            started = time.monotonic()
            equal(admin.get("/agent/sessions").status, 200, "a key's request meanwhile")
            slowest.append(time.monotonic() - started)
        return None

    started = time.monotonic()
    replies = in_parallel(21, visit)[:20]
    took = time.monotonic() - started
    statuses = [reply.status for reply in replies]
    check(set(statuses) <= {401, 503} and 401 in statuses, f"{statuses}")
    for reply in replies:
        if reply.status == 503:
            check(reply.headers["Retry-After"], f"no Retry-After: {reply}")
    peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())
    check(int(peak.group(1)) < 200 * 1024, f"{int(peak.group(1)) // 1024} MiB at the peak")
    check(took < 30, f"it took {took:.1f} s")
    check(slowest and max(slowest) < 2, f"a key's request took {max(slowest):.2f} s meanwhile")
    log_in(server, "ana")


# Who may answer.

@case("an agent's answerers alone may answer its questions: neither other people, nor admins, nor keys")
def answerers(world):
    server, admin = closed_server(world, agents=[external_agent("desk", answerers=["Ana", "key:bot"])],
                                  users={"ana": "answerer", "bo": "answerer", "chef": "admin"})
    asker = with_key(server, make_key(admin, "questions:ask"))
    people = {name: log_in(server, name) for name in ("ana", "bo", "chef")}
    keys = {name: with_key(server, make_key(admin, "questions:answer", "questions:read", name=name))
            for name in ("bot", "other", "ana", "key:bot")}
    asked = asker.ask("Ship it?", agent="desk")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    before = dump(server)
    outsiders = {"bo": people["bo"], "chef": people["chef"], "the key other": keys["other"], "a key called ana": keys["ana"],
                 "a key called key:bot": keys["key:bot"]}
    for name, caller in outsiders.items():
        reply = caller.answer(session, "yes")
        equal((reply.status, reply.error["code"]), (403, "not_an_answerer"), f"{name}: {reply}")
        equal(caller.form(f"/question/{question}", {"own": "yes"}).status, 403, f"the page's form from {name}")
        equal(caller.form(f"/question/{question}", {"do": "cancel"}).status, 403, f"the page's cancel from {name}")
    for name in ("other", "key:bot"):
        for listed_name in ("ana", "key:bot"):
            reply = keys[name].answer(session, "yes", by=listed_name)
            equal(reply.status, 403, f"the key {name} in the name of {listed_name}")
    for by in ("bo", "chef"):
        equal(admin.post(f"/agent/questions/{question}/links", {"recipient": by}).status, 422, f"a link for {by}")
    equal(difference(before, dump(server)), {}, "rows after all this")

    people["ana"].answer(session, "yes").expect(200)
    equal(admin.question(question)["answered_by"], "ana", "who answered")
    asked = asker.ask("And this?", agent="desk")
    keys["bot"].answer(asked["session_id"], "yes").expect(200)
    question = asker.ask("And that?", agent="desk")["questions"][0]["id"]
    equal(people["ana"].form(f"/question/{question}", {"own": "yes"}).status, 200, "the page's form from ana")
    # Questions of agents without the list are everybody's.
    people["bo"].answer(asker.ask("Anyone?")["session_id"], "yes").expect(200)


@case("an open server keeps to the answerers as well")
def answerers_when_open(world):
    caller = Caller(world.server(agents=[external_agent("desk", answerers=["ana"])]))
    asked = caller.ask("Ship it?", agent="desk")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    for by in (None, "bo", "ana ", "key:ana"):
        reply = caller.answer(session, "yes", by=by)
        equal((reply.status, reply.error["code"]), (403, "not_an_answerer"), f"as {by}: {reply}")
    equal(inputs_of(caller.get(f"/question/{question}")), {}, "what the page has to fill in")
    nonce = caller.me()["csrf"]
    for fields in ({"own": "yes"}, {"do": "cancel"}):
        equal(caller.form(f"/question/{question}", {"nonce": nonce, **fields}).status, 403, f"the page's form with {fields}")
    equal(caller.question(question)["status"], "pending", "the question")
    # All on this machine are trusted, and so is the name they give.
    caller.answer(session, "yes", by="ana").expect(200)


@case("who may call a session off: who started it or may start one, and its answerers unless allow_cancel is false")
def cancel_rules(world):
    server, admin = closed_server(
        world, agents=[external_agent("desk", answerers=["ana", "key:bot"]),
                       external_agent("firm", answerers=["ana"], allow_cancel=False), external_agent("free")],
        users={"ana": "answerer", "bo": "answerer", "chef": "admin", "vi": "viewer"})
    keys = {name: with_key(server, make_key(admin, *scopes, name=name)) for name, scopes in {
        "asker": ["questions:ask"], "starter": ["sessions:create"], "reader": ["sessions:read", "questions:read"],
        "bot": ["questions:answer"], "other": ["questions:answer"], "hook": ["webhook:desk"]}.items()}
    callers = {**{name: log_in(server, name) for name in ("ana", "bo", "chef", "vi")}, **keys, "root": admin}
    owners = {"asker", "starter", "chef", "root"}
    never = {"vi", "reader", "hook"}
    may = {"desk": owners | {"ana", "bot"}, "firm": owners, "free": set(callers) - never}
    for agent, allowed in may.items():
        for name, caller in callers.items():
            session = keys["asker"].ask("Ship it?", agent=agent)["session_id"]
            reply = caller.post(f"/agent/session/{session}/cancel", {"reason": "enough"})
            equal(reply.status, 200 if name in allowed else 403, f"{name} calls off a session of {agent}: {reply}")
            if name not in allowed:
                equal(reply.error["code"], "forbidden" if name in never else "not_an_answerer", f"{name}: {reply}")
            equal(admin.session(session)["status"], "cancelled" if name in allowed else "pending_input", f"{name}, {agent}")

    for agent, status in (("desk", "cancelled"), ("firm", "pending"), ("free", "cancelled")):
        question = keys["asker"].ask("Ship it?", agent=agent)["questions"][0]["id"]
        page = callers["ana"].get(f"/question/{question}").body
        equal(b'value="confirm_cancel"' in page, status == "cancelled", f"a button to cancel a question of {agent}")
        reply = callers["ana"].form(f"/question/{question}", {"do": "cancel"})
        equal(reply.status, 200 if status == "cancelled" else 403, f"{agent}: {reply}")
        equal(admin.question(question)["status"], status, f"the question of {agent}")


# Behind a proxy that vouches for people.

PROXY = {"server": {"trusted_proxies": ["127.0.0.1", "10.0.0.0/8"]}, "auth": {"proxy_user_header": "X-Forwarded-User"}}
OUTSIDE = "127.0.0.2"


def through_proxy(server, name, source=None, **more):
    """Who comes with that name in the proxy's header; from `source`, or from the trusted proxy itself."""
    caller = Caller(server, {"X-Forwarded-User": name, **more}, source=source)
    reply = caller.get("/agent/me")
    caller.csrf = reply.json["csrf"] if reply.status == 200 else None
    return caller


@case("a trusted proxy's header logs people in; from anybody else it means nothing")
def proxy_login(world):
    server, admin = closed_server(world, PROXY, users={"ana": "answerer"})
    add_user(admin, "chef", "admin", password=None)
    for name, kind in (("ana", "ana"), ("ANA", "ana"), ("chef", "chef")):
        me = through_proxy(server, name).me()
        equal((me["kind"], me["name"]), ("user", kind), f"{name} through the proxy")
    equal(through_proxy(server, "ana").get("/").status, 200, "the inbox through the proxy")
    equal(Caller(server, {"x-forwarded-user": "ana"}).get("/agent/sessions").status, 200, "the header in small letters")
    for name in ("nobody", "", "ana,chef", "ana, chef", "ana\u00a0", "../ana", "'ana'"):
        caller = Caller(server, {"X-Forwarded-User": name.encode("utf-8")})
        equal(caller.get("/agent/sessions").status, 401, f"{name!r} through the proxy")
    for header in ("X-Forwarded-Users", "X_Forwarded_User", "X-Remote-User", "Remote-User"):
        equal(Caller(server, {header: "ana"}).get("/agent/sessions").status, 401, f"another header: {header}")

    for more in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"X-Forwarded-For": "10.1.2.3"}, {"X-Real-IP": "127.0.0.1"},
                 {"Forwarded": "for=127.0.0.1"}):
        outsider = through_proxy(server, "chef", source=OUTSIDE, **more)
        equal(outsider.get("/agent/users").status, 401, f"from outside of the list, with {more}")
        equal(outsider.get("/").status, 303, "the inbox from outside of the list")
        equal(outsider.post("/agent/keys", {"name": "mine", "scopes": ["admin"]}).status, 401, "a key from there")

    for first, second in (("ana", "chef"), ("ana", "ana"), ("", "chef")):
        twice = world.keep(server.raw())
        twice.send(f"GET /agent/sessions HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-User: {first}\r\n"
                   f"X-Forwarded-User: {second}\r\nConnection: close\r\n\r\n".encode())
        equal(twice.response()[0], 401, f"two names at once: {first!r} and {second!r}")

    both = through_proxy(server, "chef", Authorization=admin.headers["Authorization"])
    equal(both.me()["kind"], "key", "a key beside the proxy's header")
    command(server, "users", "remove", "ana", key=admin.headers["Authorization"].split()[1])
    equal(through_proxy(server, "ana").get("/agent/sessions").status, 401, "who was removed")


@case("changes through a proxy need a CSRF token and a page of this server too")
def proxy_csrf(world):
    server, admin = closed_server(world, PROXY, users={"ana": "answerer", "bo": "answerer"})
    asker = with_key(server, make_key(admin, "questions:ask"))
    ana, bo = through_proxy(server, "ana"), through_proxy(server, "bo")
    cookies = log_in(server, "ana").csrf
    asked = asker.ask("Ship it?")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    before = dump(server)
    bare = Caller(server, ana.headers)
    for headers in ({}, {"X-CSRF-Token": "1.x"}, {"X-CSRF-Token": bo.csrf}, {"X-CSRF-Token": cookies},
                    {"X-CSRF-Token": ana.csrf, "Origin": "http://evil.example"},
                    {"X-CSRF-Token": ana.csrf, "Origin": "null"}):
        if "Origin" not in headers:
            equal(bare.form(f"/question/{question}", {"own": "yes", "nonce": headers.get("X-CSRF-Token")}).status, 403,
                  f"a form with {headers}")
        reply = bare.post(f"/agent/answer/{session}", {"answer": "yes"}, headers)
        equal((reply.status, reply.error["code"]), (403, "csrf"), f"with {headers}")
    equal(difference(before, dump(server)), {}, "rows after all this")
    nonce = inputs_of(ana.get(f"/question/{question}"))["nonce"]
    equal(ana.form(f"/question/{question}", {"own": "yes", "nonce": nonce}).status, 200, "the page's own form")
    ana.answer(asker.ask("And this?")["session_id"], "yes").expect(200)


@case("the audit log names the client that the proxies saw, not what the client made up")
def proxy_chains(world):
    server, admin = closed_server(world, PROXY, users={"ana": "admin"})
    session = with_key(server, make_key(admin, "questions:ask")).ask("Ship it?")["session_id"]
    chains = {"203.0.113.9": "203.0.113.9", "6.6.6.6, 203.0.113.9": "203.0.113.9",
              "6.6.6.6, 203.0.113.9, 10.0.0.7": "203.0.113.9", "203.0.113.9,10.0.0.7,127.0.0.1": "203.0.113.9",
              "10.0.0.7": "10.0.0.7", "2001:db8::7": "2001:db8::7", None: "127.0.0.1", "": "127.0.0.1"}
    for chain, client in chains.items():
        more = {} if chain is None else {"X-Forwarded-For": chain}
        through_proxy(server, "ana", **more).post(f"/agent/session/{session}/message", {"message": "hi"}).expect(202)
        entry = audit(server)[-1]
        equal((entry["action"], entry["credential"], entry["address"]), ("message_queued", "user:ana", client),
              f"the audit log after {chain!r}")
    key = make_key(admin, "sessions:create")
    # Some proxies add a line of their own; the lines of a list are one list.
    lines = world.keep(server.raw())
    lines.send(f"POST /agent/session/{session}/message HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
               "X-Forwarded-For: 6.6.6.6, 7.7.7.7\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 10.0.0.7\r\n"
               "Content-Length: 14\r\nConnection: close\r\n\r\n{\"message\": 1}".encode())
    equal(lines.response()[0], 202, "a message through proxies that add lines")
    equal(audit(server)[-1]["address"], "203.0.113.9", "the address behind proxies that add lines")
    key = with_key(server, key, source=OUTSIDE)
    key.post(f"/agent/session/{session}/message", {"message": "hi"}, {"X-Forwarded-For": "203.0.113.9"}).expect(202)
    equal(audit(server)[-1]["address"], OUTSIDE, "the address of who is no proxy")


@case("limits behind a proxy count the client's own address, and a login there is secure when the client's way is")
def proxy_addresses(world):
    server, admin = closed_server(world, {**PROXY, "limits": {"wrong_credentials_per_minute": 3}}, users={"ana": "viewer"})

    def guess(address, source=None):
        return Caller(server, {"Authorization": "Bearer hp_wrong", "X-Forwarded-For": address},
                      source=source).get("/agent/sessions").status

    equal([guess("203.0.113.9") for _ in range(4)], [401, 401, 401, 429], "wrong keys of one client")
    equal(guess("203.0.113.10"), 401, "another client behind the same proxy")
    equal([guess(f"203.0.113.{n}", source=OUTSIDE) for n in range(4)], [401, 401, 401, 429],
          "a client that makes addresses up")

    for headers, source, name, secure in (({"X-Forwarded-Proto": "https"}, None, "__Host-holdpoint", True),
                                          ({"X-Forwarded-Proto": "http"}, None, "holdpoint", ""),
                                          ({"X-Forwarded-Proto": "https"}, "127.0.0.3", "holdpoint", "")):
        visitor = Caller(server, headers, source=source)
        cookie = cookie_of(send_login(visitor, "ana", PASSWORD))
        equal((cookie.key, cookie["secure"], cookie["path"], cookie["domain"]), (name, secure, "/", ""),
              f"the cookie with {headers} from {source}")
        equal(Caller(server, {**headers, "Cookie": f"{name}={cookie.value}"}, source=source).get("/agent/me").status, 200,
              "the cookie, back on the same way")


@case("proxy_role lets in whom the proxy vouches for, with that role and no other")
def proxy_role(world):
    settings = {**PROXY, "auth": {**PROXY["auth"], "proxy_role": "answerer"}}
    server, admin = closed_server(world, settings, agents=[external_agent("desk", answerers=["zoe", "key:bot"])],
                                  users={"vi": "viewer", "chef": "admin"})
    asker = with_key(server, make_key(admin, "questions:ask"))
    zoe = through_proxy(server, "Zoe")
    equal({key: zoe.me()[key] for key in ("kind", "name", "scopes")},
          {"kind": "user", "name": "zoe", "scopes": ["questions:answer", "questions:read", "sessions:read"]}, "zoe")
    zoe.answer(asker.ask("Ship it?", agent="desk")["session_id"], "yes").expect(200)
    equal(zoe.get("/agent/users").status, 403, "what only admins see")
    equal(through_proxy(server, "vi").me()["scopes"], ["questions:read", "sessions:read"], "a user's own role counts")
    equal(through_proxy(server, "chef").get("/agent/users").status, 200, "a user's own role counts")
    for name in ("", "x" * 129):
        equal(through_proxy(server, name).get("/agent/sessions").status, 401, f"the name {name!r}")
    equal(through_proxy(server, "zoe", source=OUTSIDE).get("/agent/sessions").status, 401, "zoe without the proxy")
    session = asker.ask("And this?", agent="desk")["session_id"]
    equal(through_proxy(server, "yan").answer(session, "yes").status, 403, "who is not listed")
    equal(through_proxy(server, "key:bot").answer(session, "yes").status, 401, "a person who is called like a listed key")
    equal({user["name"] for user in admin.get("/agent/users").expect(200)["users"]}, {"vi", "chef"}, "users in the end")


@case("a proxy's user header without trusted proxies is an error in the settings")
def proxy_settings(world):
    server = world.server({"auth": {"proxy_user_header": "X-Forwarded-User"}}, start=False)
    for verb in ("check", "serve"):
        result = command(server, verb, exit_code=2)
        check("proxy_user_header" in result.stderr and "trusted_proxies" in result.stderr, f"{shown(result)}")
    for proxies in (["everyone"], ["10.0.0.0/33"], ["example.org"], [""]):
        server.settings["server"]["trusted_proxies"] = proxies
        server.write_settings()
        check("trusted_proxies" in command(server, "check", exit_code=2).stderr, f"{proxies}")
