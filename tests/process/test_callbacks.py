"""The url channel: what a receiver gets, and what happens to it when the receiver misbehaves."""

import base64
import hashlib
import hmac
import threading
import time

from client import check, equal, wait_until
from harness import case, external_agent

SECRETS = ["whsec_" + base64.b64encode(secret).decode() for secret in (b"the old secret of 2", b"the new secret of 2")]
ALL_EVENTS = ["question_pending", "question_settled", "session_completed", "session_failed", "session_cancelled"]
QUESTION_KEYS = {"id", "text", "options", "context", "choices", "header", "multi_select", "allow_other", "style",
                 "expires_at", "tool_call_id"}


def start(world, receiver, settings=None, **front):
    agents = [external_agent("caller", question_callback=receiver.url, **front)]
    server = world.server(settings, agents)
    return server, server.client()


def ask(client, agent="caller", **fields):
    """(session, question) ids of one more question."""
    asked = client.ask("Ship it?", agent=agent, **fields)
    return asked["session_id"], asked["questions"][0]["id"]


def wait_received(receiver, count, deadline=10):
    wait_until(lambda: len(receiver.received) >= count, f"{count} callbacks at the receiver", deadline)
    return receiver.received[count - 1]


def wait_delivery(client, session, status, deadline=10):
    """The session's only delivery, once it has that status."""
    def found():
        deliveries = client.deliveries(session=session)
        equal(len(deliveries), 1, f"deliveries of the session: {deliveries}")
        return deliveries[0] if deliveries[0]["status"] == status else None
    return wait_until(found, f"the delivery is {status}: {client.deliveries(session=session)}", deadline)


def signature(secret, callback):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{callback.id}.{callback.headers['webhook-timestamp']}.".encode() + callback.raw
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


@case("a pending question is posted with the agreed body, headers and signatures")
def question_pending(world):
    receiver = world.receiver()
    server, client = start(world, receiver, {"server": {"public_url": "https://holdpoint.example.org"}},
                           callback_secret=SECRETS)
    options = [{"label": "yes", "description": "now", "emoji": "🚀", "recommended": True}, "no"]
    asked = client.ask({"question": "Ship it?", "options": options, "header": "Release"}, agent="caller",
                       context={"topic": "love"}, tool_call_id="toolu_7")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    callback = wait_received(receiver, 1)

    equal(set(callback.body), {"event", "session_id", "agent_name", "question", "answer_url"}, "the body's keys")
    equal((callback.event, callback.body["session_id"], callback.body["agent_name"]),
          ("question_pending", session, "caller"), "the body")
    equal(callback.body["answer_url"], f"https://holdpoint.example.org/agent/answer/{session}", "answer_url")
    told = callback.body["question"]
    equal(set(told), QUESTION_KEYS, "the question's keys")
    equal((told["id"], told["text"], told["options"], told["context"]["topic"], told["header"], told["tool_call_id"]),
          (question, "Ship it?", ["yes", "no"], "love", "Release", "toolu_7"), "the question")
    equal(told["choices"][0], {"label": "yes", "description": "now", "emoji": "🚀", "recommended": True}, "a choice")

    check(callback.headers["Content-Type"].startswith("application/json"), f"content type: {callback.headers}")
    equal(callback.headers["X-Agent-Session"], session, "X-Agent-Session")
    equal(callback.id, wait_delivery(client, session, "delivered")["id"], "webhook-id is the delivery's id")
    check(abs(int(callback.headers["webhook-timestamp"]) - time.time()) < 60, "webhook-timestamp is not now")
    equal(set(callback.headers["webhook-signature"].split()), {signature(s, callback) for s in SECRETS}, "signatures")


@case("settled questions and finished sessions are posted to those who opted in")
def opted_in_events(world):
    receiver, quiet = world.receiver(), world.receiver()
    server = world.server(agents=[
        external_agent("caller", question_callback=receiver.url, callback_events=ALL_EVENTS),
        external_agent("quiet", question_callback=quiet.url)])
    client = server.client()

    session, question = ask(client)
    client.answer(session, "yes", by="ana").expect(200)
    wait_until(lambda: receiver.of("session_completed"), "a session_completed callback")
    settled = wait_until(lambda: receiver.of("question_settled"), "a question_settled callback")[0].body
    told = settled["question"]
    equal((told["id"], told["outcome"], told["answer"], told["answered_by"]), (question, "answered", "yes", "ana"),
          "the settled question")
    completed = receiver.of("session_completed")[0]
    equal(set(completed.body), {"event", "session_id", "agent_name", "status", "result", "error", "completed_at"},
          "the keys of session_completed")
    equal((completed.body["session_id"], completed.body["status"]), (session, "completed"), "session_completed")
    equal(completed.body["result"], client.session(session)["result"], "the result in session_completed")
    check("webhook-signature" not in completed.headers, "signed without a secret")

    cancelled, _ = ask(client)
    client.post(f"/agent/session/{cancelled}/cancel").expect(200)
    body = wait_until(lambda: receiver.of("session_cancelled"), "a session_cancelled callback")[0].body
    equal((body["session_id"], body["status"]), (cancelled, "cancelled"), "session_cancelled")

    failed, _ = ask(client, timeout=1, on_timeout="fail")
    body = wait_until(lambda: receiver.of("session_failed"), "a session_failed callback")[0].body
    equal((body["session_id"], body["status"]), (failed, "failed"), "session_failed")
    check(body["error"], f"no error in {body}")

    session, _ = ask(client, "quiet")
    wait_delivery(client, session, "delivered")
    client.answer(session, "yes").expect(200)
    equal([d["event"] for d in client.deliveries(session=session)], ["question_pending"], "events without opting in")


@case("questions of agents without a callback go to the callback of the settings")
def callback_of_the_settings(world):
    receiver = world.receiver()
    server = world.server({"questions": {"callback_url": receiver.url, "callback_secret": SECRETS[0]}})
    session = server.client().ask("Anyone?")["session_id"]
    callback = wait_received(receiver, 1)
    equal(callback.body["session_id"], session, "the session")
    equal(callback.headers["webhook-signature"], signature(SECRETS[0], callback), "the signature")


@case("a failed callback is repeated under the same id after about 5 s, or when Retry-After says")
def retries(world):
    statuses = {"plain": [500, 200], "patient": [(503, {"Retry-After": "8"}), 200]}
    receivers = {name: world.receiver(lambda _, name=name: statuses[name].pop(0)) for name in statuses}
    server = world.server(agents=[external_agent(n, question_callback=r.url) for n, r in receivers.items()])
    client = server.client()
    sessions = {name: ask(client, name)[0] for name in receivers}

    def waiting_again():
        pending = client.deliveries(status="pending")
        return pending if all(d["attempts"] == 1 and d["last_status"] and d["next_attempt_at"] for d in pending) else []

    waiting = wait_until(waiting_again, "both deliveries wait for their second attempt")
    equal({d["session_id"]: d["last_status"] for d in waiting},
          {sessions["plain"]: 500, sessions["patient"]: 503}, "the status of the first attempt")

    gaps = {}
    for name, receiver in receivers.items():
        wait_received(receiver, 2, deadline=20)
        first, second = receiver.received
        gaps[name] = second.at - first.at
        equal((second.id, second.raw), (first.id, first.raw), f"id and body of the second attempt of {name}")
        check(int(second.headers["webhook-timestamp"]) > int(first.headers["webhook-timestamp"]),
              "the second attempt carries the first one's timestamp")
        delivery = wait_delivery(client, sessions[name], "delivered")
        equal((delivery["attempts"], delivery["last_status"]), (2, 200), f"the delivery of {name}")
    check(3.5 <= gaps["plain"] <= 8, f"the second attempt came after {gaps['plain']:.1f} s")
    check(7.5 <= gaps["patient"] <= 14, f"Retry-After: 8 was answered after {gaps['patient']:.1f} s")


@case("a redirect is a failure and is not followed")
def redirects(world):
    target = world.receiver()
    receiver = world.receiver(lambda _: (302, {"Location": target.url}))
    server, client = start(world, receiver)
    session, _ = ask(client)
    wait_received(receiver, 1)
    delivery = wait_until(lambda: next((d for d in client.deliveries(session=session) if d["last_status"]), None),
                          "the delivery's first attempt is recorded")
    equal((delivery["status"], delivery["last_status"], delivery["attempts"]), ("pending", 302, 1), "the delivery")
    check(delivery["next_attempt_at"] and delivery["last_error"], f"no next attempt or no reason: {delivery}")
    equal(target.received, [], "callbacks at the redirect's target")


@case("410 disables the destination, and its dead deliveries can be sent again by hand")
def gone(world):
    status = [410]
    receiver = world.receiver(lambda _: status[0])
    server, client = start(world, receiver)
    first, _ = ask(client)
    dead = wait_delivery(client, first, "dead")
    equal((dead["attempts"], dead["last_status"], dead["next_attempt_at"]), (1, 410, None), "the first delivery")
    second, _ = ask(client)
    wait_delivery(client, second, "dead")
    equal(len(receiver.received), 1, "callbacks to a destination that is gone")
    equal({d["session_id"] for d in client.deliveries(status="dead")}, {first, second}, "dead deliveries")

    server.restart()
    client = server.client()
    third, _ = ask(client)
    wait_delivery(client, third, "dead")
    equal(len(receiver.received), 1, "callbacks to a destination that is gone, after a restart")

    status[0] = 200
    reply = client.post(f"/agent/deliveries/{dead['id']}/redeliver").expect(202)
    equal((reply["ok"], reply["delivery_id"]), (True, dead["id"]), "the answer to redeliver")
    wait_delivery(client, first, "delivered")
    equal([callback.id for callback in receiver.received], [dead["id"]] * 2, "callbacks after redeliver")


@case("a question that was settled while its callback failed is not announced any more")
def obsolete(world):
    receiver = world.receiver(lambda _: 500)
    server, client = start(world, receiver)
    session, _ = ask(client)
    wait_until(lambda: client.deliveries(session=session)[0]["last_status"] == 500, "the first attempt is recorded")
    waiting = client.deliveries(session=session)[0]
    equal(client.post(f"/agent/deliveries/{waiting['id']}/redeliver").expect(409)["error"]["code"], "not_settled",
          "redelivering what is still waiting")
    client.answer(session, "yes").expect(200)
    wait_delivery(client, session, "obsolete")
    equal(len(receiver.received), 1, "callbacks")


@case("a receiver that hangs does not hold up another one")
def hung_receiver(world):
    release = threading.Event()
    hung = world.receiver(lambda _: release.wait(60) and 200)
    world.closing(release.set)
    prompt = world.receiver(host="127.0.0.2")
    server = world.server(agents=[external_agent("hung", question_callback=hung.url),
                                  external_agent("prompt", question_callback=prompt.url)])
    client = server.client()
    for _ in range(100):
        ask(client, "hung")
    wait_received(hung, 1)
    for n in range(1, 11):
        asked = time.monotonic()
        session, _ = ask(client, "prompt")
        wait_received(prompt, n, deadline=5)
        check(time.monotonic() - asked < 3, f"callback {n} to the prompt receiver took {time.monotonic() - asked:.1f} s")
    equal(client.get("/agent/deliveries", status="delivered", session=session).status, 200, "the list of deliveries")
    asked = client.ask("Are answers quick?")
    started = time.monotonic()
    client.answer(asked["session_id"], "yes").expect(200)
    check(time.monotonic() - started < 1, "an answer waited for the hung receiver")


@case("SIGTERM does not wait for a receiver that hangs; the message goes out after the next start, under its id")
def sigterm_while_a_receiver_hangs(world):
    release = threading.Event()
    world.closing(release.set)
    receiver = world.receiver(lambda _: release.wait(60) and 200)
    server, client = start(world, receiver)
    session, _ = ask(client)
    wait_received(receiver, 1)
    code, seconds = server.terminate(deadline=10)
    equal(code, 0, f"exit code after {seconds:.1f} s")
    release.set()
    server.start()
    wait_received(receiver, 2)
    delivery = wait_delivery(server.client(), session, "delivered")
    equal({callback.id for callback in receiver.received}, {delivery["id"]}, "the id of both attempts")


@case("a receiver that is not there, and one outside the allowed ranges, are failures with a reason")
def unreachable(world):
    closed = world.receiver()
    closed.close()
    server = world.server(agents=[external_agent("absent", question_callback=closed.url),
                                  external_agent("private", question_callback="http://10.255.255.1:9/in")])
    client = server.client()
    for name in ("absent", "private"):
        session, _ = ask(client, name)
        # Shorter than the connect timeout of 5 s: a refused address is not tried at all.
        delivery = wait_until(lambda: next((d for d in client.deliveries(session=session) if d["last_error"]), None),
                              f"a reason in the delivery of {name}", deadline=3)
        check(delivery["status"] in ("pending", "dead") and delivery["last_status"] is None, f"{name}: {delivery}")
