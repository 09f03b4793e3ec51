"""Input that is refused: the status, the field to blame and the rule in the message, and nothing stored."""

import json
import re

from client import check, equal
from harness import case, command_agent, external_agent

BODY_LIMIT = 65536
MISSING = object()


def start(world):
    settings = {"limits": {"max_body_bytes": BODY_LIMIT}}
    server = world.server(settings, [command_agent("helper"), external_agent("ci")])
    return server, server.client()


def nested(levels):
    """An object whose containers are `levels` deep, itself included."""
    return b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)


def field_parts(field):
    return [part for part in re.split(r"[.\[\]/]+", field or "") if part]


def check_refused(reply, statuses, field, rule):
    """`field` is the part of the path that must be named; `rule` is a pattern that the message must hold."""
    check(reply.status in statuses, f"{reply}, wanted {statuses}")
    error = reply.error
    if field:
        check(field in field_parts(error.get("field")), f"error.field does not name {field!r}: {reply}")
    if rule:
        check(re.search(rule, error["message"], re.IGNORECASE), f"the message does not say {rule!r}: {reply}")


def stored(client):
    return {kind: len(getattr(client, kind)()) for kind in ("questions", "sessions", "deliveries")}


def run_table(client, rows, send):
    """Reports every row that is wrong, not just the first."""
    wrong = []
    for name, body, statuses, field, rule in rows:
        before = stored(client)
        try:
            check_refused(send(body), statuses, field, rule)
            equal(stored(client), before, "what is stored")
        except (AssertionError, OSError) as problem:
            wrong.append(f"{name}: {problem}")
    check(not wrong, f"{len(wrong)} of {len(rows)} rows:\n" + "\n".join(wrong))


def check_nothing_stored(client):
    equal(stored(client), {"questions": 0, "sessions": 0, "deliveries": 0}, "what is stored")


def question(**fields):
    """An ask of one question with `fields` changed."""
    merged = {"question": "Go on?", "options": ["yes", "no"], **fields}
    return {"questions": [{name: value for name, value in merged.items() if value is not MISSING}]}


def ask(**fields):
    return {"questions": [{"question": "Go on?"}], **fields}


REFUSED = (400, 422)
LABELS = ["one", "two", "three", "four", "five", "six"]

BODIES = [
    ("a body that is not JSON", b'{"questions": nope}', REFUSED, None, "json"),
    ("a body cut off", b'{"questions": [{"question": "Go', REFUSED, None, "json"),
    ("a body with something after it", b'{"questions":[{"question":"Go on?"}]} tail', REFUSED, None, "json"),
    ("a list instead of an object", b"[]", REFUSED, None, "object"),
    ("a number instead of an object", b"7", REFUSED, None, "object"),
    ("null", b"null", REFUSED, None, "object"),
    ("nesting 65 deep", nested(65), REFUSED, None, "64|deep|nest"),
    ("nesting 30,000 deep, never closed", b'{"a":' * 10 + b"[" * 30000, REFUSED, None, "64|deep|nest"),
    ("a byte that is not UTF-8", b'{"questions":[{"question":"Go \xff on?"}]}', REFUSED, None, "utf-?8"),
    ("an overlong UTF-8 sequence", b'{"questions":[{"question":"Go \xc0\xaf on?"}]}', REFUSED, None, "utf-?8"),
    ("a surrogate in UTF-8", b'{"questions":[{"question":"Go \xed\xa0\x80 on?"}]}', REFUSED, None, "utf-?8"),
    ("half a surrogate pair, escaped", b'{"questions":[{"question":"Go \\ud800 on?"}]}', REFUSED, None, None),
    ("a NUL in a name", b'{"questions":[{"question":"Go on?"}],"a\\u0000b":1}', REFUSED, None, None),
    ("a body over the limit", b'{"a":"' + b"x" * BODY_LIMIT + b'"}', (413,), None, None),
]

ASKS = [
    ("no questions at all", {}, REFUSED, "questions", None),
    ("0 questions", {"questions": []}, REFUSED, "questions", "1.*4"),
    ("5 questions", {"questions": [{"question": f"{n}?"} for n in range(5)]}, REFUSED, "questions", "4"),
    ("questions as an object", {"questions": {"question": "Go on?"}}, REFUSED, "questions", "list|array"),
    ("a question as a text", {"questions": ["Go on?"]}, REFUSED, "questions", "object"),
    ("a question without its text", question(question=MISSING), REFUSED, "question", None),
    ("an empty question", question(question=""), REFUSED, "question", "1|empty"),
    ("a question of 4,001 characters", question(question="x" * 4001), REFUSED, "question", "4.?000"),
    ("a question that is a number", question(question=7), REFUSED, "question", "string|text"),
    ("a NUL in a question", question(question="a\0b"), REFUSED, "question", "nul|u\\+?0000|\\\\u0000|zero"),
    ("a NUL in a label", question(options=["a\0b", "c"]), REFUSED, "options", None),
    ("1 option", question(options=["yes"]), REFUSED, "options", "2"),
    ("6 options", question(options=LABELS), REFUSED, "options", "5"),
    ("options as a text", question(options="yes"), REFUSED, "options", "list|array"),
    ("an option that is a number", question(options=["yes", 2]), REFUSED, "options", None),
    ("an option without a label", question(options=["yes", {"description": "no"}]), REFUSED, "label", None),
    ("an empty label", question(options=["yes", ""]), REFUSED, "options", None),
    ("two equal labels", question(options=["yes", {"label": "yes"}]), REFUSED, "options", "unique|duplicate|twice"),
    ("two recommended options", question(options=[{"label": "yes", "recommended": True},
                                                  {"label": "no", "recommended": True}]),
     REFUSED, "options", "recommended"),
    ("recommended as a text", question(options=["yes", {"label": "no", "recommended": "1"}]), REFUSED,
     "recommended", "true|bool"),
    ("an unknown field in an option", question(options=["yes", {"label": "no", "colour": "red"}]), REFUSED,
     "colour", "unknown"),
    ("a header of 13 characters", question(header="abcdefghijklm"), REFUSED, "header", "12"),
    ("a header that is a number", question(header=1), REFUSED, "header", "string|text"),
    ("multi_select as a text", question(multi_select="yes"), REFUSED, "multi_select", "true|bool"),
    ("allow_other as a number", question(allow_other=1), REFUSED, "allow_other", "true|bool"),
    ("an unknown style", question(style="carousel"), REFUSED, "style", "buttons.*select"),
    ("an unknown field in a question", question(optoins=["a"]), REFUSED, "optoins", "unknown"),
    ("an unknown field in the ask", ask(tiemout=5), REFUSED, "tiemout", "unknown"),
    ("a default that is no option", question(default="maybe", allow_other=False), REFUSED, "default", "option"),
    ("two defaults for one choice", question(default=["yes", "no"]), REFUSED, "default", None),
    ("a default that is a number", question(default=1), REFUSED, "default", None),
    ("a timeout of 0", ask(timeout=0), REFUSED, "timeout", "1|positive|greater"),
    ("a negative timeout", ask(timeout=-5), REFUSED, "timeout", None),
    ("a timeout over the maximum", ask(timeout=86401), REFUSED, "timeout", "86.?400"),
    ("an enormous timeout", ask(timeout=10**30), REFUSED, "timeout", None),
    ("a timeout as a text", ask(timeout="1h"), REFUSED, "timeout", "number|integer|seconds"),
    ("an unknown on_timeout", ask(on_timeout="explode"), REFUSED, "on_timeout", "fail.*default.*continue"),
    ("a context that is a list", ask(context=[1]), REFUSED, "context", "object"),
    ("a tool_call_id that is a number", ask(tool_call_id=5), REFUSED, "tool_call_id", "string|text"),
    ("an agent that does not exist", ask(agent="nobody"), (404,), None, "nobody"),
    ("an agent that is not external", ask(agent="helper"), (400, 403, 409, 422), None, "external"),
]


@case("an ask that breaks a rule is refused with its field and rule, and nothing is stored")
def bad_asks(world):
    server, client = start(world)
    run_table(client, BODIES + ASKS, lambda body: client.post("/agent/ask", body))
    check_nothing_stored(client)
    check(server.alive(), "the server died")


@case("a webhook body that breaks a rule is refused, and nothing is stored")
def bad_webhooks(world):
    server, client = start(world)
    own = [("a NUL in a payload's text", b'{"deep":[{"text":"a\\u0000b"}]}', REFUSED, None, "nul|u\\+?0000|\\\\u0000|zero")]
    rows = [row for row in BODIES if row[0] != "a NUL in a name"] + own
    run_table(client, rows, lambda body: client.post("/agent/webhook/helper", body))

    unknown = client.post("/agent/webhook/nobody", {})
    check_refused(unknown, (404,), None, "nobody")
    equal(unknown.error["code"], "unknown_agent", "the code for an unknown agent")
    check_refused(client.post("/agent/webhook/..%2f..%2fetc%2fpasswd", {}), (400, 404), None, None)
    check_refused(client.post("/agent/webhook/helper?parent=nobody", {}), (400, 404, 422), "parent", None)
    check_nothing_stored(client)


@case("another content type than JSON is a 415, and JSON with a charset is fine")
def content_types(world):
    server, client = start(world)
    body = json.dumps(ask()).encode()
    for path in ("/agent/ask", "/agent/webhook/helper"):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                     "application/xml", "application/jsonp"):
            check_refused(client.post(path, body, {"Content-Type": kind}), (415,), None, "json")
        check_nothing_stored(client)
    client.post("/agent/ask", body, {"Content-Type": "application/json; charset=utf-8"}).expect(202)


@case("what is just within the rules is accepted")
def just_within(world):
    server, client = start(world)
    accepted = [
        {"questions": [{"question": f"{n}?"} for n in range(4)]},
        question(options=LABELS[:5], header="abcdefghijkl"),
        question(options=LABELS[:2], question="ü" * 4000, header="äöüäöüäöüäöü"),
        {"questions": [{"prompt": "Alias?", "options": ["a", "b"], "multiSelect": True, "default": ["a", "b"]}]},
        question(default="maybe", allow_other=True),
        question(default="yes", allow_other=False),
        ask(timeout=1, on_timeout="continue"),
        ask(timeout=86400, on_timeout="fail", context={}, tool_call_id="t"),
        question(options=[{"label": "a", "description": "d", "emoji": "🚀", "recommended": True}, "b"], style="select"),
    ]
    for body in accepted:
        client.post("/agent/ask", body).expect(202)
    equal(len(client.sessions()), len(accepted), "sessions")
    client.post("/agent/webhook/helper", nested(64)).expect(202)
    empty = client.request("POST", "/agent/webhook/helper", None, {"Content-Length": "0"}).expect(202)
    client.completed(empty["session_id"])


ANSWERS = [
    ("no answer", {}, REFUSED, None, "answer"),
    ("a null answer", {"answer": None}, REFUSED, "answer", None),
    ("a number", {"answer": 1}, REFUSED, "answer", None),
    ("an object", {"answer": {}}, REFUSED, "answer", None),
    ("an empty text", {"answer": ""}, REFUSED, "answer", None),
    ("an empty list", {"answer": []}, REFUSED, "answer", None),
    ("a list with a number", {"answer": [1]}, REFUSED, "answer", None),
    ("two for a single choice", {"answer": ["yes", "no"]}, (422,), "answer", None),
    ("what is no option", {"answer": "perhaps"}, (422,), "answer", "option"),
    ("a NUL", {"answer": "ye\0s"}, REFUSED, "answer", None),
    ("bytes that are not UTF-8", b'{"answer":"\xff"}', REFUSED, None, "utf-?8"),
    ("not JSON", b"yes", REFUSED, None, "json"),
    ("a list as the body", b"[]", REFUSED, None, "object"),
    ("an unknown field", {"anwser": "yes"}, REFUSED, "anwser", "unknown"),
    ("answer and answers together", {"answer": "yes", "answers": {"Go on?": "yes"}}, REFUSED, None, "answer"),
    ("answers as a list", {"answers": ["yes"]}, REFUSED, "answers", "object"),
    ("answers to nothing", {"answers": {}}, REFUSED, "answers", None),
    ("answers to an unknown question", {"answers": {"Who?": "yes"}}, (404, 422), None, "Who"),
    ("answers with no option", {"answers": {"Go on?": "perhaps"}}, (422,), "answers", "option"),
    ("an unknown question", {"question_id": "nobody", "answer": "yes"}, (404, 422), None, None),
    ("question_id as a number", {"question_id": 7, "answer": "yes"}, REFUSED, "question_id", None),
    ("answered_by as a number", {"answer": "yes", "answered_by": 7}, REFUSED, "answered_by", None),
]


@case("an answer that breaks a rule is refused, and its question stays pending")
def bad_answers(world):
    server, client = start(world)
    asked = client.post("/agent/ask", question(allow_other=False)).expect(202)
    session, asked_question = asked["session_id"], asked["questions"][0]
    before = client.events(session)
    wrong = []
    for name, body, statuses, field, rule in ANSWERS:
        try:
            check_refused(client.post(f"/agent/answer/{session}", body), statuses, field, rule)
            now = client.question(asked_question["id"])
            equal((now["status"], now["answer"]), ("pending", None), "the question afterwards")
        except (AssertionError, OSError) as problem:
            wrong.append(f"{name}: {problem}")
    check(not wrong, f"{len(wrong)} of {len(ANSWERS)} rows:\n" + "\n".join(wrong))
    equal(client.session(session)["status"], "pending_input", "the session afterwards")
    equal([e for e in client.events(session, "session_resumed")], [], f"resumes, after {len(before)} events")

    for unknown in ("nobody", "0193c0de-0000-7000-8000-000000000000"):
        reply = client.answer(unknown, "yes")
        equal((reply.status, reply.error["code"]), (404, "unknown_session"), f"an answer to session {unknown}")
    client.answer(session, "yes").expect(200)


@case("queries, ids and methods that make no sense are refused by name")
def bad_queries(world):
    server, client = start(world)
    asked = client.ask("Go on?")
    session, asked_question = asked["session_id"], asked["questions"][0]["id"]
    for path, field in [("/agent/questions?status=weird", "status"), ("/agent/questions?limit=0", "limit"),
                        ("/agent/questions?limit=501", "limit"), ("/agent/questions?limit=many", "limit"),
                        ("/agent/questions?cursor=%00garbage", "cursor"), ("/agent/sessions?status=weird", "status"),
                        ("/agent/deliveries?status=weird", "status"), ("/agent/questions?stauts=pending", "stauts"),
                        (f"/agent/questions/{asked_question}?wait=56", "wait"),
                        (f"/agent/questions/{asked_question}?wait=-1", "wait"),
                        (f"/agent/session/{session}?wait=soon", "wait"),
                        (f"/agent/session/{session}?wait=1&until=tomorrow", "until"),
                        (f"/agent/session/{session}/events?after=x", "after")]:
        check_refused(client.get(path), REFUSED, field, None)
    for path in ("/agent/questions/nobody", "/agent/session/nobody", "/agent/session/nobody/events", "/agent/nothing"):
        check_refused(client.get(path), (404,), None, None)
    for path in ("/agent/session/nobody/cancel", "/agent/session/nobody/retry", "/agent/deliveries/nobody/redeliver"):
        check_refused(client.post(path), (404,), None, None)
    check_refused(client.post("/agent/session/nobody/message", {"message": 1}), (404,), None, None)
    check_refused(client.post(f"/agent/session/{session}/message", {"massage": 1}), REFUSED, "massage", "unknown")
    check_refused(client.post(f"/agent/session/{session}/cancel", {"raeson": "x"}), REFUSED, "raeson", "unknown")
    check_refused(client.post(f"/agent/session/{session}/cancel", {"reason": 7}), REFUSED, "reason", None)
    check_refused(client.post(f"/agent/session/{session}/retry"), (409,), None, None)
    for method in ("DELETE", "PUT", "PATCH"):
        check(client.request(method, f"/agent/session/{session}").status in (404, 405), f"{method} was accepted")
    equal(client.session(session)["status"], "pending_input", "the session after all this")
