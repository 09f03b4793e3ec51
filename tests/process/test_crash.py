"""Processes that die, are told to stop, or find another one at work."""

import ctypes
import os
import socket
import subprocess
import threading

from client import check, equal, wait_until
from harness import BINARY, case, clean_environment, http_agent
from kill_storm import check_no_problems, kill_storm
from load import Load


@case("100 kills at random moments under load lose and double nothing", limit=400)
def hundred_kills(world):
    print(f"     {kill_storm(world, kills=100, say=lambda text: print(f'     {text}', flush=True))}", flush=True)


@case("SIGTERM under load exits within 10 s with code 0, and nothing is lost", limit=200)
def sigterm_under_load(world):
    load = Load(world, seed=11)
    for round_number in range(1, 4):
        enough = 60 * round_number
        wait_until(lambda: len(load.ledger.sessions) >= enough and len(load.ledger.answers) >= enough / 2,
                   f"{enough} acknowledged triggers", deadline=60)
        code, seconds = load.server.terminate(deadline=10)
        equal(code, 0, f"exit code of round {round_number}, after {seconds:.1f} s")
        load.server.start()
    load.finish()
    check_no_problems(load.verify(), "at the end")
    load.server.kill()
    equal(load.server.database.damage(world.folder), [], "damage to the database")


def break_listener(pid):
    """Makes accept() fail in that process, as a system out of resources would: its own socket, shut from outside."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = libc.syscall(434, pid, 0)  # pidfd_open
    for name in os.listdir(f"/proc/{pid}/fd"):
        if "socket" not in os.readlink(f"/proc/{pid}/fd/{name}"):
            continue
        with socket.socket(fileno=libc.syscall(438, pidfd, int(name), 0)) as mine:  # pidfd_getfd
            if mine.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                mine.shutdown(socket.SHUT_RDWR)
                break  # From here on the process is on its way out, and its descriptors with it.
    os.close(pidfd)


@case("a server that can accept no more exits with an error, and loses nothing")
def deaf_listener(world):
    server = world.server()
    question = server.client().ask("Anyone?")["questions"][0]["id"]
    break_listener(server.process.pid)
    equal(server.wait_exit(), 1, "exit code")
    server.start()
    equal(server.client().question(question)["status"], "pending", "the question after the restart")


@case("SIGTERM does not wait for a turn that hangs, nor for clients that wait")
def sigterm_with_a_hung_turn(world):
    release = threading.Event()
    calm = threading.Event()
    world.closing(release.set)

    def respond(turn):
        if not calm.is_set():
            release.wait(60)
        return {"result": {"done": True}}

    double = world.http_agent(respond)
    server = world.server(agents=[http_agent("hung", double)])
    client = server.client()
    session = client.trigger("hung")
    wait_until(lambda: double.turns, "the turn started")
    question = client.ask("Anyone?")["questions"][0]["id"]
    streams = [world.keep(server.events()) for _ in range(5)]
    waiting = [world.keep(server.raw()) for _ in range(5)]
    for connection in waiting:
        connection.send(b"GET /agent/questions/%s?wait=55 HTTP/1.1\r\nHost: x\r\n\r\n" % question.encode())
    code, seconds = server.terminate(deadline=10)
    equal((code, len(streams)), (0, 5), f"exit code after {seconds:.1f} s")

    calm.set()
    server.start()
    client = server.client()
    equal(client.completed(session)["result"], {"done": True}, "the released turn's result")
    equal({turn["turn"] for turn in double.turns}, {1}, "the turn's number before and after")
    equal(client.question(question)["status"], "pending", "the open question after the restart")


@case("a second process on the same database is refused with a clear message", engine="sqlite",
      why="on PostgreSQL any number of processes share a database")
def second_process(world):
    server = world.server()
    client = server.client()
    session = client.ask("Who is first?")["session_id"]
    second = world.folder / "second.toml"
    second.write_text('[server]\nlisten = "127.0.0.1:0"\n'
                      f'[database]\nurl = "sqlite:{server.database.path}"\n'
                      f'[agents]\ndir = "{server.folder / "agents"}"\n')
    refused = subprocess.run([str(BINARY), "serve", "--settings", str(second)], env=clean_environment(), timeout=15,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(refused.returncode > 0, f"exit code {refused.returncode}: {refused.stdout}")
    said = refused.stdout.lower()
    check(server.database.path.name in said and any(word in said for word in ("another", "already", "in use", "lock")),
          f"no clear message: {refused.stdout}")
    client.answer(session, "me").expect(200)
    check(server.alive(), "the first process died of the second")

    server.kill()
    server.start()
    equal(server.client().session(session)["status"], "completed", "the session after a kill: a stale lock refuses nobody")
