"""A restart with many parked sessions: quick, small, and on time with what fell due meanwhile."""

import threading
import time

from client import check, equal, wait_until
from harness import case

PARKED, DUE, CONNECTIONS = 20_000, 300, 8
DUE_AFTER_SECONDS = 3


def ask_many(server, count, **fields):
    """`count` sessions with one question each, over a few keep-alive connections; the ids of their questions."""
    found, lock = [], threading.Lock()
    problems = []

    def ask_share(share):
        client = server.client()
        try:
            ids = [client.ask(f"Question {n} of this connection?", **fields)["questions"][0]["id"] for n in range(share)]
            with lock:
                found.extend(ids)
        except Exception as error:
            problems.append(error)

    shares = [count // CONNECTIONS + (n < count % CONNECTIONS) for n in range(CONNECTIONS)]
    threads = [threading.Thread(target=ask_share, args=(share,), daemon=True) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not problems, f"asking failed: {problems[:1]}")
    equal(len(found), count, "questions asked")
    return found


@case("with 20,000 questions pending a restart is ready in 2 s, stays under 150 MiB and fires what fell due",
      limit=300, alone=True)
def restart_with_many_pending(world):
    server = world.server()
    parked = set(ask_many(server, PARKED, timeout=86400))
    due = ask_many(server, DUE, timeout=DUE_AFTER_SECONDS, on_timeout="continue")
    server.kill()
    asked = time.monotonic()
    wait_until(lambda: time.monotonic() > asked + DUE_AFTER_SECONDS, "the deadlines passed while the server was down")

    down_until = time.time()
    seconds = server.start()
    memory = server.rss_mib()
    check(seconds < 2, f"ready after {seconds:.2f} s")
    check(memory < 150, f"{memory:.0f} MiB when ready")

    client = server.client()
    ready = time.monotonic()
    wait_until(lambda: len(client.questions(status="timed_out")) == DUE, f"{DUE} questions timed out", deadline=3)
    print(f"     ready in {seconds:.2f} s with {memory:.0f} MiB; {DUE} overdue questions fired "
          f"{time.monotonic() - ready:.2f} s later", flush=True)

    timed_out = client.questions(status="timed_out")
    equal({question["id"] for question in timed_out}, set(due), "the questions that timed out")
    restarted = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(down_until))
    early = [question["settled_at"] for question in timed_out if question["settled_at"] < restarted]
    check(len(early) < DUE, "all of them had timed out before the kill: nothing was proved")
    check(not early, f"{len(early)} timed out before the kill; the machine is too slow for this test's timeout")

    equal({question["id"] for question in client.questions(status="pending")}, parked, "what is still pending")
    memory = server.rss_mib()
    check(memory < 150, f"{memory:.0f} MiB after listing everything")
    some = client.question(next(iter(parked)))
    client.answer(some["session_id"], "yes").expect(200)
    equal(client.completed(some["session_id"])["result"]["answered"], True, "a parked session's result")
