"""Mail scanners, chat previews and prefetching browsers follow links. None of it may change anything."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product
from urllib.parse import urlencode

from client import check, equal, wait_until
from credentials import Holder, add_user, close_server, form, hidden_field, log_in, make_key, make_link, path_of, send, with_key
from harness import case, external_agent, http_agent
from pages import Page, check_headers
from signing import GitHub
from tables import difference, dump, rows

THREADS = 8
LIMITS = {"limits": {"wrong_credentials_per_minute": 1_000_000, "requests_per_key_per_second": 1_000_000}}
METHODS = ("GET", "HEAD", "OPTIONS")
# How the followers of links introduce themselves, and what they might ask for on the way.
GUISES = (
    {},
    {"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "Accept": "*/*"},
    {"User-Agent": "Mozilla/5.0 (compatible; Microsoft Outlook SafeLinks)", "Accept": "text/html"},
    {"Purpose": "prefetch", "Sec-Purpose": "prefetch;prerender", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate",
     "Sec-Fetch-Site": "cross-site"},
    {"X-Moz": "prefetch", "Accept": "text/html,application/xhtml+xml"},
    {"X-Purpose": "preview", "Range": "bytes=0-1023"},
    {"X-HTTP-Method-Override": "POST", "X-Method-Override": "POST", "X-HTTP-Method": "POST"},
    {"Origin": "https://mail.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"},
    {"Referer": "https://mail.example/inbox", "If-None-Match": "*", "Cache-Control": "no-cache"},
    {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": "0"},
)
SIGNED = GitHub("hook", "x" * 32)


def fill(world, settings=None):
    """(server, receiver): a server that has seen a bit of everything, and that nothing more happens on by itself."""
    receiver = world.receiver(lambda callback: 410 if callback.path.endswith("gone") else 200)
    runner = world.http_agent(lambda turn: {"result": {}} if turn["payload"].get("good") else {"error": "no", "retry": False})
    server = world.server({**LIMITS, **(settings or {})}, [
        external_agent("linked", question_callback=receiver.url, callback_link=True, callback_events=["question_settled", "session_completed"]),
        external_agent("plain", question_callback=receiver.url + "/gone"), external_agent("firm", allow_cancel=False, answerers=["ana", "dora"]),
        http_agent("hook", runner, webhook_verify="github", webhook_secret=SIGNED.secret), http_agent("worker", runner)])
    client = server.client()
    for n in range(3):
        client.ask({"question": f"Ship {n}?", "options": ["yes", "no"]}, {"question": "Why?", "multi_select": True, "options": ["a", "b"]},
                   agent="linked", context={"see": "/agent/session/x/cancel", "url": "https://elsewhere.example/"})
        client.ask("Alone?", agent="plain")
        client.ask({"question": "Firm?", "options": ["yes", "no"], "allow_other": False}, agent="firm")
    answered, cancelled = client.ask("Done?", agent="linked"), client.ask("Off?", agent="linked")
    client.answer(answered["session_id"], "yes").expect(200)
    client.post(f"/agent/session/{cancelled['session_id']}/cancel").expect(200)
    late = client.ask("Late?", agent="linked", timeout=1, on_timeout="continue")
    make_link(client, late["questions"][0]["id"], "ana")
    client.finished(late["session_id"])
    signed = SIGNED.sign(b'{"good":true}')
    equal(send(server, "/agent/webhook/hook", signed.headers, signed.body)[0], 202, "a signed webhook")
    client.post("/agent/webhook/worker", {"good": True}, {"Idempotency-Key": "once"}).expect(202)
    failed = client.trigger("worker", {"good": False})
    client.finished(failed)
    pending = client.questions(status="pending")
    client.post(f"/agent/session/{pending[0]['session_id']}/message", {"message": "hello"}).expect(202)
    for question in pending:
        make_link(client, question["id"], "ana")
    wait_until(lambda: not client.sessions(status="running") and not client.deliveries(status="pending"), "nothing is under way")
    check(client.deliveries(status="dead") and rows(server, "SELECT * FROM disabled_destinations"), "no dead delivery to look at")
    return server, receiver


def links_of(server, receiver, client):
    """What callbacks carried, and one link more for each pending question."""
    found = []
    for callback in receiver.received:
        found += [path_of(callback.body[name]) for name in ("answer_url", "answer_page") if name in callback.body]
    found += [make_link(client, question["id"], "dora") for question in client.questions(status="pending")]
    check(any("token=" in path for path in found), "no callback carried a link")
    return sorted(set(found))


def api_paths(server, client):
    """Every GET of the contract with ids that are there, but the streams that never end."""
    contract = json.loads(client.get("/openapi.json").body)
    ids = {"session": client.sessions()[0]["id"], "question": client.questions()[0]["id"], "agent": "worker",
           "delivery": client.deliveries()[0]["id"], "name": "ana", "id": client.questions()[0]["id"]}
    paths = [re.sub(r"\{(\w+)\}", lambda m: next((ids[k] for k in ids if m[1].startswith(k)), ids["id"]), path) for path in contract["paths"]]
    return sorted(path for path in paths if path not in ("/agent/events",))


class Follower:
    """Follows every address of every page it gets, and every redirect."""

    def __init__(self, client):
        self.client = client
        self.seen, self.statuses = {}, {}

    def follow(self, seeds):
        queue = list(seeds)
        while queue:
            path = queue.pop()
            if path in self.seen:
                continue
            reply = self.client.request("GET", path)
            check_headers(reply)
            self.seen[path] = reply.status
            if reply.headers.get("Location"):
                queue.append(reply.headers["Location"])
            if reply.headers["Content-Type"].startswith("text/html"):
                page = Page(reply)
                queue += page.links
                # A form sent by GET, with all that is in it and the first option: what a careless robot makes of it.
                for action in page.actions:
                    fields = [(i.name, i.value) for i in page.inputs if i.type == "hidden"] + [("choice", o.value) for o in page.options[:1]]
                    queue += [f"{action}?{urlencode([*fields, ('do', what)])}" for what in ("answer", "confirm_cancel", "cancel")]
        return self


def crawl(followers, extra, requests):
    """Sends that many requests over all followers, addresses, methods and guises; how many of each status came back."""
    calls = [(follower.client, method, path, guise) for follower, method, guise in product(followers, METHODS, GUISES)
             for path in [*follower.seen, *extra]]
    step = max(1, len(calls) // requests)
    while any(step % small == 0 and len(calls) % small == 0 for small in range(2, step + 1)):
        step += 1
    chosen = list(islice(cycle(calls), 0, requests * step, step))

    def run(share):
        statuses = {}
        for client, method, path, guise in share:
            reply = client.request(method, path, headers=guise)
            statuses[method, reply.status] = statuses.get((method, reply.status), 0) + 1
        client.close()
        return statuses

    total = {}
    with ThreadPoolExecutor(THREADS) as pool:
        for statuses in pool.map(run, [chosen[n::THREADS] for n in range(THREADS)]):
            for key, count in statuses.items():
                total[key] = total.get(key, 0) + count
    return total


def check_crawl(server, followers, extra, requests):
    before = dump(server)
    for follower in followers:
        for path in extra:
            follower.client.request("GET", path)
    total = crawl(followers, extra, requests)
    after = dump(server)
    check(before == after, f"{requests} requests that only read have changed something: {difference(before, after)}")
    equal(sum(total.values()), requests, "requests")
    equal({method for method, _ in total}, set(METHODS), "methods")
    for method in METHODS:
        check(all(status < 500 for m, status in total if m == method), f"statuses of {method}: {total}")
    for status, least in ((200, requests // 20), (404, requests // 200)):
        check(total.get(("GET", status), 0) >= least, f"GET gave {status} too rarely: {total}")
    equal({status for method, status in total if method == "OPTIONS"} - {403, 404}, {405}, "statuses of OPTIONS")
    return total


@case("10,000 followed links on a closed server, by strangers and by people who are logged in, change no row", limit=120)
def closed(world):
    server, receiver = fill(world)
    links = links_of(server, receiver, server.client())
    admin = close_server(server)
    for name, role in (("vera", "viewer"), ("ana", "answerer"), ("dora", "admin")):
        add_user(admin, name, role)
    visitors = [server.client(), Holder(server, {"Cookie": "holdpoint=" + "A" * 43}), *(log_in(server, n) for n in ("vera", "ana", "dora")),
                admin, with_key(server, make_key(admin, "questions:ask", "sessions:create"))]
    seeds = ["/", "/questions", "/login", "/login?next=/question/x", *links, *(link + "&answer=yes" for link in links if "token=" in link),
             *(f"/question/{question['id']}" for question in admin.questions())]
    before = dump(server)
    followers = [Follower(visitor).follow(seeds) for visitor in visitors]
    check(before == dump(server), f"the first round changed something: {difference(before, dump(server))}")
    stranger, ana = followers[0], followers[3]
    opened = [path for path, status in stranger.seen.items() if "token=" in path and status == 200]
    check(len(opened) >= 20, f"only {len(opened)} links opened for a stranger")
    check(sum(path.startswith("/question/") and status == 200 for path, status in ana.seen.items()) > 10, "ana saw no questions")
    for what in (r"/assets/\w+/page\.css", r"/assets/\w+/inbox\.js", "/sessions", r"/logout\?.*"):
        check(any(re.fullmatch(what, path) for path in ana.seen), f"ana did not get to {what}: {list(ana.seen)[:40]}")
    check_crawl(server, followers, api_paths(server, admin), 10_000)

    # The dump notices the smallest real change.
    before = dump(server)
    page = next(page for page in (Page(server.client().request("GET", path)) for path in opened) if page.buttons)
    equal(form(server.client(), page.actions[0], {**page.hidden, "choice": page.options[0].value} if page.options
               else {**page.hidden, "own": "yes"}).status, 200, "the form of a followed link")
    check("agent_questions" in difference(before, dump(server)), "an answer left no trace in the dump")
    form(visitors[3], "/logout", {"nonce": hidden_field(visitors[3].request("GET", "/").body.decode(), "nonce")})
    check({"logins", "audit_log", "audit_head"} <= set(difference(before, dump(server))), "a logout left no trace in the dump")


@case("2,000 followed links on an open server change no row", limit=120)
def open_server(world):
    server, receiver = fill(world)
    client = server.client()
    links = links_of(server, receiver, client)
    visitors = [client, Holder(server, {"Cookie": "holdpoint=" + "A" * 43}), Holder(server, {"Authorization": "Bearer hp_0_0"})]
    seeds = ["/", "/questions", "/login", *links, *(link + "&answer=no" for link in links if "token=" in link),
             *(f"/question/{question['id']}" for question in client.questions())]
    before = dump(server)
    followers = [Follower(visitor).follow(seeds) for visitor in visitors]
    check(before == dump(server), f"the first round changed something: {difference(before, dump(server))}")
    check(sum(status == 200 and "/question/" in path for path, status in followers[0].seen.items()) > 10, "no questions were seen")
    check_crawl(server, followers, api_paths(server, client), 2_000)
