"""Several nodes on one PostgreSQL: each thing is done by one of them, and all of them tell the same."""

import contextlib
import glob
import http.client
import random
import signal
import socket
import threading
import time
from collections import Counter
from datetime import datetime, timezone
from functools import partial

import access
from asking_agent import behave
from client import EventStream, check, equal, wait_until
from credentials import make_link
from harness import case, command_agent, external_agent, http_agent, process_is_gone
from node_storm import AnyNode, NodeLoad, node_storm
from pages import read_page
from postgres import LEASE, Nodes, Postgres
from tables import time_text
from test_links import submit, visit
from test_races import at_once
from test_session_controls import LINGERING_AGENT
from waking import Waiters, of, shown

nodes_case = partial(case, engine="postgres", why="several processes share a database only on PostgreSQL")
ONE_ASK = {"asks": [{"questions": [{"question": "Go on?"}]}]}
# What a change at one node may take to be law at all others.
SOON = 2
OLD = "2020-01-01T00:00:00.000Z"


def say(text):
    print(f"     {text}", flush=True)


@nodes_case("nodes are killed and frozen, PostgreSQL crashes again and again: nothing is lost, nothing is doubled", limit=400)
def storm(world):
    for line in node_storm(world, sessions=600, kills=5, restarts=3, freezes=1, say=say).splitlines():
        say(line)


@nodes_case("whoever judges the storm sees what is lost and what is doubled", limit=200)
def judge_is_judged(world):
    load = NodeLoad(world, seed=5, fast=True)
    wait_until(lambda: len(load.ledger.sessions) >= 40, "40 sessions", deadline=60)
    load.finish()
    equal(load.verify(), [], "problems of an honest run")
    ledger, postgres = load.ledger, load.postgres

    def complains(about, change, undo):
        change()
        problems = load.verify()
        check(any(about in problem for problem in problems), f"no complaint with {about!r}: {problems}")
        undo()
        equal(load.verify(), [], "problems once it is undone")

    def row(statement):
        return lambda: postgres.rows(statement)

    question, answer = next(iter(ledger.answers.items()))
    postgres.rows(f"CREATE TABLE kept AS SELECT answer, answer_text, selected FROM agent_questions WHERE id = '{question}'")
    complains("was acknowledged", row("UPDATE agent_questions SET answer = NULL, answer_text = NULL, selected = NULL "
                                      f"WHERE id = '{question}'"),
              row("UPDATE agent_questions SET (answer, answer_text, selected) = (SELECT * FROM kept) "
                  f"WHERE id = '{question}'"))
    complains("was acknowledged", lambda: ledger.answers.update({question: "another"}),
              lambda: ledger.answers.update({question: answer}))
    complains("is gone", lambda: ledger.triggered("lost", "no-such-session", {"asks": []}),
              lambda: (ledger.sessions.pop("lost"), ledger.payloads.pop("no-such-session")))
    key, session = next(iter(ledger.sessions.items()))
    complains("belongs to no trigger", lambda: ledger.sessions.pop(key), lambda: ledger.sessions.update({key: session}))
    for event in ("session_completed", "question_answered"):
        complains("has the history",
                  row(f"INSERT INTO agent_events (session_id, type, at, data) VALUES ('{session}', '{event}', '{OLD}', '{{}}')"),
                  row(f"DELETE FROM agent_events WHERE session_id = '{session}' AND type = '{event}' AND at = '{OLD}'"))
    [completion] = [one for one in load.receiver.of("session_completed") if one.body["session_id"] == session]
    complains("the receiver has", lambda: load.receiver.received.remove(completion),
              lambda: load.receiver.received.append(completion))

    class Doubled:
        """The same news under another id: a second completion."""
        id, event, body = "another-id", completion.event, completion.body

    complains("the receiver has", lambda: load.receiver.received.append(Doubled),
              lambda: load.receiver.received.remove(Doubled))
    complains("has deliveries",
              row("INSERT INTO deliveries (id, session_id, agent_name, channel, event, destination, host, body, status, "
                  f"created_at) VALUES ('another', '{session}', 'over-http', 'url', 'session_completed', '', '', '{{}}', "
                  f"'delivered', '{OLD}')"),
              row("DELETE FROM deliveries WHERE id = 'another'"))
    complains("ended with turn", row(f"UPDATE agent_sessions SET turn = turn + 1 WHERE id = '{session}'"),
              row(f"UPDATE agent_sessions SET turn = turn - 1 WHERE id = '{session}'"))
    complains("audit log", row(f"UPDATE audit_log SET actor = actor || '!' WHERE seq = 7"),
              row(f"UPDATE audit_log SET actor = rtrim(actor, '!') WHERE seq = 7"))


# What a turn wanted whose node was frozen; each would change the session if it were let.
STALE = {
    "asks": {"ask": {"questions": [{"question": "Stale?"}]}, "state": {"stale": True}},
    "returns": {"result": "stale"},
    "continues": {"continue": True, "state": {"stale": True}},
    "fails": {"error": "stale", "retry": True},
    "fails for good": {"error": "stale", "retry": False},
    "returns into a question": {"result": "stale"},
}


def held_tables(postgres):
    return {table: postgres.rows(f"SELECT * FROM {table} ORDER BY id")
            for table in ("agent_sessions", "agent_questions", "agent_messages", "deliveries")}


@nodes_case("a node that was frozen past its lease and goes on changes nothing: its turns are another's by now")
def frozen_node(world):
    postgres = Postgres(world)
    release, begun = threading.Event(), Counter()
    world.closing(release.set)

    def respond(turn):
        kind = turn["payload"]["kind"]
        begun[turn["session_id"]] += 1
        if begun[turn["session_id"]] == 1:
            release.wait(60)
            return STALE[kind]
        if kind == "returns into a question" and turn["reason"] == "start":
            return {"ask": {"questions": [{"question": "Fresh?"}]}}
        return {"result": "fresh"}

    agent, receiver = world.http_agent(respond), world.receiver()
    events = ["question_pending", "question_settled", "session_completed", "session_failed"]
    frozen, other = Nodes(world, postgres.url, 2, start=False, agents=[
        http_agent("worker", agent, question_callback=receiver.url, callback_events=events)])
    frozen.start()
    sessions = {kind: frozen.client().trigger("worker", {"kind": kind}) for kind in STALE}
    wait_until(lambda: len(agent.turns) == len(STALE), "all turns run at the first node")
    other.start()
    frozen.process.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    wait_until(lambda: len(agent.turns) == 2 * len(STALE), "the other node has taken all turns over", LEASE + 10)
    taken = time.monotonic() - stopped
    # The last heartbeat was at most a third of the lease before.
    check(LEASE / 2 < taken < LEASE + 3, f"taken over {taken:.1f} s after the freeze")
    client = other.client()
    [fresh] = client.pending(sessions["returns into a question"])
    for kind in set(STALE) - {"returns into a question"}:
        equal(client.completed(sessions[kind])["result"], "fresh", f"the result where the stale turn {kind}")
    wait_until(lambda: not client.deliveries(status="pending"), "all callbacks are sent")
    before = held_tables(postgres)
    seen = {session: len(client.events(session)) for session in sessions.values()}

    release.set()
    frozen.process.send_signal(signal.SIGCONT)
    late = frozen.client()
    wait_until(lambda: "\nholdpoint_turns_running 0" in late.get("/metrics").body.decode(), "the frozen turns are over")
    equal(held_tables(postgres), before, "the tables after the frozen node went on")
    news = {kind: {event["type"] for event in late.events(session)[seen[session]:]} for kind, session in sessions.items()}
    check(all(types <= {"turn_discarded"} for types in news.values()), f"what the stale turns left in the history: {news}")
    # It is a node like any other again.
    late.answer(sessions["returns into a question"], "yes", fresh["id"]).expect(200)
    for kind, session in sessions.items():
        equal(late.completed(session)["result"], "fresh", f"the result where the stale turn {kind}, in the end")
        equal(len(late.events(session, "session_completed")), 1, "completions")
    equal(set(begun.values()), {2, 3}, "turns of each session: one stale, and the fresh ones")
    wait_until(lambda: len(receiver.of("session_completed")) == len(STALE), "all completions told")
    equal(max(Counter(callback.id for callback in receiver.received).values()), 1, "times that a callback was sent")


@nodes_case("a node that is frozen inside a transaction holds the others up for a moment only")
def frozen_in_transaction(world):
    postgres = Postgres(world)
    frozen, other = Nodes(world, postgres.url, 2)
    client = other.client()
    asked = client.ask("Who holds this?")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    with postgres.holding(f"SELECT 1 FROM agent_questions WHERE id = '{question}' FOR UPDATE"):
        threading.Thread(target=late_answer, args=(frozen, session, question), daemon=True).start()
        wait_until(lambda: postgres.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1",
                   "the first node waits for a lock, inside its transaction")
        frozen.process.send_signal(signal.SIGSTOP)
    # Its transaction has all its locks now, and goes no further.
    started = time.monotonic()
    statuses = []

    def answered():
        statuses.append(client.answer(session, "I do", question).status)
        return statuses[-1] in (200, 409)

    wait_until(answered, f"the other node takes an answer: {statuses}", 20)
    say(f"answered after {time.monotonic() - started:.1f} s: {statuses}")
    equal([event for event in other.log_events() if event.get("event") == "database_lost"], [],
          "times that the other node took a lock for an outage")
    held = client.question(question)
    frozen.process.send_signal(signal.SIGCONT)
    wait_until(frozen.is_ready, "the frozen node is ready again")
    equal(frozen.client().question(question), held, "the question after the frozen node went on")
    equal(client.completed(session)["questions_asked"], 1, "questions asked")
    equal(len(client.events(session, "question_answered")), 1, "answers in the history")


def late_answer(node, session, question):
    with contextlib.suppress(OSError, http.client.HTTPException):
        node.client(timeout=60).answer(session, "the late one", question)


@nodes_case("a client that waits at one node hears of an answer to another within 100 ms, by polls and by stream", alone=True)
def waking(world):
    a, b = Nodes(world, Postgres(world).url, 2)
    heard = Waiters(world, a, b).rounds(50)
    say(shown(heard))
    for name, seconds in heard.items():
        check(of(seconds, 0.5) <= 0.1 and seconds[-1] <= 1, f"{name}: {shown(heard)}")


class HangingAgent:
    """Takes one turn, never replies, and notices when the caller goes."""

    def __init__(self, world):
        self._listener = world.keep(socket.create_server(("127.0.0.1", 0)))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/in"
        self.taken, self.left = threading.Event(), threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        connection, _ = self._listener.accept()
        with connection:
            self.taken.set()
            while connection.recv(65536):
                pass
            self.left.set()


@nodes_case("a cancel at one node stops the turn that runs at another, within two seconds")
def cancel_elsewhere(world):
    hanging, script, pid_file = HangingAgent(world), world.folder / "lingering.py", world.folder / "pids"
    script.write_text(LINGERING_AGENT)
    a, b = Nodes(world, Postgres(world).url, 2, start=False,
                 agents=[http_agent("hanging", hanging), command_agent("lingering", script)])
    # Alone, so that the turns are its.
    a.start()
    over_http = a.client().trigger("hanging")
    by_command = a.client().trigger("lingering", {"pids": str(pid_file)})
    check(hanging.taken.wait(20), "the turn over HTTP never began")
    wait_until(pid_file.exists, "the command began")
    pids = [int(pid) for pid in pid_file.read_text().split()]
    b.start()
    for session, stopped in ((over_http, hanging.left.is_set),
                             (by_command, lambda: all(process_is_gone(pid) for pid in pids))):
        check(not stopped(), "the turn ended by itself")
        b.client().post(f"/agent/session/{session}/cancel").expect(200)
        wait_until(stopped, "the turn was stopped", SOON)
        equal(a.client().session(session)["status"], "cancelled", "the session at the node that ran it")


@nodes_case("keys and logins count at every node at once: made at one, revoked at another")
def access_everywhere(world):
    a, b = Nodes(world, Postgres(world).url, 2, agents=[external_agent("caller")])
    equal([node.client().get("/agent/sessions").status for node in (a, b)], [200, 200], "open nodes")
    root = access.make_key(a.client(), "admin", "sessions:read", name="root")
    wait_until(lambda: b.client().get("/agent/sessions").status == 401,
               "the other node is closed too, since there is a key", SOON)
    at_a, at_b = (access.with_key(node, root) for node in (a, b))
    equal(at_b.get("/agent/sessions").status, 200, "the key where it was not made")

    key = access.make_key(at_a, "sessions:read")
    equal(access.with_key(b, key).get("/agent/sessions").status, 200, "a new key at the other node, at once")
    stream = world.keep(EventStream(*a.address, "/agent/events", headers={"Authorization": f"Bearer {key}"}))
    at_b.post(f"/agent/keys/{access.key_id(key)}/revoke").expect(200)
    wait_until(lambda: access.with_key(a, key).get("/agent/sessions").status == 401, "the key is refused", SOON)
    wait_until(lambda: stream.ended, "the stream of the revoked key ends", SOON)

    access.add_user(at_a, "ana", "answerer")
    ana = access.log_in(b, "ana")
    same = access.Caller(a, ana.headers, ana.csrf)
    equal(same.me()["csrf"], ana.csrf, "the CSRF token at the other node")
    asker = access.with_key(b, access.make_key(at_a, "questions:ask"))
    asked = asker.ask("Ship it?", agent="caller")
    same.answer(asked["session_id"], "yes").expect(200)
    equal(at_b.question(asked["questions"][0]["id"])["answered_by"], "ana", "who answered")
    at_a.post("/agent/users/ana/remove").expect(200)
    for where, caller in (("where it was removed", same), ("at the other node", ana)):
        wait_until(lambda: caller.get("/agent/sessions").status == 401, f"the removed user is out {where}", SOON)


@nodes_case("a form that one node showed is taken by another: the login, and an answer link")
def forms_anywhere(world):
    a, b = Nodes(world, Postgres(world).url, 2, agents=[external_agent("caller")])
    root = access.make_key(a.client(), "admin", name="root")
    asker = access.with_key(b, access.make_key(access.with_key(a, root), "questions:ask"))
    access.add_user(access.with_key(a, root), "ana", "answerer")
    page = access.Caller(a).get("/login")
    b.form_cookie = a.form_cookie
    reply = access.Caller(b).form("/login", {"nonce": access.inputs_of(page)["nonce"], "next": "/", "name": "ana",
                                             "password": access.PASSWORD})
    equal(reply.status, 303, f"the login at the other node: {reply}")

    asked = asker.ask("Ship it?", agent="caller")
    link = make_link(access.with_key(a, root), asked["questions"][0]["id"], "bo@example.org")
    read_page(submit(a.client(), visit(b.client(), link), {"own": "by all means"}))
    answered = access.with_key(b, root).question(asked["questions"][0]["id"])
    equal((answered["answer"], answered["answered_by"]), ("by all means", "bo@example.org"), "the answer by link")


@nodes_case("five nodes that start at once on an empty database all come up, and each migration runs once")
def start_together(world):
    postgres = Postgres(world)
    nodes = Nodes(world, postgres.url, 5)
    numbers = [int(row["number"]) for row in postgres.rows("SELECT number FROM schema_migrations ORDER BY number")]
    equal(numbers, list(range(1, len(numbers) + 1)), "migrations")
    check(numbers, "no migration")
    for node in nodes:
        complaints = [event for event in node.log_events() if event.get("level") in ("error", "warning")
                      and event["event"] != "database_not_durable"]
        equal(complaints, [], f"complaints of {node.folder.name}")
    told = [event for node in nodes for event in node.log_events() if event["event"] == "database_migrated"]
    equal(len(told), 1, f"nodes that say that they migrated: {told}")
    client = AnyNode(nodes)
    sessions = [client.ask(f"Question {n}?")["session_id"] for n in range(20)]
    for session in sessions:
        client.answer(session, "yes").expect(200)
    equal({client.session(session)["status"] for session in sessions}, {"completed"}, "sessions through all nodes")


def run_sessions(client, agent, count):
    """Starts and answers that many through any node, on several threads; their ids."""
    sessions, lock, rest = [], threading.Lock(), list(range(count))

    def work(_):
        while True:
            with lock:
                if not rest:
                    return
                rest.pop()
            session = client.trigger(agent, ONE_ASK)
            [question] = client.pending(session)
            client.answer(session, "yes", question["id"]).expect(200)
            client.completed(session)
            with lock:
                sessions.append(session)

    access.in_parallel(8, work)
    equal(len(sessions), count, "sessions that were run")
    return sessions


@nodes_case("of three nodes exactly one runs each turn and sends each callback, and each one's stream tells every event once")
def one_node_each(world):
    postgres = Postgres(world)
    agent, receiver = world.http_agent(behave), world.receiver()
    nodes = Nodes(world, postgres.url, 3, [http_agent(
        "worker", agent, question_callback=receiver.url,
        callback_events=["question_settled", "session_completed"])])
    streams = [world.keep(node.events()) for node in nodes]
    client = AnyNode(nodes)
    sessions = run_sessions(client, "worker", 300)
    wait_until(lambda: not client.deliveries(status="pending"), "all callbacks are sent", deadline=30)
    turns = Counter((turn["session_id"], turn["turn"]) for turn in agent.turns)
    equal(turns, Counter({(session, turn): 1 for session in sessions for turn in (1, 2)}), "requests per turn")
    sent = Counter(callback.id for callback in receiver.received)
    equal(sent, Counter({delivery["id"]: 1 for delivery in client.deliveries()}), "requests per delivery")
    equal(len(sent), 3 * len(sessions), "callbacks")
    busy = [int(row["count"]) for row in postgres.rows(
        "SELECT count(*) FROM agent_events WHERE type IN ('turn_discarded', 'turn_failed', 'delivery_failed')")]
    equal(busy, [0], "turns and callbacks that failed")

    told = [int(row["seq"]) for row in postgres.rows("SELECT seq FROM agent_events ORDER BY seq")]
    for node, stream in zip(nodes, streams):
        with contextlib.suppress(AssertionError):
            wait_until(lambda: len(stream.events) >= len(told), "the stream has all events")
        twice = [seq for seq, count in Counter(stream.ids).items() if count > 1]
        missing, made_up = sorted(set(told) - set(stream.ids)), sorted(set(stream.ids) - set(told))
        equal((twice, missing, made_up), ([], [], []),
              f"of {len(told)} events, those told twice by {node.folder.name}, those not told, and those made up")


@nodes_case("the same thing sent to three nodes at once happens once, and all are told what happened")
def same_at_once(world):
    agent = world.http_agent(behave)
    client = AnyNode(Nodes(world, Postgres(world).url, 3, [http_agent("worker", agent)]))
    for n in range(10):
        started = at_once([lambda: client.trigger("worker", ONE_ASK, key=f"key {n}") for _ in range(15)])
        equal(len(set(started)), 1, f"sessions of one key: {set(started)}")
        session = started[0]
        [question] = client.pending(session)
        replies = at_once([lambda text=f"answer {m}": (text, client.answer(session, text, question["id"])) for m in range(15)])
        won = [text for text, reply in replies if reply.status == 200]
        equal(len(won), 1, f"answers that won: {won}")
        told = {reply.expect(409)["answer"] for text, reply in replies if text != won[0]}
        equal(told, set(won), "the answer that the others were told of")
        equal(client.completed(session)["result"]["resumes"][0]["answers"], {"Go on?": won[0]}, "what the agent was told")
    equal(len(agent.turns), 20, "turns of ten sessions")


@nodes_case("a message that one node takes while another ends the session is read by a turn, or refused")
def messages_against_the_end(world):
    agent = world.http_agent(lambda turn: {"result": turn["messages"]})
    client = AnyNode(Nodes(world, Postgres(world).url, 3, [http_agent("worker", agent)]))
    outcomes = Counter()
    for n in range(60):
        session = client.trigger("worker")
        replies = at_once([lambda m=m: (m, client.post(f"/agent/session/{session}/message", {"message": m}))
                           for m in range(3)])
        client.completed(session)
        read = [message for turn in agent.turns if turn["session_id"] == session for message in turn["messages"]]
        taken = sorted(m for m, reply in replies if reply.status == 202)
        equal(sorted(read), taken, "the messages that turns read, and those that were taken")
        outcomes.update(reply.status for _, reply in replies)
    equal(set(outcomes) - {202, 409}, set(), f"what the messages met: {outcomes}")
    say(f"{outcomes[202]} messages were taken, {outcomes[409]} came too late")


@nodes_case("answers to three nodes race the deadlines that all of them watch: each question ends once")
def answers_against_deadlines(world):
    postgres, receiver = Postgres(world), world.receiver()
    client = AnyNode(Nodes(world, postgres.url, 3, [external_agent(
        "caller", question_callback=receiver.url, callback_events=["question_settled"])]))
    asked = [client.ask(f"Question {n}?", agent="caller", timeout=2, on_timeout="continue") for n in range(60)]
    due = {one["questions"][0]["id"]: (one["session_id"], time.monotonic() + seconds_from(
        one["questions"][0]["expires_at"], datetime.now(timezone.utc))) for one in asked}

    def answer(question, session, at, early):
        # As close to the deadline as it gets, on either side of it.
        threading.Event().wait(max(0.0, at - early - time.monotonic()))
        return question, client.answer(session, "just in time", question)

    replies = dict(at_once([lambda item=item, early=early: answer(item[0], *item[1], early) for item, early in
                            zip(due.items(), (random.uniform(-0.05, 0.1) for _ in due))]))
    wait_until(lambda: len(receiver.of("question_settled")) >= len(due) and not client.deliveries(status="pending"),
               "all ends are told")
    ends = Counter()
    for row in postgres.rows("SELECT data::json->>'question' AS question, type FROM agent_events "
                             "WHERE type IN ('question_answered', 'question_expired')"):
        ends[row["question"]] += 1
    equal(ends, Counter({question: 1 for question in due}), "ends of each question in the history")
    told = Counter(callback.body["question"]["id"] for callback in receiver.of("question_settled"))
    equal(told, Counter({question: 1 for question in due}), "ends of each question that were told")
    outcomes = Counter()
    for question, reply in replies.items():
        status = client.question(question)["status"]
        equal(status, "answered" if reply.status == 200 else "timed_out", f"the question whose answer met {reply}")
        outcomes[status] += 1
    say(f"{dict(outcomes)}")


def faked(offset):
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    check(libraries, "libfaketime is not installed: apt-get install faketime")
    # Only the wall clock is wrong; how fast time passes is not.
    return {"LD_PRELOAD": libraries[0], "FAKETIME": offset, "DONT_FAKE_MONOTONIC": "1"}


def seconds_from(time_text, now):
    return (datetime.fromisoformat(time_text.replace("Z", "+00:00")) - now).total_seconds()


@nodes_case("nodes whose clocks are an hour apart keep leases, deadlines and times by the database's clock")
def clock_skew(world):
    postgres = Postgres(world)
    begun, release = Counter(), threading.Event()
    world.closing(release.set)

    def respond(turn):
        begun[turn["session_id"]] += 1
        if turn["payload"].get("hold") and begun[turn["session_id"]] == 1:
            release.wait(60)
        return behave(turn)

    agent = world.http_agent(respond)
    nodes = Nodes(world, postgres.url, 3, [http_agent("worker", agent), external_agent("caller")],
                  env=[faked("+1h"), faked("-1h"), None])
    ahead, behind, right = nodes
    # The log goes by the machine's clock.
    wrong = [round(seconds_from(list(node.log_events())[-1]["at"], datetime.now(timezone.utc)), -2) for node in nodes]
    equal(wrong, [3600, -3600, 0], "what the clocks of the nodes are off by")

    # Longer than a lease: only its extension keeps the others away.
    slow = [node.client().trigger("worker", {"slow": LEASE + 2, **ONE_ASK}) for node in nodes for _ in range(4)]
    for node in nodes:
        asked = node.client().ask("Anyone?", agent="caller", timeout=2, on_timeout="continue")
        started = time.monotonic()
        off = seconds_from(node.client().session(asked["session_id"])["created_at"], datetime.now(timezone.utc))
        check(abs(off) < 2, f"created_at of {node.folder.name} is off by {off:.1f} s")
        settled = random.choice(nodes.all).client().question(asked["questions"][0]["id"], wait=20)
        took = time.monotonic() - started
        equal(settled["status"], "timed_out", "the question")
        check(1.5 < took < 4, f"a timeout of 2 s took {took:.1f} s at {node.folder.name}")
    for session in slow:
        right.client().pending(session)
        random.choice(nodes.all).client().answer(session, "yes").expect(200)
    for session in slow:
        random.choice(nodes.all).client().completed(session)
    equal({begun[session] for session in slow}, {2}, "requests for the two turns of each session")

    # A dead node's turn is taken over when its lease ends: neither at once, nor an hour later.
    for node in (ahead, behind):
        for other in nodes:
            if other is not node:
                other.terminate()
        session = node.client().trigger("worker", {"hold": True})
        wait_until(lambda: begun[session] == 1, "the turn began")
        for other in nodes:
            if other is not node:
                other.start()
        node.kill()
        died = time.monotonic()
        wait_until(lambda: begun[session] == 2, "the turn was taken over", LEASE + 10)
        took = time.monotonic() - died
        check(LEASE / 2 < took < LEASE + 3, f"taken over after {took:.1f} s")
        right.client().completed(session)
        equal(begun[session], 2, "requests for the turn")
        release.set()
        release.clear()
        node.start()


@nodes_case("every node lists all that serve; one that stops leaves the list, and one that dies is not live any more")
def roll_call(world):
    postgres = Postgres(world)
    first, second, third = Nodes(world, postgres.url, 3)

    def listed(node):
        report = node.client().get("/agent/operations").expect(200)
        equal(report["database"], "postgres", "the database")
        equal({one["version"] for one in report["nodes"]}, {report["version"]}, "versions")
        equal([one["address"] for one in report["nodes"] if one["self"]], [f"127.0.0.1:{node.port}"], "who answers")
        return {int(one["address"].rpartition(":")[2]): one["live"] for one in report["nodes"]}

    everybody = {node.port: True for node in (first, second, third)}
    for node in (first, second, third):
        wait_until(lambda: listed(node) == everybody, "all nodes are listed")
    equal(second.terminate()[0], 0, "exit code")
    equal(listed(first), {first.port: True, third.port: True}, "nodes after one stopped")
    third.kill()
    equal(listed(first)[third.port], True, "a node that died this moment is live")

    def died_at(then):
        postgres.rows(f"UPDATE nodes SET seen_at = '{then}' WHERE address = '127.0.0.1:{third.port}'")

    died_at(time_text(time.time() - 60))
    equal(listed(first), {first.port: True, third.port: False}, "nodes a minute after one died")
    died_at(OLD)
    second.start()
    wait_until(lambda: listed(first) == {first.port: True, second.port: True}, "the dead one is forgotten")
