"""Disks that are full, and disks that lie: nothing is acknowledged that is not stored."""

import errno
import http.client
import os
import subprocess
from functools import partial

from client import check, equal, wait_until
from harness import HERE, case, free_port

PARKED = 40
own_disk = partial(case, engine="sqlite", why="a node on PostgreSQL stores nothing on a disk of its own")


def mount_small_disk(world, size):
    folder = world.folder / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
                             capture_output=True, text=True)
    equal(mounted.returncode, 0, f"mounting a small tmpfs (needs root): {mounted.stderr.strip()}")
    world.closing(lambda: subprocess.run(["umount", "-l", str(folder)], check=True))
    return folder


def fill(folder):
    """A ballast file that leaves not one page free."""
    ballast = folder / "ballast"
    with open(ballast, "ab", buffering=0) as out:
        for size in (1 << 20, 4096):
            try:
                while True:
                    out.write(b"\0" * size)
            except OSError as problem:
                equal(problem.errno, errno.ENOSPC, "why the ballast ended")
    return ballast


def check_refused_for_now(reply):
    equal(reply.status, 503, f"{reply}")
    check(int(reply.headers.get("Retry-After", "0")) > 0, f"no Retry-After: {reply.headers}")
    check(reply.error["message"], "no message")


def check_held(client, asked, answers):
    """`asked`: session by question. Each was acknowledged; so was each of `answers`."""
    for question, session in asked.items():
        found = client.question(question)
        equal(found["session_id"], session, "an acknowledged question's session")
        if question in answers:
            equal((found["status"], found["answer"]), ("answered", answers[question]), "an acknowledged answer")
            equal(client.session(session)["status"], "completed", "the session of an acknowledged answer")


@own_disk("on a full disk writes get 503 and reads work, and the server recovers by itself once there is space")
def full_disk(world):
    disk = mount_small_disk(world, "16m")
    database = disk / "holdpoint.db"
    server = world.server({"database": {"url": f"sqlite:{database}"}})
    client = server.client()
    asked = {}
    for n in range(PARKED):
        reply = client.ask(f"Question {n}?")
        asked[reply["questions"][0]["id"]] = reply["session_id"]

    ballast = fill(disk)
    answers = {}
    refused = None
    # What is already allocated in the write-ahead log may hold some more answers: each of them must be kept.
    for question, session in asked.items():
        reply = client.answer(session, f"to {question}", question)
        if reply.status == 200:
            answers[question] = f"to {question}"
            continue
        check_refused_for_now(reply)
        refused = question
        break
    check(refused, f"the disk took {len(answers)} answers and was never full")
    equal(client.question(refused)["status"], "pending", "the refused question, read on the full disk")
    wait_until(lambda: client.get("/readyz").status == 503, "/readyz says 503")
    equal(client.get("/healthz").status, 200, "/healthz")
    equal(len(client.questions()), PARKED, "questions listed on the full disk")
    check_refused_for_now(client.post("/agent/ask", {"questions": [{"question": "Another?"}]}))
    check_refused_for_now(client.answer(asked[refused], "yes", refused))
    check_held(client, asked, answers)

    ballast.unlink()
    wait_until(lambda: client.get("/readyz").status == 200, "/readyz says 200 again", deadline=20)
    client.answer(asked[refused], "at last", refused).expect(200)
    answers[refused] = "at last"
    check_held(client, asked, answers)
    check(server.alive(), "the server was restarted or died")

    server.restart()
    client = server.client()
    check_held(client, asked, answers)
    equal(len(client.questions()), PARKED, "questions after the restart")
    server.kill()
    equal(server.database.damage(world.folder), [], "damage to the database")


@own_disk("a server that starts on a full disk does not call itself ready")
def start_on_full_disk(world):
    disk = mount_small_disk(world, "4m")
    ballast = fill(disk)
    server = world.server({"database": {"url": f"sqlite:{disk / 'holdpoint.db'}"}}, start=False, port=free_port())
    server.start(wait=False)

    def exited_or_unready():
        if not server.alive():
            return server.process.returncode != 0
        return "server_listening" in server.log_text() and not server.is_ready()

    wait_until(exited_or_unready, "the server exits, or listens and is not ready")
    check(server.log_text(), "nothing was logged about it")
    ballast.unlink()
    if not server.alive():
        server.start(wait=False)
    server.wait_ready(deadline=20)
    server.client().ask("Fine now?")


@own_disk("after an fsync error nothing is acknowledged, the process exits, and what was acknowledged before is there")
def fsync_error(world):
    shim, trigger = world.folder / "fsync_fails.so", world.folder / "fsync fails now"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(HERE / "fsync_fails.c"), "-ldl"], check=True)
    server = world.server(start=False)
    server.start(env={"LD_PRELOAD": str(shim), "FSYNC_FAILS_WHEN": str(trigger),
                      "FSYNC_FAILS_FOR": os.path.realpath(server.database.path)})
    client = server.client(timeout=15)
    asked, answers = {}, {}
    for n in range(20):
        reply = client.ask(f"Question {n}?")
        asked[reply["questions"][0]["id"]] = reply["session_id"]
    for question, session in list(asked.items())[:10]:
        client.answer(session, "yes", question).expect(200)
        answers[question] = "yes"

    trigger.touch()
    open_question = list(asked)[-1]
    try:
        reply = client.answer(asked[open_question], "not on disk", open_question)
        equal(reply.status, 503, f"an answer that could not be synced: {reply}")
    except (OSError, http.client.HTTPException):
        pass
    code = server.wait_exit(10)
    check(code != 0, "exit code 0 after an fsync error")
    said = server.log_text().lower().splitlines()[-10:]
    check(any("sync" in line or "i/o" in line or "disk" in line for line in said), f"no clear log line: {said}")

    trigger.unlink()
    server.start()
    client = server.client()
    check_held(client, asked, answers)
    # In doubt: it may have reached the disk or not, but a person can always give it again.
    again = client.answer(asked[open_question], "not on disk", open_question).expect(200)
    check(again["status"] in ("resumed", "already_answered"), f"the answer in doubt, given again: {again}")
    server.kill()
    equal(server.database.damage(world.folder), [], "damage to the database")
