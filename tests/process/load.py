"""Clients that trigger, answer and read without end, and a ledger of what the server acknowledged to them.

What the ledger holds, the server must hold: `problems` collects what was wrong on the way, `verify` what is wrong in
the end. The server may be killed at any moment; a call without an answer is repeated until it has one.
"""

import http.client
import queue
import random
import threading
import time
from collections import Counter, defaultdict

from asking_agent import behave
from client import check, wait_until
from harness import command_agent, free_port, http_agent

EVENTS = ["question_pending", "question_settled", "session_completed"]
OPEN_SESSIONS = 40
# A command takes longer to start than a process lives here on a busy machine. If they could fill all of the open
# sessions, each restart would only start them all again, and nothing else would be under way when the next kill comes.
OPEN_COMMANDS = 5


class Ledger:
    """Only what was acknowledged: `sessions` by trigger key, `answers` by question."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions, self.payloads, self.answers, self.problems = {}, {}, {}, []

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def triggered(self, key, session, payload):
        with self.lock:
            known = self.sessions.setdefault(key, session)
            self.payloads[session] = payload
            if known != session:
                self.problems.append(f"key {key} gave session {known} and then {session}")

    def answered(self, question, answer):
        with self.lock:
            known = self.answers.setdefault(question, answer)
            if known != answer:
                self.problems.append(f"question {question}: {known!r} was acknowledged, and then {answer!r}")

    def some_session(self, rng):
        with self.lock:
            return rng.choice(list(self.sessions.values())) if self.sessions else None


class Load:
    open_sessions = OPEN_SESSIONS
    # Agents whose questions are also found in the list, perhaps before their callback went out.
    listed_agents = {"by-command"}

    def __init__(self, world, seed):
        self.rng = random.Random(seed)
        self.ledger = Ledger()
        self.agent = world.http_agent(behave)
        self.receiver = world.receiver(self.on_callback)
        front = {"question_callback": self.receiver.url, "callback_events": EVENTS}
        # A turn that was killed counts as an attempt, and here a turn may be killed many times in a row.
        self.serve(world, {"agents": {"max_attempts": 1000}},
                   [http_agent("over-http", self.agent, **front), command_agent("by-command", **front)])
        self.to_answer = queue.Queue()
        self.seen, self.completed, self.commands = set(), set(), set()
        self.room = threading.Condition()
        self.no_more_triggers, self.over = threading.Event(), threading.Event()
        self.triggering = self._threads(3, self.trigger_on)
        self.others = self._threads(3, self.answer_on) + self._threads(1, self.read_on) + self._threads(1, self.poll_on)
        world.closing(self.stop)

    def serve(self, world, settings, agents):
        self.server = world.server(settings, agents, port=free_port())
        self.client = self.server.client(timeout=20)

    def _threads(self, count, run):
        def guarded(rng):
            try:
                run(rng)
            except Exception as error:
                self.ledger.problem(f"{run.__name__} ended: {type(error).__name__}: {error}")
        made = [threading.Thread(target=guarded, args=(random.Random(self.rng.random()),), daemon=True)
                for _ in range(count)]
        for thread in made:
            thread.start()
        return made

    def until_answered(self, send, patience=60):
        """The first reply that is not a 503; nothing when the load was stopped. A broken connection tells nothing
        about what was stored, so the same call goes out again."""
        end = time.monotonic() + patience
        while not self.over.is_set():
            try:
                reply = send()
                if reply.status != 503:
                    return reply
            except (OSError, http.client.HTTPException):
                pass
            check(time.monotonic() < end, f"no answer for {patience} s")
            self.over.wait(0.01)
        return None

    def trigger_on(self, rng):
        while not self.no_more_triggers.is_set():
            with self.room:
                if len(self.ledger.sessions) - len(self.completed) >= self.open_sessions:
                    self.room.wait(0.2)
                    continue
            key = f"{rng.getrandbits(64):016x}"
            self.trigger(rng, key, self.payload(rng, key))

    def trigger(self, rng, key, payload):
        with self.room:
            by_command = rng.random() < 0.15 and len(self.commands - self.completed) < OPEN_COMMANDS
        agent = "by-command" if by_command else "over-http"
        for _ in range(2 if rng.random() < 0.1 else 1):
            reply = self.until_answered(
                lambda: self.client.post(f"/agent/webhook/{agent}", payload, {"Idempotency-Key": key}))
            if reply is None:
                return
            if reply.status != 202:
                return self.ledger.problem(f"a trigger was refused: {reply}")
            session = reply.json["session_id"]
            self.ledger.triggered(key, session, payload)
            if by_command:
                with self.room:
                    self.commands.add(session)

    def payload(self, rng, key):
        """One or two asks of one or two questions; each text is unique, so that a doubled question shows."""
        def question(text):
            options = {"options": ["yes", "no"]} if rng.random() < 0.3 else {}
            return {"question": text, **options}
        asks = [{"questions": [question(f"{key} {turn}.{n}?") for n in range(rng.choice((1, 1, 2)))], "timeout": 86400}
                for turn in range(rng.choice((1, 1, 2)))]
        return {"n": key, "asks": asks, "slow": rng.uniform(0.05, 0.3) if rng.random() < 0.3 else 0}

    def on_callback(self, callback):
        body = callback.body
        if body["event"] == "question_pending" and body["agent_name"] == "over-http":
            self.found(body["session_id"], body["question"]["id"], body["question"]["options"])
        elif body["event"] == "session_completed":
            with self.room:
                self.completed.add(body["session_id"])
                self.room.notify_all()
        return 200

    def poll_on(self, rng):
        """Questions of the command agent are found in the list, perhaps before their callback went out."""
        while not self.over.wait(0.1):
            reply = self.until_answered(
                lambda: self.client.get("/agent/questions", status="pending", agent="by-command"))
            for question in reply.json["questions"] if reply else []:
                self.found(question["session_id"], question["id"], question["options"])

    def found(self, session, question, options):
        with self.ledger.lock:
            if question in self.seen:
                return
            self.seen.add(question)
            # Now and then two people answer differently at the same time.
            people = 2 if self.rng.random() < 0.2 else 1
        answers = list(options) or [f"first answer to {question}", f"second answer to {question}"]
        for answer in answers[:people]:
            self.to_answer.put((session, question, answer))

    def answer_on(self, rng):
        while not self.over.is_set():
            try:
                session, question, answer = self.to_answer.get(timeout=0.2)
            except queue.Empty:
                continue
            reply = self.until_answered(lambda: self.client.answer(session, answer, question, by="the load"))
            if reply is None:
                return
            if reply.status == 200:
                self.ledger.answered(question, answer)
            elif reply.status == 409:
                self.ledger.answered(question, reply.json["answer"])
            else:
                self.ledger.problem(f"an answer was refused: {reply}")

    def read_on(self, rng):
        while not self.over.wait(0.02):
            session = self.ledger.some_session(rng)
            path = rng.choice(["/agent/questions?status=pending", "/agent/sessions", "/metrics", "/agent/deliveries"] +
                              ([f"/agent/session/{session}", f"/agent/session/{session}/events"] if session else []))
            reply = self.until_answered(lambda: self.client.get(path))
            if reply and reply.status != 200:
                self.ledger.problem(f"a read of what was acknowledged failed: {reply}")

    def finish(self, deadline=120):
        """No more triggers; returns when every session is finished and every callback sent."""
        self.no_more_triggers.set()
        for thread in self.triggering:
            thread.join(deadline)

        def left_over():
            return [f"{key}: {one}" for path, key in (
                ("/agent/sessions?status=running", "sessions"), ("/agent/sessions?status=pending_input", "sessions"),
                ("/agent/deliveries?status=pending", "deliveries")) for one in self.client.get(path).expect(200)[key]]
        try:
            wait_until(lambda: not left_over(), "all sessions are finished and all callbacks sent", deadline)
            wait_until(self.to_answer.empty, "all answers are given", deadline)
        except AssertionError as problem:
            raise AssertionError("\n".join([str(problem), *self.ledger.problems[:10], *left_over()[:5]])) from None
        self.stop()

    def stop(self):
        self.no_more_triggers.set()
        self.over.set()
        for thread in self.triggering + self.others:
            thread.join(30)

    def verify(self):
        """What the server holds against the ledger; returns the problems, those of the way included."""
        client, problems = self.client, list(self.ledger.problems)
        questions = defaultdict(list)
        for question in client.questions():
            questions[question["session_id"]].append(question)
        stored = [session["id"] for session in client.sessions()]
        problems += [f"{count} times session {session}" for session, count in Counter(stored).items() if count > 1]
        owned = set(self.ledger.sessions.values())
        problems += [f"acknowledged session {session} is gone" for session in owned - set(stored)]
        problems += [f"session {session} belongs to no trigger" for session in set(stored) - owned]
        all_questions = {question["id"]: question for found in questions.values() for question in found}
        for question, answer in self.ledger.answers.items():
            held = all_questions.get(question, {}).get("answer")
            if held != answer:
                problems.append(f"question {question}: {answer!r} was acknowledged, {held!r} is held")
        received = defaultdict(set)
        for callback in self.receiver.received:
            about = callback.body.get("question", {}).get("id")
            received[callback.event, callback.body["session_id"], about].add(callback.id)
        for session in owned & set(stored):
            problems += self.verify_session(session, questions[session], received)
        return problems

    def verify_session(self, session, questions, received):
        found = self.client.session(session)
        payload = self.ledger.payloads[session]
        if found["status"] != "completed":
            yield f"session {session} of {found['agent_name']} is {found['status']}: {found['error']}"
            return
        asked = [q["question"] for one_ask in payload["asks"] for q in one_ask["questions"]]
        if sorted(q["question"] for q in questions) != sorted(asked) or found["questions_asked"] != len(asked):
            yield f"session {session} asked {[q['question'] for q in questions]}, wanted {asked}"
        yield from (f"question {q['id']} is {q['status']}" for q in questions if q["status"] != "answered")

        resumed = self.client.events(session, "session_resumed")
        if len(resumed) != len(payload["asks"]):
            yield f"session {session} resumed {len(resumed)} times for {len(payload['asks'])} asks"
        told = {}
        for resume in found["result"]["resumes"]:
            told.update(resume["answers"])
        if told != {q["question"]: q["answer"] for q in questions} or found["result"]["n"] != payload["n"]:
            yield f"session {session} returned {told}, its questions hold {[q['answer'] for q in questions]}"

        deliveries = self.client.deliveries(session=session)
        owed = Counter({("session_completed", None): 1})
        owed.update((event, q["id"]) for q in questions for event in ("question_pending", "question_settled"))
        rows = Counter((d["event"], d["question_id"]) for d in deliveries)
        if rows != owed:
            yield f"session {session} has deliveries {dict(rows)}, owed {dict(owed)}"
        for delivery in deliveries:
            ids = received[delivery["event"], session, delivery["question_id"]]
            # Only a second attempt can find its question settled: the first was cut short by a kill, after the receiver
            # had it, or before; in the latter case the question was found in the list.
            if delivery["status"] == "obsolete" and delivery["event"] == "question_pending":
                sent = ids == {delivery["id"]} or (not ids and found["agent_name"] in self.listed_agents)
                arrived = sent and delivery["attempts"] > 1
            else:
                arrived = ids == {delivery["id"]} and delivery["status"] == "delivered"
            if not arrived:
                yield (f"delivery {delivery['id']} of {delivery['event']} is {delivery['status']}, "
                       f"and the receiver has {ids or 'nothing'}")
