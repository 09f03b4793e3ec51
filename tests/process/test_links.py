"""Answer links: the page behind one, what its form does, and what becomes of a link that is of no use."""

import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from client import check, equal, wait_until
from credentials import close_server, form, make_key, make_link, path_of, with_key
from harness import BINARY, case, clean_environment, external_agent
from pages import Page, check_headers, read_page
from tables import audit, difference, dump, edit, rows

CHOICES = [{"label": "yes", "description": "now, at once", "emoji": "🚀", "recommended": True}, {"label": "no"}, "later"]
MANY_WRONG = {"limits": {"wrong_credentials_per_minute": 1_000_000}}
UNKNOWN_TOKEN = "A" * 43


def token_of(path):
    return parse_qs(urlsplit(path).query)["token"][0]


def ask_one(client, agent=None, link_for="ana@example.org", **question):
    """(session, question id, the path of a link)"""
    fields = {"agent": agent} if agent else {}
    asked = client.ask({"question": "Ship it?", "options": CHOICES, **question}, **fields)
    session, id = asked["session_id"], asked["questions"][0]["id"]
    return session, id, make_link(client, id, link_for) if link_for else None


def submit(client, page, fields, **options):
    """Sends the form of a page with these fields filled in: a dict, or pairs."""
    equal(page.methods, ["post"], "the form's method")
    pairs = list(fields.items()) if isinstance(fields, dict) else list(fields)
    return form(client, page.actions[0], [*page.hidden.items(), ("do", "answer"), *pairs], **options)


def visit(client, path, status=200):
    return read_page(client.request("GET", path), status)


@case("holdpoint link prints a link whose page shows the whole question, and takes the answer in the recipient's name")
def link_by_command(world):
    server = world.server({"server": {"public_url": "https://holdpoint.example.org"}}, [external_agent("caller")])
    client = server.client()
    asked = client.ask({"question": "Ship it?\nNow?", "options": CHOICES, "header": "Release"}, agent="caller",
                       context={"version": "1.2.3", "tests": {"passed": 12}, "list": [1, None]})
    session, question = asked["session_id"], asked["questions"][0]["id"]
    made = subprocess.run([str(BINARY), "link", question, "--for", "ana@example.org", "--server", server.url], text=True,
                          capture_output=True, env=clean_environment(), timeout=30)
    equal(made.returncode, 0, made.stderr)
    url = made.stdout.strip()
    check(re.fullmatch(rf"https://holdpoint\.example\.org/agent/answer/{session}\?token=[\w-]{{43}}", url), f"the link: {url}")

    page = visit(client, path_of(url))
    equal(page.heading, "Ship it?\nNow?", "the question")
    check("caller asks" in page.text and "Release" in page.text, f"who asks, and the header: {page.text}")
    equal((page.context["version"], page.context["tests"].split(), page.context["list"].split()),
          ("1.2.3", ["{", '"passed":', "12", "}"], ["[", "1,", "null", "]"]), "the context")
    equal(list(page.context), ["version", "tests", "list"], "the context's order, as the agent gave it")
    equal([(o.type, o.value, o.checked) for o in page.options], [("radio", "yes", False), ("radio", "no", False), ("radio", "later", False)],
          "the options")
    shown = page.of("label")[0]
    for part in ("🚀", "yes", "recommended", "now, at once"):
        check(part in shown, f"no {part!r} in the first option: {shown!r}")
    check("recommended" not in page.of("label")[1], "a second recommendation")
    equal((page.own.value, page.buttons), ("", ["answer", "confirm_cancel"]), "own text and buttons")
    equal(page.actions, [f"/agent/answer/{session}"], "where the form goes")
    check("token=" not in "".join(page.links), "the token is in an address of the page")

    thanks = read_page(submit(client, page, {"choice": "no"}))
    check("no" in thanks.of("blockquote"), f"the thanks page: {thanks.text}")
    answered = client.question(question)
    equal((answered["status"], answered["answer"], answered["answered_by"], answered["answered_via"]),
          ("answered", "no", "ana@example.org", "link"), "the question")
    equal(client.completed(session)["result"]["questions"][0]["answered_by"], "ana@example.org", "the answerer in the result")


@case("a link by callback is there only when the agent says callback_link, and records the receiver as the answerer")
def link_by_callback(world):
    receiver = world.receiver()
    server = world.server(agents=[external_agent("linked", question_callback=receiver.url, callback_link=True),
                                  external_agent("plain", question_callback=receiver.url)])
    client = server.client()
    for name in ("linked", "plain"):
        client.ask("Go on?", agent=name)
    wait_until(lambda: len(receiver.received) == 2, "both callbacks")
    sent = {callback.body["agent_name"]: callback.body for callback in receiver.received}
    equal({name for name, body in sent.items() if "answer_page" in body}, {"linked"}, "callbacks with a link")
    for body in sent.values():
        equal(body["answer_url"], f"{server.url}/agent/answer/{body['session_id']}", "answer_url")
    body = sent["linked"]
    check(body["answer_page"].startswith(body["answer_url"] + "?token="), f"answer_page: {body}")
    page = visit(client, path_of(body["answer_page"]))
    equal((page.heading, page.options), ("Go on?", []), "the page")
    read_page(submit(client, page, {"own": "yes, go\r\non\r\n"}))
    answered = client.question(body["question"]["id"])
    equal((answered["text"], answered["answered_by"], answered["answered_via"]), ("yes, go\non", f"{receiver.host}:{receiver.port}", "url"),
          "the answer")


HOSTILE = "</h1><script>alert(1)</script>\"'><img src=x onerror=alert(1)> & &amp; {{token:%s}} <!-- ]]>" % ("0" * 36)


@case("whatever an agent, a recipient or an answerer writes is text on every page")
def escaped(world):
    receiver = world.receiver()
    server = world.server(agents=[external_agent("caller", question_callback=receiver.url, callback_link=True)])
    client = server.client()
    label = "</label><b>" + HOSTILE[:60]
    asked = client.ask({"question": HOSTILE, "options": [{"label": label, "description": HOSTILE, "emoji": "<&\""}, "\"' autofocus x=\""],
                        "header": "<b>\"'&</b>"},
                       agent="caller", context={HOSTILE: HOSTILE, "nested": {"<script>": [HOSTILE]}})
    session, question = asked["session_id"], asked["questions"][0]["id"]
    link = make_link(client, question, HOSTILE)
    body = wait_until(lambda: receiver.of("question_pending"), "the callback")[0].body
    equal((body["question"]["text"], body["question"]["context"][HOSTILE]), (HOSTILE, HOSTILE), "the texts in the callback")
    check(re.fullmatch(r"[\w-]{43}", token_of(body["answer_page"])), f"answer_page: {body['answer_page']}")

    plain = visit(client, "/questions")
    check(HOSTILE in plain.of("a"), f"the plain list: {plain.of('a')}")
    pages = [visit(client, link), visit(client, f"/question/{question}"), visit(client, path_of(body["answer_page"]))]
    wrong = {"choice": label, "own": HOSTILE}
    pages.append(read_page(submit(client, pages[0], wrong), 422))
    equal((pages[-1].chosen, pages[-1].own.value), ([label], HOSTILE), "what was typed")
    pages.append(visit(client, link + "&" + urlencode({"answer": HOSTILE})))
    equal(pages[-1].own.value, HOSTILE, "the answer of the address")
    for page in pages:
        equal(page.heading, HOSTILE, "the question")
        check("<b>\"'&</b>" in page.of("strong"), f"the header: {page.of('strong')}")
        equal(page.context[HOSTILE], HOSTILE, "the context")
        check("<script>" in page.context["nested"], f"nested context: {page.context}")
        equal([option.value for option in page.options], [label, "\"' autofocus x=\""], "the options")
        check(HOSTILE in page.of("small"), f"descriptions: {page.of('small')}")

    for page in (read_page(submit(client, pages[0], {"own": HOSTILE})), visit(client, link), visit(client, f"/question/{question}"),
                 read_page(submit(client, pages[0], {"choice": label}), 409)):
        equal((page.heading, page.of("blockquote")), (HOSTILE, [HOSTILE]), "the page afterwards")
    check(HOSTILE in visit(client, link).of("p")[1], "the recipient's name")
    equal(client.question(question)["text"], HOSTILE, "the answer")
    equal(client.question(question)["answered_by"], HOSTILE, "the answerer")


@case("answer= in the link's address only fills the form in")
def preselected(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    before = dump(server)
    equal(visit(client, link + "&answer=no").chosen, ["no"], "the chosen option")
    own = visit(client, link + "&answer=" + quote("not today"))
    equal((own.chosen, own.own.value), ([], "not today"), "an own text")
    equal(visit(client, link + "&answer=").chosen, [], "an empty answer")
    _, _, strict = ask_one(client, allow_other=False)
    refused = visit(client, strict + "&answer=perhaps")
    equal((refused.chosen, refused.own), ([], None), "a text where only options count")
    equal(client.question(question)["status"], "pending", "the question")
    changed = difference(before, dump(server))
    equal(set(changed), {"agent_sessions", "agent_questions", "agent_events", "answer_links", "audit_log", "audit_head"},
          "tables that asking the second question changed")
    equal([row[0] for table in changed.values() for row in table["gone"]], [1], "rows that changed: the head of the audit log")


@case("GET, HEAD, OPTIONS and other methods change nothing, whatever the address says")
def reading_changes_nothing(world):
    server = world.server(MANY_WRONG, [external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    page = visit(client, link)
    filled = urlencode({**page.hidden, "do": "answer", "choice": "yes", "answer": "yes"})
    before = dump(server)
    statuses = set()
    for method in ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"):
        for path in (link, link + "&answer=yes", f"/agent/answer/{session}?{filled}", f"/agent/answer/{session}",
                     f"/question/{question}", f"/question/{question}?{filled}"):
            for body in (None, filled.encode()):
                reply = client.request(method, path, body,
                                       {"Content-Type": "application/x-www-form-urlencoded"} if body else {})
                check_headers(reply)
                statuses.add((method, reply.status))
    for method in ("OPTIONS", "PUT", "PATCH", "DELETE"):
        equal({status for name, status in statuses if name == method} - {415}, {405}, f"statuses of {method}")
    equal(client.request("HEAD", link).body, b"", "the body of HEAD")
    equal(difference(before, dump(server)), {}, "changes")
    equal(client.question(question)["status"], "pending", "the question")


@case("a form counts only with its token and a nonce made for it; what was typed is kept")
def needs_token_and_nonce(world):
    server = world.server(MANY_WRONG, [external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    _, _, other_link = ask_one(client)
    own_link = make_link(client, question, "ben")
    page, other, second = visit(client, link), visit(client, other_link), visit(client, own_link)
    person = visit(client, f"/question/{question}")
    before = dump(server)
    right = {"do": "answer", "choice": "yes", "token": page.hidden["token"], "nonce": page.hidden["nonce"]}

    for what, token in (("none", None), ("an unknown one", UNKNOWN_TOKEN), ("another session's", other.hidden["token"])):
        fields = {name: value for name, value in {**right, "token": token}.items() if value is not None}
        reply = form(client, page.actions[0], fields)
        equal(reply.status, 415 if token is None else 404, f"with the token: {what}; {reply}")
    stale = str(int(right["nonce"].partition(".")[0]) - 1) + "." + right["nonce"].partition(".")[2]
    for what, nonce in (("none", None), ("an empty one", ""), ("garbage", "x"), ("another link's", other.hidden["nonce"]),
                        ("that of the same question's other link", second.hidden["nonce"]), ("a person's", person.hidden["nonce"]),
                        ("one with another time", stale), ("one without its mac", right["nonce"].partition(".")[0] + ".")):
        fields = {name: value for name, value in {**right, "nonce": nonce, "own": "  typed <b>\r\n text"}.items() if value is not None}
        again = read_page(form(client, page.actions[0], fields), 422)
        equal((again.chosen, again.own.value.replace("\r\n", "\n")), (["yes"], "  typed <b>\n text"), f"what was typed, nonce: {what}")
        check(again.of("p") and any("once more" in text for text in again.of("p")), f"no complaint: {again.text}")
    reply = form(client, page.actions[0] + f"?token={right['token']}", {"do": "answer", "choice": "yes", "nonce": right["nonce"]})
    equal(reply.status, 415, f"a token in the address only: {reply}")
    for origin in ("https://evil.example", "http://127.0.0.1:1", "http://localhost.evil.example"):
        equal(form(client, page.actions[0], right, headers={"Origin": origin}).status, 403, f"from {origin}")
    equal(difference(before, dump(server)), {}, "changes")

    # What the page that came back after a bad nonce holds is good.
    bad = read_page(form(client, page.actions[0], {**right, "nonce": "x"}), 422)
    read_page(submit(client, bad, {"choice": "yes"}, headers={"Origin": server.url}))
    equal(client.question(question)["answer"], "yes", "the answer")


@case("an answer that breaks the question's rules is a page that says so, and the question still waits")
def complaints(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    _, question, link = ask_one(client)
    _, strict, strict_link = ask_one(client, allow_other=False)
    _, several, several_link = ask_one(client, multi_select=True, allow_other=False)
    before = dump(server)
    for path, fields in ((link, [("choice", "yes"), ("choice", "no")]), (link, {"choice": "yes", "own": "perhaps"}), (link, {}),
                         (link, {"own": " \r\n "}), (link, {"choice": ""}), (link, {"own": "x" * 200_000}),
                         (strict_link, {"choice": "perhaps"}), (strict_link, {"own": "perhaps"}),
                         (strict_link, [("choice", "yes"), ("choice", "yes")]), (several_link, {"choice": "perhaps"}), (several_link, {}),
                         (several_link, [("choice", "yes"), ("choice", "perhaps")])):
        page = read_page(submit(client, visit(client, path), fields), 422)
        shown = [text for text in page.of("p") if "hoose" in text or "answer was not taken" in text]
        check(shown, f"no complaint about {fields}: {page.text}")
        pairs = list(fields.items()) if isinstance(fields, dict) else fields
        equal(page.chosen, [o.value for o in page.options if ("choice", o.value) in pairs], f"what was chosen in {fields}")
    equal(difference(before, dump(server)), {}, "changes")

    for id, path, fields, selected, text in (
            (several, several_link, [("choice", "yes"), ("choice", "later")], ["yes", "later"], None),
            (strict, strict_link, {"choice": "no"}, ["no"], None), (question, link, {"own": "perhaps\r\nnot\r\n\r\n"}, [], "perhaps\nnot")):
        read_page(submit(client, visit(client, path), fields))
        found = client.question(id)
        equal((found["status"], found["selected"], found["text"]), ("answered", selected, text), f"the answer {fields}")


@case("with several answers allowed, options and own words go together")
def multi_select(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    _, question, link = ask_one(client, multi_select=True)
    page = visit(client, link + "&answer=later")
    equal([(o.type, o.checked) for o in page.options], [("checkbox", False), ("checkbox", False), ("checkbox", True)], "the options")
    thanks = read_page(submit(client, page, [("choice", "later"), ("choice", "yes"), ("own", "and mail me")]))
    found = client.question(question)
    equal((sorted(found["selected"]), found["text"]), (["later", "yes"], "and mail me"), "the answer")
    for part in ("later", "yes", "and mail me"):
        check(part in thanks.of("blockquote")[0], f"no {part!r} in the thanks page: {thanks.text}")


@case("cancel is there unless the agent forbids it, and is refused all the same when it is sent")
def cancel(world):
    server = world.server(agents=[external_agent("caller"), external_agent("firm", allow_cancel=False)])
    client = server.client()
    session, question, link = ask_one(client, "caller")
    page = visit(client, link)
    before = dump(server)
    asked = read_page(form(client, page.actions[0], {**page.hidden, "do": "confirm_cancel", "choice": "yes"}))
    equal((asked.heading, asked.buttons), ("Cancel this request?", ["cancel", "keep"]), "the page that asks first")
    kept = read_page(form(client, asked.actions[0], {**asked.hidden, "do": "keep"}))
    equal((kept.heading, kept.chosen), (page.heading, ["yes"]), "the question again, as it was filled in")
    equal(difference(before, dump(server)), {}, "changes by asking first")
    thanks = read_page(form(client, asked.actions[0], {**asked.hidden, "do": "cancel"}))
    check("cancelled" in thanks.text, f"the thanks page: {thanks.text}")
    equal((client.question(question)["status"], client.session(session)["status"]), ("cancelled", "cancelled"), "after the cancel")
    later = visit(client, link)
    check("cancelled" in later.text and re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", later.text), f"a second visit: {later.text}")
    late = read_page(form(client, page.actions[0], {**page.hidden, "do": "answer", "choice": "yes"}), 409)
    check("cancelled" in late.text, f"an answer after the cancel: {late.text}")

    session, question, link = ask_one(client, "firm")
    page = visit(client, link)
    equal(page.buttons, ["answer"], "buttons where cancel is forbidden")
    before = dump(server)
    for button in ("confirm_cancel", "cancel"):
        read_page(form(client, page.actions[0], {**page.hidden, "do": button}), 403)
    equal(difference(before, dump(server)), {}, "changes by a forbidden cancel")
    read_page(submit(client, page, {"choice": "yes"}))


@case("while others of its request wait, thanks for an answer say how many, and lead there only who may see them")
def batches(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    asked = client.ask("First?", "Second?", "Third?", agent="caller")
    ids = [question["id"] for question in asked["questions"]]
    page = visit(client, make_link(client, ids[1], "ana"))
    check("question 2 of 3" in page.text, f"which of them it is: {page.text}")
    thanks = read_page(submit(client, page, {"own": "two"}))
    check("2 more questions are answered" in thanks.text and "goes on with it" not in thanks.text, f"by a link: {thanks.text}")
    check(not any(ask in thanks.reply.body.decode() for ask in (*ids, "First?", "Third?")), f"a link shows others: {thanks.text}")
    for at, text, following in ((2, "one more question is answered", ids[0]), (0, "the agent goes on with it", None)):
        page = visit(client, f"/question/{ids[at]}")
        check(f"question {at + 1} of 3" in page.text, f"which of them it is: {page.text}")
        thanks = read_page(form(client, page.actions[0], {**page.hidden, "own": "yes"}))
        check(text in thanks.text, f"after {at}: {thanks.text}")
        equal([link for link in thanks.links if "/question/" in link], [f"/question/{following}"] if following else [], "where it leads")
    equal(client.session(asked["session_id"])["status"], "completed", "the session")


@case("later visits to a cancelled request show who cancelled it")
def who_cancelled(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    _, question, link = ask_one(client)
    page = visit(client, link)
    read_page(form(client, page.actions[0], {**page.hidden, "do": "cancel"}))
    for path in (link, f"/question/{question}"):
        shown = visit(client, path).text
        check("ana@example.org" in shown, f"who cancelled is not on {path}: {shown}")


@case("later visits show who decided, when and what; another answer later is a 409 that shows the winner")
def settled(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    late_link = make_link(client, question, "ben")
    page, late = visit(client, link), visit(client, late_link)
    first = read_page(submit(client, page, {"choice": "no"}))
    # Reloading the page that said thanks sends the form again.
    equal(read_page(submit(client, page, {"choice": "no"})).text, first.text, "the same answer again")
    before = dump(server)
    when = client.question(question)["answered_at"]
    shown = f"{when[:10]} {when[11:16]} UTC"
    pages = [visit(client, link), visit(client, late_link), visit(client, late_link + "&answer=yes"), visit(client, f"/question/{question}"),
             read_page(submit(client, late, {"choice": "yes"}), 409), read_page(submit(client, page, {"own": "never"}), 409)]
    for found in pages:
        equal(found.of("blockquote"), ["no"], "what was decided")
        check("ana@example.org" in found.text and shown in found.text, f"who and when: {found.text}")
        equal((found.inputs, found.actions), ([], []), "forms on a settled page")
    equal(difference(before, dump(server)), {}, "changes")


@case("of 40 people who follow their links at once one decides, and the others see who")
def one_decides(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    session, question, _ = ask_one(client, link_for=None)
    people = [f"person{n}" for n in range(40)]
    pages = {name: visit(client, make_link(client, question, name)) for name in people}
    gate = threading.Barrier(len(people))

    def answer(name):
        gate.wait(30)
        return submit(client, pages[name], {"own": f"by {name}"})

    with ThreadPoolExecutor(len(people)) as pool:
        replies = dict(zip(people, pool.map(answer, people)))
    won = [name for name, reply in replies.items() if reply.status == 200]
    equal(len(won), 1, "answers that were taken")
    equal({reply.status for name, reply in replies.items() if name not in won}, {409}, "the others")
    for name, reply in replies.items():
        equal(Page(reply).of("blockquote"), [f"by {won[0]}"], f"what {name} was shown")
    equal((client.question(question)["answered_by"], len(client.events(session, "question_answered"))), (won[0], 1), "the answer")
    equal([row["action"] for row in audit(server)].count("question_answered"), 1, "rows of the audit log")


@case("links that are unknown, mistyped, timed out or another session's give the same 404, byte for byte")
def dead_links(world):
    server = world.server(MANY_WRONG, [external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    other, other_question, other_link = ask_one(client)
    token = token_of(link)
    asked = client.ask({"question": "Quick?", "options": ["a", "b"], "default": "a"}, timeout=1, on_timeout="default")
    defaulted = make_link(client, asked["questions"][0]["id"], "ana")
    asked = client.ask("Quicker?", timeout=1, on_timeout="continue")
    timed_out = make_link(client, asked["questions"][0]["id"], "ana")
    page = visit(client, timed_out)
    for path in (defaulted, timed_out):
        client.session(path.split("/")[3].partition("?")[0], wait=30, until="finished")

    answer = f"/agent/answer/{session}?token="
    paths = {
        "unknown": answer + UNKNOWN_TOKEN, "a letter less": answer + token[:-1], "a letter more": answer + token + "A",
        "another letter": answer + ("B" if token[0] != "B" else "C") + token[1:], "other case": answer + token.swapcase(),
        "odd characters": answer + quote("<script>alert(1)</script>"), "a quote": answer + quote("' OR 1=1 --"),
        "not ASCII": answer + quote("é" * 30), "long": answer + "A" * 4000, "a session's id": answer + session,
        "of another session": f"/agent/answer/{other}?token={token}", "of no session": f"/agent/answer/{'0' * 8}?token={token}",
        "of a session that never was": f"/agent/answer/{session[:-4]}0000?token={token}",
        "of a session with a strange name": f"/agent/answer/{quote('a b<c>é')}?token={token}",
        "timed out": timed_out, "defaulted": defaulted, "with an answer": answer + UNKNOWN_TOKEN + "&answer=yes",
    }
    before = dump(server)
    wanted = visit(client, answer + UNKNOWN_TOKEN, 404).reply
    check("not valid" in wanted.body.decode(), f"the page: {wanted}")
    sent = {"do": "answer", "choice": "yes", "nonce": page.hidden["nonce"]}
    for what, path in paths.items():
        reply = client.request("GET", path)
        equal((reply.status, reply.body), (404, wanted.body), f"a link that is {what}")
        equal(sorted((name, value) for name, value in reply.headers.items()), sorted(wanted.headers.items()), f"headers; {what}")
        equal(client.request("HEAD", path).status, 404, f"HEAD of a link that is {what}")
        if "?token=" in path:
            posted = form(client, path.partition("?")[0], {**sent, "token": parse_qs(urlsplit(path).query)["token"][0]})
            equal((posted.status, posted.body), (404, wanted.body), f"the form of a link that is {what}")
    equal(difference(before, dump(server)), {}, "changes")
    # In capitals it is the same session.
    visit(client, f"/agent/answer/{session.upper()}?token={token}")


@case("each link of a batch opens its own question, and answers that one alone")
def batch(world):
    server = world.server(MANY_WRONG, [external_agent("caller")])
    client = server.client()
    asked = client.ask(*({"question": text, "options": ["yes", "no"]} for text in ("First?", "Second?", "Third?")), agent="caller")
    session, ids = asked["session_id"], [question["id"] for question in asked["questions"]]
    links = [make_link(client, id, f"person{n}") for n, id in enumerate(ids)]
    pages = [visit(client, link) for link in links]
    equal([page.heading for page in pages], ["First?", "Second?", "Third?"], "the pages")
    # Another question's id in the form is not looked at.
    read_page(form(client, pages[1].actions[0], [*pages[1].hidden.items(), ("do", "answer"), ("choice", "no"), ("question_id", ids[0]),
                                                 ("question", ids[0])]))
    equal([client.question(id)["status"] for id in ids], ["pending", "answered", "pending"], "after the second link's form")
    equal(client.session(session)["status"], "pending_input", "the session")
    # A token with the other link's nonce is neither.
    mixed = form(client, pages[0].actions[0], {"token": pages[0].hidden["token"], "nonce": pages[2].hidden["nonce"], "choice": "yes"})
    equal(mixed.status, 422, f"a mixed form: {mixed}")
    equal(visit(client, links[1]).of("blockquote"), ["no"], "the second link now")
    equal(visit(client, links[0]).heading, "First?", "the first link now")
    read_page(submit(client, pages[0], {"choice": "yes"}))
    read_page(submit(client, pages[2], {"own": "perhaps"}))
    result = client.completed(session)["result"]
    equal([(q["question"], q["answered_by"], q["answered_via"]) for q in result["questions"]],
          [("First?", "person0", "link"), ("Second?", "person1", "link"), ("Third?", "person2", "link")], "who answered what")


@case("a token is in no log, no metric, no list, no event and no file of the database")
def no_leak(world):
    receiver = world.receiver(lambda callback: 200)
    server = world.server(MANY_WRONG, [external_agent("caller", question_callback=receiver.url, callback_link=True,
                                                      callback_events=["question_settled", "session_completed"])])
    admin = close_server(server)
    visitor = server.client()
    tokens = []
    for n in range(4):
        asked = make_asked(server, admin)
        session, question = asked["session_id"], asked["questions"][0]["id"]
        sent = wait_until(lambda: [c for c in receiver.of("question_pending") if c.body["session_id"] == session], "the callback")
        links = [make_link(admin, question, "ana"), path_of(sent[0].body["answer_page"])]
        tokens += [token_of(link) for link in links]
        for link in links:
            page = visit(visitor, link)
            visitor.request("HEAD", link)
            visitor.request("OPTIONS", link)
            visitor.request("GET", link + "&answer=yes&unknown=1")
            visitor.request("GET", link + "&token=again")
            visitor.request("GET", link.replace("/agent/answer/", "/agent/answers/"))
            visitor.request("GET", "/?" + link.partition("?")[2])
            form(visitor, page.actions[0], {**page.hidden, "nonce": "x"})
            form(visitor, page.actions[0] + "?x=1", page.hidden)
        read_page(submit(visitor, page, {"choice": "yes"}))
        visit(visitor, links[0])
    wait_until(lambda: len(receiver.of("session_completed")) == 4, "the callbacks of the ends")
    exported = subprocess.run([str(BINARY), "audit", "export", "--server", server.url], capture_output=True, text=True, timeout=30,
                              env=clean_environment({"HOLDPOINT_KEY": admin.headers["Authorization"].removeprefix("Bearer ")}))
    check(exported.returncode == 0 and "link_made" in exported.stdout, f"audit export: {exported}")
    places = {"audit export": exported.stdout.encode()}
    for path in ("/metrics", "/agent/deliveries?limit=500", "/agent/questions?limit=500", "/agent/sessions?limit=500",
                 "/agent/audit?limit=1000", f"/agent/session/{session}/events?limit=500", "/", "/questions",
                 f"/session/{session}", f"/question/{question}"):
        reply = admin.request("GET", path)
        equal(reply.status, 200, f"{reply}")
        places[path] = reply.body
    for callback in receiver.received:
        if callback.event != "question_pending":
            places[f"the callback {callback.event} {callback.id}"] = callback.raw

    def grep():
        for file in server.folder.rglob("*"):
            if file.is_file():
                places[file.name] = file.read_bytes()
        places.update(server.database.contents())
        return [(place, token) for place, content in places.items() for token in tokens if token.encode() in content]

    looked_into = "holdpoint.db-wal" if server.database.engine == "sqlite" else "answer_links"
    check(looked_into in server.database.contents(), f"no {looked_into} to look into")
    equal(grep(), [], "tokens found")
    server.terminate()
    equal(grep(), [], "tokens found after the end")
    equal(len(rows(server, "SELECT * FROM answer_links")), 8, "links in the database")


def make_asked(server, admin):
    asker = with_key(server, make_key(admin, "questions:ask"))
    return asker.ask({"question": "Ship it?", "options": ["yes", "no"]}, agent="caller")


@case("a callback that is sent again carries another token, and both links work")
def token_of_each_attempt(world):
    statuses = [500, 200]
    receiver = world.receiver(lambda callback: statuses.pop(0))
    server = world.server(agents=[external_agent("caller", question_callback=receiver.url, callback_link=True)])
    client = server.client()
    asked = client.ask({"question": "Ship it?", "options": ["yes", "no"]}, agent="caller")
    wait_until(lambda: len(receiver.received) == 2, "the second attempt", deadline=20)
    first, second = (path_of(callback.body["answer_page"]) for callback in receiver.received)
    equal(len({callback.id for callback in receiver.received}), 1, "delivery ids")
    check(token_of(first) != token_of(second), "both attempts carry the same token")
    equal(visit(client, first).heading, "Ship it?", "the first link")
    read_page(submit(client, visit(client, second), {"choice": "yes"}))
    equal(visit(client, first).of("blockquote"), ["yes"], "the first link, after the second decided")
    equal(client.question(asked["questions"][0]["id"])["answer"], "yes", "the answer")


@case("links die when their session is removed")
def removed_session(world):
    server = world.server(agents=[external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    read_page(submit(client, visit(client, link), {"choice": "yes"}))
    visit(client, link)
    server.kill()
    edit(server, "UPDATE agent_sessions SET completed_at = '2020-01-01T00:00:00.000Z'")
    server.start()
    client = server.client()
    wait_until(lambda: client.get(f"/agent/session/{session}").status == 404, "the session is removed")
    equal(rows(server, "SELECT * FROM answer_links"), [], "links of the removed session")
    gone = visit(client, link, 404).reply
    equal(gone.body, visit(client, f"/agent/answer/{session}?token={UNKNOWN_TOKEN}", 404).reply.body, "the page of a removed session's link")


@case("a link is made only for a pending question, and only for those whom the agent lists")
def making_links(world):
    server = world.server(agents=[external_agent("caller"), external_agent("listed", answerers=["Ana@example.org"])])
    client = server.client()
    session, question, link = ask_one(client, "listed")
    equal(client.post(f"/agent/questions/{question}/links", {"recipient": "ben"}).expect(422)["error"]["field"], "recipient",
          "for somebody who is not listed")
    read_page(submit(client, visit(client, link), {"choice": "yes"}))
    equal(client.question(question)["answered_by"], "ana@example.org", "the answerer")
    for body, field in (({"recipient": ""}, "recipient"), ({"recipient": "x" * 201}, "recipient"), ({}, "recipient"),
                        ({"recipient": 1}, "recipient"), ({"recipient": "ana@example.org"}, "question")):
        equal(client.post(f"/agent/questions/{question}/links", body).expect(422)["error"]["field"], field, f"with {body}")
    equal(client.post(f"/agent/questions/{session}/links", {"recipient": "ana"}).status, 404, "for no question")

    # Who left the list since the link was made may not answer by it.
    session, question, link = ask_one(client, "listed")
    page = visit(client, link)
    agents = server.folder / "agents" / "listed.md"
    agents.write_text(agents.read_text().replace("Ana@example.org", "ben"))
    server.restart()
    client = server.client()
    read_page(submit(client, page, {"choice": "yes"}), 403)
    read_page(form(client, page.actions[0], {**page.hidden, "do": "cancel"}), 403)
    equal(client.question(question)["status"], "pending", "the question")


@case("many wrong links from an address are a 429 for a while, and a right one still opens")
def many_wrong_links(world):
    server = world.server({"limits": {"wrong_credentials_per_minute": 5}}, [external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    statuses = [client.request("GET", f"/agent/answer/{session}?token={UNKNOWN_TOKEN}").status for _ in range(8)]
    equal(statuses, [404] * 5 + [429] * 3, "answers to wrong links")
    refused = visit(client, f"/agent/answer/{session}?token={UNKNOWN_TOKEN}", 429)
    check(int(refused.reply.headers["Retry-After"]) >= 1, f"Retry-After: {refused.reply.headers}")
    read_page(submit(client, visit(client, link), {"choice": "yes"}))


@case("every response carries the security headers, pages and refusals alike")
def security_headers(world):
    server = world.server(MANY_WRONG, [external_agent("caller")])
    client = server.client()
    session, question, link = ask_one(client)
    page = visit(client, link)
    replies = [client.request("GET", path) for path in (
        "/", "/login", *page.links, "/assets/0/page.css", "/assets/0/shell.html", "/questions", "/questions?x=1", "/sessions",
        f"/session/{session}", "/session/none", "/agents", "/operations", f"/question/{question}", "/question/none", "/nowhere", f"/agent/answer/{session}",
        "/agent/answer/none", "/agent/me", "/healthz", "/metrics", "/openapi.json", "/?x=1", "/login?next=//evil.example", link + "&x=1")]
    replies += [client.request(method, "/question/" + question) for method in ("HEAD", "OPTIONS", "PUT")]
    replies += [form(client, f"/question/{question}", {}), form(client, "/login", {}), form(client, "/logout", {}),
                form(client, page.actions[0], {"token": "x"}), client.post(page.actions[0], b"{", {}),
                client.post("/agent/ask", b"x", {"Content-Type": "text/plain"}), form(client, page.actions[0], {}, {"Origin": "null"})]
    admin = close_server(server)
    replies += [client.request("GET", path) for path in ("/", "/sessions", "/questions", f"/question/{question}", f"/agent/answer/{session}",
                                                            "/agent/questions")]
    replies += [admin.request("GET", "/"), form(client, f"/question/{question}", {"choice": "yes"})]
    for reply in replies:
        check_headers(reply)
        if reply.headers["Content-Type"].startswith("text/html"):
            Page(reply)
    check({200, 303, 401, 403, 404, 405, 415, 422} <= {reply.status for reply in replies}, f"{[str(r)[:80] for r in replies]}")
