"""Who may do what, route by route: tries every cell of the table in docs/security.md."""

import itertools
import json
import re
from dataclasses import dataclass, field
from urllib.parse import urlencode

from access import (FORM, PASSWORD, Caller, add_user, command, expire_key, inputs_of, key_id, log_in, make_key, new_key, new_user,
                    with_key)
from client import check, equal, wait_until
from harness import HERE, case, external_agent, http_agent
from platforms import DISCORD_CHANNEL, INBOUND_SECRET, Platforms
from tables import audit, difference, dump, look

ROOT = HERE.parents[1]
COLUMNS = ["route", "needs", "none", "wrong scope", "right scope", "agent key", "viewer", "answerer", "admin", "expired",
           "revoked"]
ROLES = ["viewer", "answerer", "admin"]
SCOPES = ["sessions:create", "sessions:read", "questions:ask", "questions:read", "questions:answer", "webhook:worker",
          "webhook:other", "admin"]
UNRELATED = "webhook:other"
# What some routes need in place of a key or a login; no scope and no role stands for it.
OWN = {"Slack's signature", "Discord's signature", "inbound secret", "a mail's link"}

# For people: refusals are pages, and openapi.json leaves them out.
PAGES = {"GET /", "GET /sessions", "GET /session/{id}", "GET /agents", "GET /operations", "GET /questions", "GET /question/{id}",
         "POST /question/{id}", "GET /login", "POST /login", "POST /logout", "GET /agent/answer/{session}",
         "GET /assets/{version}/{name}", "GET /email/unsubscribe", "POST /email/unsubscribe"}
# Routes that openapi.json does not describe yet. Empty it once it does.
AWAITED_IN_OPENAPI = set()


def read_matrix():
    """{route: {column: cell}} of the table in docs/security.md."""
    text = (ROOT / "docs/security.md").read_text()
    table = text.partition("<!-- matrix -->")[2].partition("<!-- end of matrix -->")[0].strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    equal(rows[0], COLUMNS, "the columns of the matrix")
    matrix = {}
    for row in rows[2:]:
        equal(len(row), len(COLUMNS), f"the number of cells of {row}")
        check(row[0] not in matrix, f"{row[0]} stands there twice")
        check(set(row[2:]) <= {"ok", "401", "403", "404", "login"}, f"unknown cells in {row}")
        matrix[row[0]] = dict(zip(COLUMNS, row))
    return matrix


def accepts(row, scope):
    """Whether a key with that scope alone may use the route, by the rules under the table."""
    needs = row["needs"].replace("{agent}", "worker")
    if scope == needs or needs in OWN:
        return scope == needs
    if row["route"] == "POST /agent/session/{id}/cancel" and scope in ("questions:ask", "questions:answer"):
        return True
    if row["route"] == "GET /agent/agents" and scope == "questions:read":
        return True
    if row["route"] == "GET /agent/questions/{id}" and scope == "questions:ask":
        return True
    if scope == "sessions:create":
        return needs.startswith("webhook:")
    return scope == "admin" and needs not in ("questions:ask", "questions:answer")


@dataclass
class Call:
    """A request that the route serves when the gate lets it in, and how that shows."""
    path: str
    body: object = None
    form: dict = None
    stream: bool = False
    status: int = 200
    location: str = None
    headers: dict = field(default_factory=dict)
    # Where the route has a credential of its own: the headers or the query that carry it, and its name in the audit log.
    own_headers: dict = field(default_factory=dict)
    own_query: str = ""
    credential: str = None


class Stage:
    """A closed server with every kind of caller, and fresh things for them to act on."""

    def __init__(self, world):
        agent = world.http_agent(lambda turn: {"error": "no luck", "retry": False} if turn["payload"].get("fail")
                                 else {"result": {}})
        receiver = world.receiver()
        self.platforms = Platforms(world)
        self.server = world.server(
            {"limits": {"wrong_credentials_per_minute": 1_000_000}, **self.platforms.settings}, start=False,
            agents=[http_agent("worker", agent), external_agent("desk"),
                    external_agent("caller", question_callback=receiver.url)])
        keys = {scope: new_key(self.server, scope, name=scope) for scope in SCOPES}
        # All that the live ones hold, so that nothing but the end of the key is in the way.
        all_but_ask = [scope for scope in SCOPES if scope != "questions:ask"]
        ended = {state: [new_key(self.server, *scopes, name=state) for scopes in (all_but_ask, ["questions:ask"])]
                 for state in ("expired", "revoked")}
        for key in ended["expired"]:
            expire_key(self.server, key)
        for key in ended["revoked"]:
            command(self.server, "keys", "revoke", key_id(key))
        for role in ROLES:
            new_user(self.server, f"{role}-user", role)
        self.server.start()
        self.keys = {scope: with_key(self.server, key) for scope, key in keys.items()}
        self.credentials = {scope: f"key:{key_id(key)}" for scope, key in keys.items()}
        self.ended = {state: [with_key(self.server, key) for key in two] for state, two in ended.items()}
        self.users = {role: self.log_in(role) for role in ROLES}
        self.nobody = Caller(self.server)
        self.admin = self.server.auditor = self.keys["admin"]
        self.numbers = itertools.count()

    def log_in(self, role):
        return log_in(self.server, f"{role}-user")

    def ask(self, agent="desk", **more):
        asked = self.keys["questions:ask"].ask({"question": "Ship it?", "options": ["yes", "no"]}, agent=agent, **more)
        return asked["session_id"], asked["questions"][0]["id"]

    def mail(self):
        """(the mail of a new question, its recipient, its delivery)"""
        to = f"user{next(self.numbers)}@example.org"
        session, _ = self.ask(channels=[f"email:{to}"])
        [delivery] = self.admin.deliveries(session=session)
        return self.platforms.post.mail_to(to), to, delivery["id"]

    def failed_session(self):
        session = self.keys["sessions:create"].trigger("worker", {"fail": True})
        equal(self.keys["sessions:read"].finished(session)["status"], "failed", "the session to try again")
        return session

    def delivered(self):
        session, _ = self.ask("caller")
        return wait_until(lambda: self.admin.deliveries(session=session, status="delivered"), "a delivery")[0]["id"]

    def fresh_user(self):
        name = f"user{next(self.numbers)}"
        add_user(self.admin, name, "viewer", password=None)
        return name

    def settle(self):
        """Until nothing is under way that would change rows by itself."""
        wait_until(lambda: not look(self.server, "SELECT 1 FROM agent_sessions WHERE status = 'running' UNION ALL "
                                                 "SELECT 1 FROM deliveries WHERE status = 'pending'"),
                   "no session runs and no delivery waits")


def on_session(path, body=None, status=200):
    return lambda stage: Call(path.format(stage.ask()[0]), body, status=status)


def on_question(path, body=None, status=200, **more):
    return lambda stage: Call(path.format(stage.ask()[1]), body, status=status, **more)


def on_user(what, body):
    return lambda stage: Call(f"/agent/users/{stage.fresh_user()}/{what}", body)


def plain(path, **more):
    return lambda stage: Call(path, **more)


def style_sheet(stage):
    return Call(re.search(r'"(/assets/\w+/page\.css)"', stage.nobody.get("/login").body.decode())[1])


def login_form(stage):
    nonce = inputs_of(stage.nobody.get("/login"))["nonce"]
    fields = {"nonce": nonce, "next": "/", "name": "viewer-user", "password": PASSWORD}
    return Call("/login", form=fields, status=303, location="/")


def answer_page(stage):
    session, question = stage.ask()
    return Call(f"/agent/answer/{session}", status=303, location=f"/question/{question}")


def slack_click(stage):
    _, question = stage.ask(channels=["slack:#ops"])
    payload = {"type": "block_actions", "user": {"id": "U0ANA", "username": "ana"},
               "actions": [{"type": "button", "block_id": f"hp:{question}:0", "action_id": "pick:0"}]}
    body = urlencode({"payload": json.dumps(payload)}).encode()
    return Call("/slack/interactions", body, headers=FORM, own_headers=stage.platforms.sign_slack(body),
                credential="slack:U0ANA")


def discord_click(stage):
    _, question = stage.ask(channels=[f"discord:{DISCORD_CHANNEL}"])
    body = json.dumps({"type": 3, "member": {"user": {"id": "77", "username": "ana"}},
                       "data": {"component_type": 2, "custom_id": f"hp:{question}:o:0"}}).encode()
    return Call("/discord/interactions", body, own_headers=stage.platforms.discord_key.sign(body), credential="discord:77")


def mail_reply(stage):
    mail, to, delivery = stage.mail()
    return Call("/email/inbound", {"from": to, "to": mail["Reply-To"], "text": "yes"},
                own_headers={"Authorization": f"Bearer {INBOUND_SECRET}"}, credential=f"mail:{delivery}")


def unsubscribe(stage):
    mail, _, delivery = stage.mail()
    path, _, query = mail["List-Unsubscribe"].strip("<>").removeprefix(stage.server.url).partition("?")
    return Call(path, own_query=f"?{query}", credential=f"mail:{delivery}")


def humanlayer_call(kind, path="/humanlayer/v1/{0}/{1}", body=None, status=200):
    """About a call of HumanLayer's SDK that waits; `path` gets its kind and its id."""
    def make(stage):
        call = f"call-{next(stage.numbers)}"
        asked = {"run_id": "run", "call_id": call, "spec": {"fn": "ship", "msg": "Ship it?"}}
        stage.keys["questions:ask"].post(f"/humanlayer/v1/{kind}", asked).expect(201)
        return Call(path.format(kind, call), body, status=status)
    return make


def new_humanlayer_call(kind):
    return lambda stage: Call(f"/humanlayer/v1/{kind}", {"run_id": "run", "call_id": f"new-{next(stage.numbers)}",
                                                         "spec": {"fn": "ship", "msg": "Ship it?"}}, status=201)


ON_CALL = "/humanlayer/v1/agent/{0}/{1}/"
def mcp_call(stage):
    """An ask in the revision without sessions: one request that changes something."""
    revision = "2026-07-28"
    meta = {"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {}}
    given = {"questions": [{"question": f"May I, {next(stage.numbers)}?"}], "wait_seconds": 0}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "ask_user_question", "arguments": given, "_meta": meta}}
    return Call("/mcp?agent=desk", body, headers={"Accept": "application/json", "MCP-Protocol-Version": revision,
                                                  "Mcp-Method": "tools/call", "Mcp-Name": "ask_user_question"})


ASK = {"agent": "desk", "questions": [{"question": "May I?"}]}
CALLS = {
    "GET /healthz": plain("/healthz"),
    "GET /readyz": plain("/readyz"),
    "GET /openapi.json": plain("/openapi.json"),
    "GET /assets/{version}/{name}": style_sheet,
    "GET /login": plain("/login"),
    "POST /login": login_form,
    "GET /metrics": plain("/metrics"),
    "GET /agent/me": plain("/agent/me"),
    "POST /agent/webhook/{agent}": plain("/agent/webhook/worker", body={"n": 1}, status=202),
    "GET /agent/agents": plain("/agent/agents"),
    "POST /agent/ask": plain("/agent/ask", body=ASK, status=202),
    "POST /agent/notify": plain("/agent/notify", body={"message": "Done."}, status=202),
    "POST /mcp": mcp_call,
    "GET /mcp": plain("/mcp", status=405),  # There is nothing to listen to but streams that broke,
    "DELETE /mcp": plain("/mcp", status=400),  # and no session named.
    "GET /agent/questions": plain("/agent/questions"),
    "GET /agent/questions/{id}": on_question("/agent/questions/{}"),
    "POST /agent/questions/{id}/links": on_question("/agent/questions/{}/links", {"recipient": "ana"}, 201),
    "POST /agent/answer/{session}": on_session("/agent/answer/{}", {"answer": "yes"}),
    "GET /agent/answer/{session}": answer_page,
    "GET /agent/sessions": plain("/agent/sessions"),
    "GET /agent/operations": plain("/agent/operations"),
    "GET /agent/session/{id}": on_session("/agent/session/{}"),
    "GET /agent/session/{id}/record": on_session("/agent/session/{}/record"),
    "GET /agent/session/{id}/events": on_session("/agent/session/{}/events"),
    "GET /agent/events": plain("/agent/events", stream=True),
    "POST /agent/session/{id}/cancel": on_session("/agent/session/{}/cancel", {"reason": "enough"}),
    "POST /agent/session/{id}/retry": lambda stage: Call(f"/agent/session/{stage.failed_session()}/retry", status=202),
    "POST /agent/session/{id}/message": on_session("/agent/session/{}/message", {"message": "hello"}, 202),
    "GET /agent/deliveries": plain("/agent/deliveries"),
    "POST /agent/deliveries/{id}/redeliver":
        lambda stage: Call(f"/agent/deliveries/{stage.delivered()}/redeliver", status=202),
    "GET /agent/keys": plain("/agent/keys"),
    "POST /agent/keys": plain("/agent/keys", body={"name": "another", "scopes": ["sessions:read"]}, status=201),
    "POST /agent/keys/{id}/revoke":
        lambda stage: Call(f"/agent/keys/{key_id(make_key(stage.admin, 'sessions:read'))}/revoke"),
    "GET /agent/users": plain("/agent/users"),
    "POST /agent/users":
        lambda stage: Call("/agent/users", {"name": f"user{next(stage.numbers)}", "role": "viewer"}, status=201),
    "POST /agent/users/{name}/remove": on_user("remove", None),
    "POST /agent/users/{name}/password": on_user("password", {"password": "another horse battery"}),
    "POST /agent/users/{name}/role": on_user("role", {"role": "answerer"}),
    "GET /agent/audit": plain("/agent/audit"),
    "GET /agent/audit/verify": plain("/agent/audit/verify"),
    "GET /": plain("/"),
    "GET /sessions": plain("/sessions"),
    "GET /session/{id}": on_session("/session/{}"),
    "GET /agents": plain("/agents"),
    "GET /operations": plain("/operations"),
    "GET /questions": plain("/questions"),
    "GET /question/{id}": on_question("/question/{}"),
    "POST /question/{id}": on_question("/question/{}", form={"choice": "yes", "do": "answer"}),
    "POST /logout": plain("/logout", form={}, status=303, location="/login"),
    "POST /humanlayer/v1/function_calls": new_humanlayer_call("function_calls"),
    "GET /humanlayer/v1/function_calls/{call}": humanlayer_call("function_calls"),
    "POST /humanlayer/v1/contact_requests": new_humanlayer_call("contact_requests"),
    "GET /humanlayer/v1/contact_requests/{call}": humanlayer_call("contact_requests"),
    "POST /humanlayer/v1/human_contacts": new_humanlayer_call("human_contacts"),
    "GET /humanlayer/v1/human_contacts/{call}": humanlayer_call("human_contacts"),
    "GET /humanlayer/v1/agent/function_calls/pending": plain("/humanlayer/v1/agent/function_calls/pending"),
    "POST /humanlayer/v1/agent/function_calls/{call}/respond":
        humanlayer_call("function_calls", ON_CALL + "respond", {"approved": True}),
    "POST /humanlayer/v1/agent/function_calls/{call}/escalate_email":
        humanlayer_call("function_calls", ON_CALL + "escalate_email", {"escalation_msg": "hurry"}, 501),
    "GET /humanlayer/v1/agent/human_contacts/pending": plain("/humanlayer/v1/agent/human_contacts/pending"),
    "POST /humanlayer/v1/agent/human_contacts/{call}/respond":
        humanlayer_call("human_contacts", ON_CALL + "respond", {"response": "yes"}),
    "POST /humanlayer/v1/agent/human_contacts/{call}/escalate_email":
        humanlayer_call("human_contacts", ON_CALL + "escalate_email", {"escalation_msg": "hurry"}, 501),
    "POST /slack/interactions": slack_click,
    "POST /discord/interactions": discord_click,
    "POST /email/inbound": mail_reply,
    "GET /email/unsubscribe": unsubscribe,
    "POST /email/unsubscribe": unsubscribe,
}


def callers_of(stage, row, column):
    """(name, caller, its credential in the audit log) of each that the column stands for."""
    def key(scope):
        return scope, stage.keys[scope], stage.credentials[scope]

    open_to_all = row["needs"] in ("-", "any")
    if column == "none":
        return [("nobody", stage.nobody, None)]
    if column == "wrong scope":
        return [key(scope) for scope in SCOPES if not accepts(row, scope)] if not open_to_all else [key(UNRELATED)]
    if column == "right scope" and row["needs"] in OWN:
        return [(row["needs"], stage.nobody, None)]
    if column == "right scope":
        return [key(scope) for scope in SCOPES if accepts(row, scope)] if not open_to_all else [key("sessions:read")]
    if column == "agent key":
        return [key("questions:ask")]
    if column in ROLES:
        # Who logs out needs a login of their own.
        user = stage.log_in(column) if row["route"] == "POST /logout" else stage.users[column]
        return [(column, user, f"user:{column}-user")]
    return [(column, stage.ended[column][row["needs"] == "questions:ask"], None)]


def send(caller, route, call, own=False):
    """`own`: with the route's own credential."""
    if call.stream:
        return caller.stream(call.path)
    path = call.path + (call.own_query if own else "")
    if route.startswith("GET "):
        return caller.get(path)
    if route.startswith("DELETE "):
        return caller.request("DELETE", path)
    if call.form is not None:
        return caller.form(path, call.form)
    return caller.post(path, call.body, {**call.headers, **(call.own_headers if own else {})})


def check_refused(row, cell, reply):
    route = row["route"]
    page = route in PAGES
    if cell == "login":
        equal((reply.status, reply.headers["Location"].partition("=")[0]), (303, "/login?next"), f"{reply}")
        return
    equal(reply.status, int(cell), f"status of {reply}")
    if page:
        check(reply.headers["Content-Type"].startswith("text/html"), f"{reply} is no page")
    elif row["needs"] in OWN:
        check(reply.error["code"] in ("bad_signature", "unauthenticated"), f"the code of {reply}")
    elif cell == "401":
        equal(reply.error["code"], "unauthenticated", f"the code of {reply}")
        equal(reply.headers["WWW-Authenticate"], "Bearer", f"WWW-Authenticate of {reply}")
    else:
        equal(reply.error["code"], "forbidden", f"the code of {reply}")
        needs = row["needs"].replace("{agent}", "worker")
        check(needs in reply.error["message"], f"{reply} does not name {needs}")


def check_let_in(stage, row, column, caller, credential):
    route = row["route"]
    call = CALLS[route](stage)
    if route == "GET /login" and column in ROLES:
        call.status, call.location = 303, "/"  # They are in already.
    stage.settle()
    before, last = dump(stage.server), audit(stage.server)[-1]["seq"]
    reply = send(caller, route, call, own=row["needs"] in OWN)
    after, written = dump(stage.server), audit(stage.server, last)
    stage.settle()
    equal(reply.status, call.status, f"status of {reply}")
    equal(reply.headers["Location"], call.location, f"Location of {reply}")
    if call.stream:
        equal(reply.body[:1], b":", f"the start of the stream {reply}")
    if route.startswith(("GET ", "DELETE ")) or call.status == 501:  # Not offered: it says so, and does nothing.
        equal(difference(before, after), {}, f"{reply} changed rows")
    elif route != "POST /logout" or column in ROLES:  # A key has no login to end.
        check(difference(before, after), f"{reply} changed nothing")
        credential = "user:viewer-user" if route == "POST /login" else call.credential or credential
        equal({entry["credential"] for entry in written}, {credential}, f"who did it by the audit log: {reply}")


@case("every cell of the matrix in docs/security.md is true, and what is refused changes nothing", limit=180)
def every_cell(world):
    matrix = read_matrix()
    equal(set(CALLS), set(matrix), "the routes that this test knows how to call")
    stage = Stage(world)
    wrong, tried = [], 0

    def trying(row, column, name, test, *arguments):
        nonlocal tried
        tried += 1
        try:
            test(*arguments)
        except AssertionError as error:
            wrong.append(f"{row['route']}, {column} ({name}): {error}")

    for route, row in matrix.items():
        cells = [(column, row[column], *who) for column in COLUMNS[2:] for who in callers_of(stage, row, column)]
        refused = [cell for cell in cells if cell[1] != "ok"]
        if refused:
            call = CALLS[route](stage)
            stage.settle()
            before = dump(stage.server)
        for column, cell, name, caller, _ in refused:
            reply = send(caller, route, call)
            trying(row, column, name, check_refused, row, cell, reply)
            after = dump(stage.server)
            trying(row, column, name, equal, difference(before, after), {}, "rows after a refusal")
            before = after
        for column, cell, name, caller, credential in cells:
            if cell == "ok":
                trying(row, column, name, check_let_in, stage, row, column, caller, credential)
    check(tried > len(matrix) * (len(COLUMNS) - 2), f"only {tried} cells were tried")
    check(not wrong, f"{len(wrong)} of {tried} are wrong:\n" + "\n".join(wrong))
    check(stage.admin.get("/agent/audit/verify").expect(200)["ok"], "the audit log is broken")


@case("every route of the source and of openapi.json stands in the matrix, and the other way round")
def complete(world):
    def nameless(route):
        return re.sub(r"\{\w+\}|:\w+", "{}", route)

    matrix = {nameless(route) for route in read_matrix()}
    pages, awaited = ({nameless(route) for route in routes} for routes in (PAGES, AWAITED_IN_OPENAPI))
    described = {nameless(f"{method.upper()} {path}")
                 for path, methods in world.server().client().get("/openapi.json").expect(200)["paths"].items()
                 for method in methods if method in ("get", "post", "put", "patch", "delete", "head", "options")}
    equal(described - matrix, set(), "routes of openapi.json without a row")
    equal(matrix - pages - awaited - described, set(), "rows that openapi.json does not describe")
    equal(pages - matrix, set(), "pages without a row")

    written = {nameless(f"{method} {path}") for source in (ROOT / "src/http").glob("*.cc")
               for method, path in re.findall(r'\{"(GET|POST|PUT|PATCH|DELETE)",\s*"(/[^"]*)"', source.read_text())}
    # The pages with script stand in a table of their own.
    shells = re.findall(r'\{"\w+",\s*"\w+",\s*"(/[^"]*)",\s*"\w+:\w+"', (ROOT / "src/http/app_pages.cc").read_text())
    written |= {nameless(f"GET {path}") for path in shells}
    equal(written ^ matrix, set(), "routes that stand in the source or in the matrix alone")


@case("who may not start agents is not told which there are")
def unknown_agents(world):
    server = world.server(agents=[external_agent("worker")])
    admin = with_key(server, make_key(server.client(), "admin"))
    add_user(admin, "vi", "viewer")
    callers = {"nobody": Caller(server), "a viewer": log_in(server, "vi"),
               "a key for another agent": with_key(server, make_key(admin, "webhook:other")),
               "a key that asks": with_key(server, make_key(admin, "questions:ask"))}
    for name, caller in callers.items():
        known, unknown = (caller.post(f"/agent/webhook/{agent}", {}) for agent in ("worker", "walker"))
        equal(known.status, 401 if name == "nobody" else 403, f"{name}: {known}")
        equal((unknown.status, unknown.body), (known.status, known.body.replace(b"worker", b"walker")), f"{name}")
    equal(admin.post("/agent/webhook/walker", {}).error["code"], "unknown_agent", "who may")
