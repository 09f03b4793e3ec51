"""Cancel, retry, messages, and the session's history as JSON and as a stream."""

import json
import threading

from asking_agent import behave
from client import check, equal, wait_until
from harness import agent, case, command_agent, http_agent, process_is_gone

ONE_ASK = {"asks": [{"questions": [{"question": "Go on?"}]}]}

# Leaves a child that would outlive it, tells both pids, and never ends by itself.
LINGERING_AGENT = """
import json, os, subprocess, sys
turn = json.load(sys.stdin)
child = subprocess.Popen(["sleep", "1000"])
with open(turn["payload"]["pids"] + ".new", "w") as out:
    out.write(f"{os.getpid()} {child.pid}")
os.rename(turn["payload"]["pids"] + ".new", turn["payload"]["pids"])
child.wait()
"""


def start_with_http_agent(world, respond=behave):
    double = world.http_agent(respond)
    server = world.server(agents=[http_agent("worker", double)])
    return server, server.client(), double


def start_lingering_session(world, settings=None):
    """(server, client, session, pids) with a command agent in the middle of its turn."""
    script = world.folder / "lingering.py"
    script.write_text(LINGERING_AGENT)
    server = world.server(settings, [command_agent("lingering", script)])
    client = server.client()
    pid_file = world.folder / "pids"
    session = client.trigger("lingering", {"pids": str(pid_file)})
    wait_until(pid_file.exists, "the command agent started its child")
    pids = [int(pid) for pid in pid_file.read_text().split()]
    check(not any(process_is_gone(pid) for pid in pids), f"{pids} ended by themselves")
    return server, client, session, pids


def check_all_gone(pids):
    for pid in pids:
        wait_until(lambda: process_is_gone(pid), f"process {pid} of the command's group is gone")


@case("a cancelled pending session ends its question, and takes no answer any more")
def cancel_pending(world):
    server, client, double = start_with_http_agent(world)
    session = client.trigger("worker", ONE_ASK)
    [question] = client.pending(session)
    cancelled = client.post(f"/agent/session/{session}/cancel", {"reason": "not needed"}).expect(200)
    equal(cancelled, {"ok": True, "session_id": session, "status": "cancelled"}, "the cancel's answer")
    equal(client.post(f"/agent/session/{session}/cancel").expect(200), cancelled, "the cancel again")
    found = client.session(session)
    equal(found["status"], "cancelled", "the session")
    check("not needed" in found["error"], f"the reason is lost: {found['error']}")
    equal(client.question(question["id"])["status"], "cancelled", "the question")
    late = client.answer(session, "yes", question["id"])
    equal((late.status, late.error["code"]), (404, "session_finished"), "an answer to the cancelled question")
    equal(client.question(question["id"])["answer"], None, "the cancelled question's answer")
    equal(client.post(f"/agent/session/{session}/message", {"message": "hello"}).status, 409, "a message afterwards")
    equal(len(double.turns), 1, "turns")


@case("cancelling a running command kills its whole process group")
def cancel_running(world):
    server, client, session, pids = start_lingering_session(world)
    client.post(f"/agent/session/{session}/cancel").expect(200)
    check_all_gone(pids)
    equal(client.session(session)["status"], "cancelled", "the session")
    equal(client.post(f"/agent/session/{session}/retry").expect(409)["error"]["code"], "not_failed", "a retry of it")


@case("a command that takes longer than a turn may is killed with its whole process group")
def turn_timeout(world):
    limits = {"agents": {"turn_timeout_seconds": 1, "max_attempts": 1}}
    server, client, session, pids = start_lingering_session(world, limits)
    failed = client.finished(session)
    equal(failed["status"], "failed", "the session")
    check("longer than 1 s" in failed["error"], f"the error does not say why: {failed['error']}")
    check_all_gone(pids)


@case("a shutdown kills a running command's process group, and the turn runs again after the restart")
def shutdown_while_running(world):
    server, client, session, pids = start_lingering_session(world)
    code, seconds = server.terminate()
    equal(code, 0, f"exit code after {seconds:.1f} s")
    check_all_gone(pids)
    pid_file = world.folder / "pids"
    pid_file.unlink()
    server.start()
    wait_until(pid_file.exists, "the turn runs again", deadline=60)
    second = [int(pid) for pid in pid_file.read_text().split()]
    client = server.client()
    equal(client.session(session)["turn"], 1, "the turn's number")
    client.post(f"/agent/session/{session}/cancel").expect(200)
    check_all_gone(second)


@case("a failed session runs again from its last checkpoint and keeps the answer it was given")
def retry_after_failure(world):
    broken = threading.Event()
    broken.set()

    def respond(turn):
        if turn["turn"] == 2 and broken.is_set():
            return {"error": "no luck today", "retry": False}
        return behave(turn)

    server, client, double = start_with_http_agent(world, respond)
    session = client.trigger("worker", ONE_ASK)
    client.pending(session)
    client.answer(session, "yes").expect(200)
    failed = client.finished(session)
    equal(failed["status"], "failed", "the session")
    check("no luck today" in failed["error"], f"the agent's error is lost: {failed}")
    equal(len(double.turns), 2, "turns before the retry: an error with retry false is final")

    broken.clear()
    retried = client.post(f"/agent/session/{session}/retry").expect(202)
    equal(retried, {"ok": True, "session_id": session, "status": "running"}, "the retry's answer")
    done = client.completed(session)
    equal(done["result"]["resumes"][0]["answers"], {"Go on?": "yes"}, "the answer after the retry")
    equal((done["questions_asked"], done["error"]), (1, None), "questions asked, and the error")
    equal(client.post(f"/agent/session/{session}/retry").expect(409)["error"]["code"], "not_failed", "another retry")


@case("a turn whose agent fails for a while is repeated with the same number until it works")
def turn_is_retried(world):
    failures = [{"error": "try later", "retry": True}, b"this is not JSON"]
    server, client, double = start_with_http_agent(
        world, lambda turn: failures.pop() if failures else behave(turn))
    session = client.trigger("worker", {"n": 7})
    equal(client.completed(session)["result"]["n"], 7, "the result")
    equal([turn["turn"] for turn in double.turns], [1, 1, 1], "the turn's number at each attempt")


@case("messages queue in order behind a turn and a question, and arrive with the next turn")
def queued_messages(world):
    release = threading.Event()
    world.closing(release.set)

    def respond(turn):
        if turn["turn"] == 1:
            release.wait(30)
        return behave(turn)

    server, client, double = start_with_http_agent(world, respond)
    session = client.trigger("worker", ONE_ASK)
    wait_until(lambda: double.turns, "the first turn")

    def send(message):
        reply = client.post(f"/agent/session/{session}/message", {"message": message}).expect(202)
        check(reply["ok"] and reply["message_id"], f"the message's answer: {reply}")

    send("sent while the turn runs")
    release.set()
    client.pending(session)
    send({"sent": ["while", "the question is open"]})
    send("third")
    equal(client.session(session)["status"], "pending_input", "a pending question goes first")
    equal(len(double.turns), 1, "turns before the answer")
    client.answer(session, "yes").expect(200)
    messages = client.completed(session)["result"]["messages"]
    texts = [m["message"] if isinstance(m, dict) and "message" in m else m for m in messages]
    equal(texts, ["sent while the turn runs", {"sent": ["while", "the question is open"]}, "third"], "the messages")
    equal(len(double.turns), 2, "turns")


@case("a result while messages wait is put off for a turn that reads them, with the state as it was")
def result_waits_for_messages(world):
    release = threading.Event()
    world.closing(release.set)

    def respond(turn):
        if turn["turn"] == 1:
            return {"continue": True, "state": {"kept": True}}
        if turn["turn"] == 2:
            release.wait(30)
        return {"result": {key: turn[key] for key in ("turn", "reason", "messages", "state")}}

    server, client, double = start_with_http_agent(world, respond)
    session = client.trigger("worker")
    wait_until(lambda: len(double.turns) == 2, "the second turn")
    client.post(f"/agent/session/{session}/message", {"message": "not too late"}).expect(202)
    release.set()
    equal(client.completed(session)["result"],
          {"turn": 3, "reason": "message", "messages": ["not too late"], "state": {"kept": True}}, "the result")
    equal([turn["messages"] for turn in double.turns], [[], [], ["not too late"]], "the messages of each turn")
    equal(len(client.events(session, "result_deferred")), 1, "result_deferred events")


@case("an event stream resumed with Last-Event-ID sees every event once")
def event_stream_resumes(world):
    server, client, _ = start_with_http_agent(world)

    def run_session():
        session = client.trigger("worker", ONE_ASK)
        client.pending(session)
        client.answer(session, "yes").expect(200)
        client.completed(session)
        return session

    first_stream = world.keep(server.events())
    sessions = [run_session()]
    first_seqs = [event["seq"] for event in client.events(sessions[0])]
    wait_until(lambda: len(first_stream.ids) >= len(first_seqs), "the first session's events on the stream")
    first_stream.close()
    cut = first_stream.ids[1]

    sessions += [run_session() for _ in range(5)]
    second_stream = world.keep(server.events(last_event_id=cut))
    sessions.append(run_session())
    history = sorted(event["seq"] for session in sessions for event in client.events(session))
    wanted = [seq for seq in history if seq > cut]
    wait_until(lambda: len(second_stream.ids) >= len(wanted), f"{len(wanted)} events on the resumed stream")
    equal(first_stream.ids, first_seqs, "the first stream")
    equal(second_stream.ids, wanted, "the resumed stream")
    equal({event["event"] for event in second_stream.events}, {"state_change"}, "the SSE event name")

    by_seq = {event["seq"]: event for session in sessions for event in client.events(session)}
    equal([event["data"] for event in second_stream.events], [by_seq[seq] for seq in wanted], "the events' data")


@case("a session's own event stream carries its history and nothing of other sessions")
def session_event_stream(world):
    server, client, _ = start_with_http_agent(world)
    session = client.trigger("worker", ONE_ASK)
    client.pending(session)
    history = [event["seq"] for event in client.events(session)]
    stream = world.keep(server.events(f"/agent/session/{session}/events", last_event_id=history[0]))
    client.ask("Something else?")
    client.answer(session, "yes").expect(200)
    client.completed(session)
    wanted = [event["seq"] for event in client.events(session)][1:]
    wait_until(lambda: len(stream.ids) >= len(wanted), "the session's events on its stream")
    equal(stream.ids, wanted, "the session's stream after its first event")
    equal(len(client.events(session, "session_resumed")), 1, "session_resumed events")


@case("what a command writes to standard error is in the session's history, line by line")
def standard_error_is_kept(world):
    script = world.folder / "talkative.py"
    script.write_text("import json, sys\njson.load(sys.stdin)\n"
                      "print('first line', file=sys.stderr)\nprint('second line', file=sys.stderr)\n"
                      "print('not the last line')\nprint(json.dumps({'result': {'fine': True}}))\n")
    server = world.server(agents=[command_agent("talkative", script)])
    client = server.client()
    session = client.trigger("talkative")
    equal(client.completed(session)["result"], {"fine": True}, "the result is the last line of standard output")
    told = [json.dumps(event["data"]) for event in client.events(session)]
    for line in ("first line", "second line"):
        equal(sum(line in data for data in told), 1, f"events that hold {line!r}")


@case("a session whose command answers nonsense fails with a clear error")
def nonsense_from_a_command(world):
    outputs = {"silent": "pass", "babbling": "print('hello')", "crashing": "raise SystemExit(3)",
               "twofold": "print('{\"result\":{},\"error\":\"x\"}')", "listing": "print('[]')"}
    agents = []
    for name, line in outputs.items():
        script = world.folder / f"{name}.py"
        script.write_text(f"import sys\nsys.stdin.read()\n{line}\n")
        agents.append(command_agent(name, script))
    agents.append(agent("absent", runner="command", command=["/no/such/program"]))
    server = world.server({"agents": {"max_attempts": 1}}, agents)
    client = server.client()
    for name in [*outputs, "absent"]:
        done = client.finished(client.trigger(name))
        check(done["status"] == "failed" and done["error"], f"{name}: {done}")
