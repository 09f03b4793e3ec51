"""Many at once on one thing: exactly one wins, and all the others learn who."""

import threading

from asking_agent import behave
from client import check, equal
from harness import case, http_agent

THREADS, EACH = 50, 20


def start(world):
    double = world.http_agent(behave)
    server = world.server(agents=[http_agent("worker", double)])
    return server, server.client(), double


def at_once(actions):
    """Runs all actions in parallel, let go together; their results in order."""
    barrier = threading.Barrier(len(actions))
    results = [None] * len(actions)

    def run(position, action):
        barrier.wait(30)
        try:
            results[position] = action()
        except Exception as error:
            results[position] = error

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    broken = [result for result in results if result is None or isinstance(result, Exception)]
    check(not broken, f"{len(broken)} of {len(actions)} had no result, the first: {broken[:1]!r}")
    return results


@case("of 1,000 parallel answers one resumes the session, and 999 are told which one counted")
def thousand_answers(world):
    server, client, double = start(world)
    session = client.trigger("worker", {"asks": [{"questions": [{"question": "Who wins?"}]}]})
    [question] = client.pending(session)

    def answer_many(thread):
        texts = [f"answer {thread}.{n}" for n in range(EACH)]
        return [(text, client.answer(session, text, question["id"], by=f"by {text}")) for text in texts]

    replies = [pair for pairs in at_once([lambda t=t: answer_many(t) for t in range(THREADS)]) for pair in pairs]
    equal(len(replies), THREADS * EACH, "answers sent")
    won = [(text, reply) for text, reply in replies if reply.status == 200]
    equal(len(won), 1, f"answers that won: {[text for text, _ in won]}")
    winner, reply = won[0]
    equal(reply.json, {"ok": True, "status": "resumed", "session_id": session}, "what the winner was told")
    for text, reply in replies:
        if text != winner:
            body = reply.expect(409)
            equal((body["answer"], body["answered_by"], body["question_id"]),
                  (winner, f"by {winner}", question["id"]), f"what {text!r} was told")

    [resume] = client.completed(session)["result"]["resumes"]
    equal(resume["answers"], {"Who wins?": winner}, "what the agent was told")
    equal(client.question(question["id"])["answer"], winner, "the question's answer")
    equal(len(client.events(session, "session_resumed")), 1, "session_resumed events")
    equal([turn["reason"] for turn in double.turns], ["start", "answer"], "turns")


@case("the parallel answers to the questions of a batch resume it once, with the last")
def parallel_batch(world):
    server, client, _ = start(world)
    questions = [{"question": f"Question {n}?"} for n in range(4)]
    for _ in range(20):
        session = client.trigger("worker", {"asks": [{"questions": questions}]})
        pending = client.pending(session)
        replies = at_once([lambda q=q: client.answer(session, f"to {q['question']}", q["id"]) for q in pending])
        statuses = sorted(reply.expect(200)["status"] for reply in replies)
        equal(statuses, ["pending_input"] * 3 + ["resumed"], "the four answers")
        equal(sorted(r.json["remaining"] for r in replies if "remaining" in r.json), [1, 2, 3], "what remained")
        [resume] = client.completed(session)["result"]["resumes"]
        equal(resume["answers"], {q["question"]: f"to {q['question']}" for q in questions}, "the answers")
        equal(len(client.events(session, "session_resumed")), 1, "session_resumed events")


@case("answer against cancel: the question has one outcome, and both callers are told the truth")
def answer_against_cancel(world):
    server, client, _ = start(world)
    outcomes = set()
    for _ in range(40):
        session = client.trigger("worker", {"asks": [{"questions": [{"question": "Now?"}]}]})
        [question] = client.pending(session)
        answer, cancel = at_once([lambda: client.answer(session, "yes", question["id"]),
                                  lambda: client.post(f"/agent/session/{session}/cancel")])
        status = client.question(question["id"])["status"]
        outcomes.add(status)
        check(status in ("answered", "cancelled"), f"the question is {status}")
        equal(answer.status == 200, status == "answered", f"{answer}, but the question is {status}")
        # A cancel after the answer may still catch the session in its second turn.
        ended = client.finished(session)["status"]
        equal(cancel.status == 200, ended == "cancelled", f"{cancel}, but the session is {ended}")
        resumes = len(client.events(session, "session_resumed"))
        equal(resumes, 1 if status == "answered" else 0, f"session_resumed events of a question that is {status}")
    check(outcomes, "no outcome seen")


@case("the same trigger key used by 32 at once makes one session")
def parallel_triggers(world):
    server, client, double = start(world)
    for n in range(5):
        sessions = at_once([lambda: client.trigger("worker", {"n": n}, key=f"key {n}")] * 32)
        equal(len(set(sessions)), 1, f"sessions of key {n}")
        client.completed(sessions[0])
    equal((len(client.sessions()), len(double.turns)), (5, 5), "sessions and turns")
