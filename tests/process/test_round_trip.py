"""From a webhook through questions to a result, over HTTP, with the agents that people would write."""

import base64
import threading
import time

from asking_agent import behave
from client import check, equal, wait_until
from harness import case, command_agent, external_agent, http_agent

STYLES = ["free verse", "rhyming", "sonnet", "haiku"]
STYLE_ASK = {"questions": [{"question": "What style?", "options": STYLES}],
             "context": {"topic": "love"}, "tool_call_id": "toolu_01"}


def start_with_http_agent(world, respond=behave, **front):
    double = world.http_agent(respond)
    server = world.server(agents=[http_agent("poet", double, **front)])
    return server, server.client(), double


def check_poem_round_trip(client, agent_name):
    reply = client.post(f"/agent/webhook/{agent_name}", {"asks": [STYLE_ASK]}).expect(202)
    session = reply["session_id"]
    equal(reply, {"ok": True, "session_id": session, "status": "running"}, "the trigger's answer")

    pending = wait_until(lambda: client.questions(status="pending"), "a pending question")
    equal(len(pending), 1, "pending questions")
    question = pending[0]
    equal((question["session_id"], question["agent_name"], question["question"], question["options"]),
          (session, agent_name, "What style?", STYLES), "the question as listed")
    equal(question["context"]["topic"], "love", "the question's context")
    check(question["context"]["asked_at"].endswith("Z"), f"no asked_at in {question['context']}")
    equal(client.session(session)["status"], "pending_input", "status while the question is open")

    answer = client.answer(session, "haiku", question["id"], by="ana@example.org").expect(200)
    equal(answer, {"ok": True, "status": "resumed", "session_id": session}, "the answer's answer")

    done = client.completed(session)
    equal((done["id"], done["agent_name"], done["questions_asked"], done["questions"], done["error"]),
          (session, agent_name, 1, [], None), "the completed session")
    check(done["completed_at"] >= done["created_at"], f"completed before created: {done}")
    [resume] = done["result"]["resumes"]
    equal({key: resume[key] for key in ("tool_call_id", "answered", "outcome", "reason", "answers")},
          {"tool_call_id": "toolu_01", "answered": True, "outcome": "answered", "reason": None,
           "answers": {"What style?": "haiku"}}, "what the agent got back")
    [told] = resume["questions"]
    equal((told["id"], told["selected"], told["index"], told["text"], told["answered_by"], told["outcome"]),
          (question["id"], ["haiku"], [3], None, "ana@example.org", "answered"), "the question in the resume")
    equal(client.question(question["id"])["answer"], "haiku", "the question's answer")


@case("a webhook leads through a question and its answer to a result with a command agent")
def round_trip_with_command(world):
    server = world.server(agents=[command_agent("write-poem")])
    check_poem_round_trip(server.client(), "write-poem")


@case("a webhook leads through a question and its answer to a result with an http agent")
def round_trip_with_http(world):
    server, client, double = start_with_http_agent(world)
    check_poem_round_trip(client, "poet")
    first, second = double.turns
    equal((first["turn"], first["reason"], first["agent"]), (1, "start", "poet"), "the first turn")
    equal((second["turn"], second["reason"], second["state"]), (2, "answer", {"resumes": []}), "the second turn")


@case("payload and state come back to the agent byte for byte")
def payload_and_state_are_opaque(world):
    state = b'{"z":1.0,  "a":"\\u00e9", "big":123456789012345678901234567890, "a\\/b":[1e2]}'
    payload = b'{"z":1.50, "y":  [ 12345678901234567890123 ], "a":"\\u00fc"}'

    def respond(turn):
        if turn["turn"] == 1:
            return b'{"ask":{"questions":[{"question":"Go on?"}]},"state":' + state + b"}"
        return {"result": {}}

    server, client, double = start_with_http_agent(world, respond)
    session = client.post("/agent/webhook/poet", payload).expect(202)["session_id"]
    client.pending(session)
    client.answer(session, "yes").expect(200)
    client.completed(session)
    check(payload in double.raw[0] and payload in double.raw[1], f"payload changed: {double.raw}")
    check(state in double.raw[1], f"state changed: {double.raw[1]}")


@case("the log tells what happened, and nothing of payloads, questions, answers, results or secrets")
def log_is_discreet(world):
    receiver = world.receiver()
    secret = "whsec_" + base64.b64encode(b"of no concern to logs").decode()
    server, client, _ = start_with_http_agent(world, question_callback=receiver.url, callback_secret=secret,
                                              callback_events=["question_settled", "session_completed"])
    ask = {"questions": [{"question": "private question?"}], "context": {"about": "private context"}}
    session = client.trigger("poet", {"n": "private payload", "asks": [ask]})
    client.pending(session)
    client.answer(session, "private answer").expect(200)
    equal(client.completed(session)["result"]["n"], "private payload", "the result")
    client.answer(session, "private conflict").expect(409)
    wait_until(lambda: {d["status"] for d in client.deliveries(session=session)} == {"delivered"}, "callbacks are sent")
    logged = [line["event"] for line in server.log_events() if line.get("session") == session]
    for event in ("session_started", "question_asked", "question_answered", "session_resumed", "session_completed"):
        equal(logged.count(event), 1, f"log lines of {event}")
    check("private" not in server.log_text() and secret not in server.log_text(), "the log holds what is private")


@case("a batch of three keeps partial answers and resumes with the last one")
def batch_of_three(world):
    server, client, double = start_with_http_agent(world)
    asks = [{"questions": [{"question": "Where?", "options": ["staging", "production"]},
                           {"question": "When?"}, {"question": "Why?"}]}]
    session = client.trigger("poet", {"asks": asks})
    ids = {q["question"]: q["id"] for q in client.pending(session)}
    equal(set(ids), {"Where?", "When?", "Why?"}, "the questions of the batch")

    check(client.answer(session, "x").status in (400, 422), "an answer that names none of three questions was taken")
    partial = client.answer(session, "staging", ids["Where?"]).expect(200)
    equal((partial["status"], partial["remaining"]), ("pending_input", 2), "after one of three")
    equal([q["question"] for q in client.session(session)["questions"]].count("Where?"), 0, "'Where?' still pending")
    equal(len(double.turns), 1, "turns while answers are missing")

    rest = {"answers": {ids["When?"]: "today", "Why?": "because"}, "answered_by": "ben"}
    equal(client.post(f"/agent/answer/{session}", rest).expect(200)["status"], "resumed", "after the last answers")
    [resume] = client.completed(session)["result"]["resumes"]
    equal(resume["answers"], {"Where?": "staging", "When?": "today", "Why?": "because"}, "the answers")
    equal(len(double.turns), 2, "turns")


@case("several options can be chosen only where multi_select is true")
def multi_select(world):
    server, client, _ = start_with_http_agent(world)
    checks = ["unit", "browser", "load"]
    asks = [{"questions": [{"question": "Which?", "options": checks, "multi_select": True},
                           {"question": "One?", "options": ["a", "b"]}]}]
    session = client.trigger("poet", {"asks": asks})
    ids = {q["question"]: q["id"] for q in client.pending(session)}

    refused = client.answer(session, ["a", "b"], ids["One?"])
    equal((refused.status, refused.error["field"]), (422, "answer"), f"two answers to a single choice: {refused}")
    equal(client.question(ids["One?"])["status"], "pending", "status after a refused answer")

    client.answer(session, ["load", "unit"], ids["Which?"]).expect(200)
    client.answer(session, "b", ids["One?"]).expect(200)
    [resume] = client.completed(session)["result"]["resumes"]
    which = next(q for q in resume["questions"] if q["question"] == "Which?")
    equal((sorted(which["selected"]), sorted(which["index"])), (["load", "unit"], [0, 2]), "the choice")
    equal(sorted(resume["answers"]["Which?"]), ["load", "unit"], "the answer of a multi-select question")


@case("the same answer again is already_answered, another one is a 409 with the one that counted")
def answering_twice(world):
    server = world.server()
    client = server.client()
    asked = client.ask("Colour?")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    client.answer(session, "red", by="ana").expect(200)
    again = client.answer(session, "red", question, by="ben").expect(200)
    equal((again["status"], again["session_id"]), ("already_answered", session), "the same answer again")
    conflict = client.answer(session, "blue", question, by="ben")
    body = conflict.expect(409)
    equal((conflict.error["code"], body["answer"], body["answered_by"], body["question_id"]),
          ("already_answered", "red", "ana", question), "the conflict")
    check(body["answered_at"], f"no answered_at in {body}")


@case("a repeated trigger key gives the same session, per agent and per header")
def idempotent_triggers(world):
    server = world.server(agents=[command_agent("one"), command_agent("two")])
    client = server.client()
    for header in ("Idempotency-Key", "webhook-id", "X-GitHub-Delivery"):
        key = {header: f"key of {header}"}
        first = client.post("/agent/webhook/one", {"n": 1}, key).expect(202)
        again = client.post("/agent/webhook/one", {"n": 1}, key).expect(202)
        other = client.post("/agent/webhook/two", {"n": 1}, key).expect(202)
        equal((again["session_id"], again.get("duplicate")), (first["session_id"], True), f"{header} again")
        check(other["session_id"] != first["session_id"], f"{header} shared between agents")
        check(not first.get("duplicate") and not other.get("duplicate"), f"first use of {header} called a duplicate")
    equal(len(client.sessions()), 6, "sessions")


@case("a repeated trigger of a sub-session gives the same session, even when its parent has finished meanwhile")
def idempotent_sub_session(world):
    server, client, _ = start_with_http_agent(world)
    parent = client.trigger("poet", {"asks": [STYLE_ASK]})
    client.pending(parent)
    path, key = f"/agent/webhook/poet?parent={parent}", {"Idempotency-Key": "child"}
    child = client.post(path, {}, key).expect(202)["session_id"]
    client.answer(parent, "haiku").expect(200)
    client.completed(parent)
    again = client.post(path, {}, key).expect(202)
    equal((again["session_id"], again.get("duplicate")), (child, True), "the trigger again")
    refused = client.post(path, {}, {"Idempotency-Key": "another child"})
    equal((refused.status, refused.error["field"]), (422, "parent"), "a new sub-session of a finished parent")


@case("an external agent asks, waits on its question and reads the outcome as the result")
def external_ask(world):
    server = world.server(agents=[external_agent("ci")])
    client = server.client()
    key = {"Idempotency-Key": "ask-1"}
    body = {"agent": "ci", "questions": [{"question": "Deploy?", "options": ["yes", "no"]}], "tool_call_id": "t1"}
    asked = client.post("/agent/ask", body, key).expect(202)
    equal((asked["ok"], asked["status"]), (True, "pending_input"), "the ask's answer")
    equal(client.post("/agent/ask", body, key).expect(202)["session_id"], asked["session_id"], "the ask again")
    question = asked["questions"][0]["id"]

    waited = {}
    waiter = threading.Thread(target=lambda: waited.update(client.question(question, wait=50)))
    waiter.start()
    client.answer(asked["session_id"], "yes", question).expect(200)
    waiter.join(5)
    check(not waiter.is_alive(), "?wait did not return within 5 s of the answer")
    equal((waited["status"], waited["answer"]), ("answered", "yes"), "the question after ?wait")
    result = client.completed(asked["session_id"])["result"]
    equal((result["tool_call_id"], result["answers"]), ("t1", {"Deploy?": "yes"}), "the external session's result")
    equal(len(client.sessions()), 1, "sessions")


@case("a long poll returns as soon as the state changes, and at its end when nothing changes")
def long_poll(world):
    server = world.server()
    client = server.client()
    asked = client.ask("Now?")
    session, question = asked["session_id"], asked["questions"][0]["id"]

    started = time.monotonic()
    equal(client.question(question, wait=1)["status"], "pending", "status after a wait in vain")
    check(0.9 <= time.monotonic() - started < 5, f"wait=1 took {time.monotonic() - started:.2f} s")

    returned = []
    threads = [threading.Thread(target=lambda call=call: (call(), returned.append(time.monotonic())))
               for call in (lambda: client.question(question, wait=50),
                            lambda: client.session(session, wait=50, until="finished"))]
    for thread in threads:
        thread.start()
    answered = time.monotonic()
    client.answer(session, "yes").expect(200)
    for thread in threads:
        thread.join(10)
    equal(len(returned), 2, "long polls that returned")
    check(max(returned) - answered < 2, f"a long poll took {max(returned) - answered:.2f} s after the answer")

    started = time.monotonic()
    client.question(question, wait=50)
    client.session(session, wait=50, until="finished")
    check(time.monotonic() - started < 2, "a long poll on what is settled already did not return at once")


@case("a question past its deadline fails, continues or takes its default, as the ask says")
def timeouts(world):
    server, client, double = start_with_http_agent(world)

    def trigger(on_timeout):
        question = {"question": "Still there?", "options": ["yes", "no"], "default": "no"}
        return client.trigger("poet", {"asks": [{"questions": [question], "timeout": 1, "on_timeout": on_timeout}]})

    sessions = {on_timeout: trigger(on_timeout) for on_timeout in ("fail", "default", "continue")}
    done = {on_timeout: client.finished(session) for on_timeout, session in sessions.items()}
    equal({name: session["status"] for name, session in done.items()},
          {"fail": "failed", "default": "completed", "continue": "completed"}, "how the sessions ended")
    check("timeout" in done["fail"]["error"] or "timed" in done["fail"]["error"], f"error: {done['fail']['error']}")

    [defaulted], [continued] = done["default"]["result"]["resumes"], done["continue"]["result"]["resumes"]
    equal((defaulted["outcome"], defaulted["answers"]), ("defaulted", {"Still there?": "no"}), "on_timeout default")
    equal((continued["answered"], continued["outcome"], continued["reason"]),
          (False, "timed_out", "timeout"), "on_timeout continue")
    outcomes = {q["session_id"]: q["status"] for q in client.questions()}
    equal({name: outcomes[session] for name, session in sessions.items()},
          {"fail": "timed_out", "default": "defaulted", "continue": "timed_out"}, "the questions' outcomes")


@case("an ask that is not allowed or not valid comes back to the agent as refused, and never becomes a question")
def refused_asks(world):
    double = world.http_agent(behave)
    server = world.server(agents=[http_agent("mute", double, async_questions=False), http_agent("poet", double)])
    client = server.client()
    parent = client.trigger("poet", {"asks": [STYLE_ASK]})
    [question_of_parent] = client.pending(parent)
    child = client.post(f"/agent/webhook/poet?parent={parent}", {"asks": [STYLE_ASK]}).expect(202)["session_id"]
    invalid_ask = {"questions": [{"question": "Sure?", "options": ["yes"]}], "tool_call_id": "toolu_01"}
    for session, reason in ((client.trigger("mute", {"asks": [STYLE_ASK]}), "async_questions"), (child, "sub-session"),
                            (client.trigger("poet", {"asks": [invalid_ask]}), "options")):
        done = client.completed(session)
        [resume] = done["result"]["resumes"]
        equal((resume["tool_call_id"], resume["answered"], resume["outcome"], resume["answers"]),
              ("toolu_01", False, "refused", {}), "what the agent got back")
        check(reason in resume["reason"], f"the reason does not name {reason!r}: {resume}")
        equal((done["questions_asked"], len(client.events(session, "ask_refused"))), (0, 1), "questions and refusals")
    equal([q["id"] for q in client.questions()], [question_of_parent["id"]], "questions")
    equal(client.session(child)["parent_id"], parent, "the child's parent")


@case("an agent that goes on asking what it may not ask fails after max_attempts refusals")
def stubborn_agent(world):
    double = world.http_agent(lambda turn: {"ask": STYLE_ASK})
    server = world.server({"agents": {"max_attempts": 3}}, [http_agent("mute", double, async_questions=False)])
    client = server.client()
    session = client.trigger("mute")
    done = client.finished(session)
    equal(done["status"], "failed", "the session")
    check("async_questions" in done["error"], f"the error does not say why: {done['error']}")
    equal([turn["turn"] for turn in double.turns], [1, 2, 3], "turns")
    equal([(turn.get("resume") or {}).get("outcome") for turn in double.turns], [None, "refused", "refused"], "resumes")
    equal(client.questions(), [], "questions")
