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


def check_refused(reply, status, field, rule):
    """`field` is the part of the path that must be named; `rule` is a pattern that the message must hold."""
    equal(reply.status, status, f"{reply}: the status")
    error = reply.error
    check((reply.status == 400) == (error.get("field") == "body" and status != 413),
          f"400 is for bodies that cannot be read, 422 for what breaks a rule: {reply}")
    if field:
        check(field in field_parts(error.get("field")), f"error.field does not name {field!r}: {reply}")
    if rule:
        check(re.search(rule, error["message"], re.IGNORECASE), f"the message does not say {rule!r}: {reply}")


def stored(client):
    return {kind: len(getattr(client, kind)()) for kind in ("questions", "sessions", "deliveries")}


def run_table(client, rows, send):
    """Reports every row that is wrong, not just the first."""
    wrong = []
    for name, body, status, field, rule in rows:
        before = stored(client)
        try:
            check_refused(send(body), status, field, rule)
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


UNKNOWN_FIELD = "not known|unknown"
LABELS = ["one", "two", "three", "four", "five", "six"]

BODIES = [
    ("a body that is not JSON", b'{"questions": nope}', 400, "body", "json"),
    ("a body cut off", b'{"questions": [{"question": "Go', 400, "body", "json"),
    ("a body with something after it", b'{"questions":[{"question":"Go on?"}]} tail', 400, "body", "json"),
    ("a list instead of an object", b"[]", 400, "body", "object"),
    ("a number instead of an object", b"7", 400, "body", "object"),
    ("null", b"null", 400, "body", "object"),
    ("nesting 65 deep", nested(65), 400, "body", "64|deep|nest"),
    ("nesting 30,000 deep, never closed", b'{"a":' * 10 + b"[" * 30000, 400, "body", "64|deep|nest"),
    ("a byte that is not UTF-8", b'{"questions":[{"question":"Go \xff on?"}]}', 400, "body", "utf-?8"),
    ("an overlong UTF-8 sequence", b'{"questions":[{"question":"Go \xc0\xaf on?"}]}', 400, "body", "utf-?8"),
    ("a surrogate in UTF-8", b'{"questions":[{"question":"Go \xed\xa0\x80 on?"}]}', 400, "body", "utf-?8"),
    ("half a surrogate pair, escaped", b'{"questions":[{"question":"Go \\ud800 on?"}]}', 400, "body", None),
    ("a NUL in a name", b'{"questions":[{"question":"Go on?"}],"a\\u0000b":1}', 400, "body", None),
    ("a body over the limit", b'{"a":"' + b"x" * BODY_LIMIT + b'"}', 413, "body", "max_body_bytes"),
]

ASKS = [
    ("no questions at all", {}, 422, "questions", None),
    ("0 questions", {"questions": []}, 422, "questions", "1.*4"),
    ("5 questions", {"questions": [{"question": f"{n}?"} for n in range(5)]}, 422, "questions", "4"),
    ("questions as an object", {"questions": {"question": "Go on?"}}, 422, "questions", "list|array"),
    ("a question as a text", {"questions": ["Go on?"]}, 422, "questions", "object"),
    ("a question without its text", question(question=MISSING), 422, "question", None),
    ("an empty question", question(question=""), 422, "question", "1|empty"),
    ("a question of 4,001 characters", question(question="x" * 4001), 422, "question", "4.?000"),
    ("a question that is a number", question(question=7), 422, "question", "string|text"),
    ("a NUL in a question", question(question="a\0b"), 422, "question", "nul|u\\+?0000|\\\\u0000|zero"),
    ("a NUL in a label", question(options=["a\0b", "c"]), 422, "options", None),
    ("1 option", question(options=["yes"]), 422, "options", "2"),
    ("6 options", question(options=LABELS), 422, "options", "5"),
    ("options as a text", question(options="yes"), 422, "options", "list|array"),
    ("an option that is a number", question(options=["yes", 2]), 422, "options", None),
    ("an option without a label", question(options=["yes", {"description": "no"}]), 422, "label", None),
    ("an empty label", question(options=["yes", ""]), 422, "options", None),
    ("two equal labels", question(options=["yes", {"label": "yes"}]), 422, "options", "unique|duplicate|twice"),
    ("two recommended options", question(options=[{"label": "yes", "recommended": True},
                                                  {"label": "no", "recommended": True}]),
     422, "options", "recommended"),
    ("recommended as a text", question(options=["yes", {"label": "no", "recommended": "1"}]), 422,
     "recommended", "true|bool"),
    ("an unknown field in an option", question(options=["yes", {"label": "no", "colour": "red"}]), 422,
     "colour", UNKNOWN_FIELD),
    ("a header of 13 characters", question(header="abcdefghijklm"), 422, "header", "12"),
    ("a header that is a number", question(header=1), 422, "header", "string|text"),
    ("multi_select as a text", question(multi_select="yes"), 422, "multi_select", "true|bool"),
    ("allow_other as a number", question(allow_other=1), 422, "allow_other", "true|bool"),
    ("an unknown style", question(style="carousel"), 422, "style", "buttons.*select"),
    ("an unknown field in a question", question(optoins=["a"]), 422, "optoins", UNKNOWN_FIELD),
    ("an unknown field in the ask", ask(tiemout=5), 422, "tiemout", UNKNOWN_FIELD),
    ("a default that is no option", question(default="maybe", allow_other=False), 422, "default", "option"),
    ("two defaults for one choice", question(default=["yes", "no"]), 422, "default", None),
    ("a default that is a number", question(default=1), 422, "default", None),
    ("a timeout of 0", ask(timeout=0), 422, "timeout", "1|positive|greater"),
    ("a negative timeout", ask(timeout=-5), 422, "timeout", None),
    ("a timeout over the maximum", ask(timeout=86401), 422, "timeout", "86.?400"),
    ("an enormous timeout", ask(timeout=10**30), 422, "timeout", None),
    ("a timeout as a text", ask(timeout="1h"), 422, "timeout", "number|integer|seconds"),
    ("an unknown on_timeout", ask(on_timeout="explode"), 422, "on_timeout", "fail.*default.*continue"),
    ("a context that is a list", ask(context=[1]), 422, "context", "object"),
    ("a tool_call_id that is a number", ask(tool_call_id=5), 422, "tool_call_id", "string|text"),
    ("an agent that does not exist", ask(agent="nobody"), 404, None, "nobody"),
    ("an agent that is not external", ask(agent="helper"), 422, "agent", "external"),
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
    own = [("a NUL in a payload's text", b'{"deep":[{"text":"a\\u0000b"}]}', 422, "text", "nul")]
    run_table(client, BODIES + own, lambda body: client.post("/agent/webhook/helper", body))

    unknown = client.post("/agent/webhook/nobody", {})
    check_refused(unknown, 404, None, "nobody")
    equal(unknown.error["code"], "unknown_agent", "the code for an unknown agent")
    check_refused(client.post("/agent/webhook/..%2f..%2fetc%2fpasswd", {}), 404, None, None)
    check_refused(client.post("/agent/webhook/helper?parent=nobody", {}), 422, "parent", None)
    check_nothing_stored(client)


@case("another content type than JSON is a 415, and JSON with a charset is fine")
def content_types(world):
    server, client = start(world)
    body = json.dumps(ask()).encode()
    for path in ("/agent/ask", "/agent/webhook/helper"):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                     "application/xml", "application/jsonp"):
            check_refused(client.post(path, body, {"Content-Type": kind}), 415, None, "json")
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
    ("no answer", {}, 422, "answer", "required"),
    ("a null answer", {"answer": None}, 422, "answer", None),
    ("a number", {"answer": 1}, 422, "answer", None),
    ("an object", {"answer": {}}, 422, "answer", None),
    ("an empty text", {"answer": ""}, 422, "answer", None),
    ("an empty list", {"answer": []}, 422, "answer", None),
    ("a list with a number", {"answer": [1]}, 422, "answer", None),
    ("two for a single choice", {"answer": ["yes", "no"]}, 422, "answer", None),
    ("what is no option", {"answer": "perhaps"}, 422, "answer", "option"),
    ("a NUL", {"answer": "ye\0s"}, 422, "answer", None),
    ("bytes that are not UTF-8", b'{"answer":"\xff"}', 400, "body", "utf-?8"),
    ("not JSON", b"yes", 400, "body", "json"),
    ("a list as the body", b"[]", 400, "body", "object"),
    ("an unknown field", {"anwser": "yes"}, 422, "anwser", UNKNOWN_FIELD),
    ("answer and answers together", {"answer": "yes", "answers": {"Go on?": "yes"}}, 422, "answers", "answer"),
    ("answers as a list", {"answers": ["yes"]}, 422, "answers", "object"),
    ("answers to nothing", {"answers": {}}, 422, "answers", None),
    ("answers to an unknown question", {"answers": {"Who?": "yes"}}, 422, "answers", "Who"),
    ("answers with no option", {"answers": {"Go on?": "perhaps"}}, 422, "answers", "option"),
    ("an unknown question", {"question_id": "nobody", "answer": "yes"}, 422, "question_id", None),
    ("question_id as a number", {"question_id": 7, "answer": "yes"}, 422, "question_id", None),
    ("answered_by as a number", {"answer": "yes", "answered_by": 7}, 422, "answered_by", None),
]


@case("an answer that breaks a rule is refused, and its question stays pending")
def bad_answers(world):
    server, client = start(world)
    asked = client.post("/agent/ask", question(allow_other=False)).expect(202)
    session, asked_question = asked["session_id"], asked["questions"][0]
    before = client.events(session)
    wrong = []
    for name, body, status, field, rule in ANSWERS:
        try:
            check_refused(client.post(f"/agent/answer/{session}", body), status, field, rule)
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
    reply = client.answer(session, "yes", "nobody")
    equal((reply.status, reply.error["code"]), (404, "session_finished"), "an unknown question of a finished session")
    check_refused(client.answer(session, "perhaps", asked_question["id"]), 422, "answer", "option")
    equal(client.question(asked_question["id"])["answer"], "yes", "the answer that counted")


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
        check_refused(client.get(path), 422, field, None)
    for path in ("/agent/questions/nobody", "/agent/session/nobody", "/agent/session/nobody/events", "/agent/nothing"):
        check_refused(client.get(path), 404, None, None)
    for path in ("/agent/session/nobody/cancel", "/agent/session/nobody/retry", "/agent/deliveries/nobody/redeliver"):
        check_refused(client.post(path), 404, None, None)
    check_refused(client.post("/agent/session/nobody/message", {"message": 1}), 404, None, None)
    check_refused(client.post(f"/agent/session/{session}/message", {"massage": 1}), 422, "massage", UNKNOWN_FIELD)
    check_refused(client.post(f"/agent/session/{session}/cancel", {"raeson": "x"}), 422, "raeson", UNKNOWN_FIELD)
    check_refused(client.post(f"/agent/session/{session}/cancel", {"reason": 7}), 422, "reason", None)
    check_refused(client.post(f"/agent/session/{session}/retry"), 409, None, None)
    for method in ("DELETE", "PUT", "PATCH"):
        check(client.request(method, f"/agent/session/{session}").status == 405, f"{method} was accepted")
    equal(client.session(session)["status"], "pending_input", "the session after all this")
