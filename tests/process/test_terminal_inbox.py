"""`holdpoint inbox`: questions answered on a terminal, live, through restarts and signals, and the terminal as it was afterwards."""

import os
import re
import signal
import subprocess

from access import make_key, new_key, with_key
from client import check, equal, wait_until
from harness import BINARY, case, clean_environment, free_port
from terminal import Program, Terminal

UP, DOWN, ESCAPE, ENTER = "\x1b[A", "\x1b[B", "\x1b", "\r"
YES_NO = {"question": "Deploy?", "options": ["yes", "no"]}


def inbox(world, server, *arguments, columns=80, lines=24, env=None):
    terminal = world.keep(Terminal(columns, lines))
    program = Program(world, terminal, [str(BINARY), "inbox", *arguments], {"HOLDPOINT_SERVER": server.url, **(env or {})})
    program.wait_for(r"Holdpoint: (?!looking)")
    return program


def answered(client, asked):
    question = client.question(asked["questions"][0]["id"], wait=10)
    return question["status"], question["answer"], question["answered_by"]


def restored(program, before):
    shown = program.terminal.read()
    check(shown.rfind("\x1b[?1049l") > shown.rfind("\x1b[?1049h"), "the other screen is still there")
    check(shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l"), "the cursor is still hidden")
    check(shown.rfind("\x1b[?2004l") > shown.rfind("\x1b[?2004h"), "pastes are still marked")
    check(shown.rfind("\x1b[?7h") > shown.rfind("\x1b[?7l"), "lines still do not wrap")
    equal(program.terminal.modes(), before, "the terminal's modes")


@case("questions show up by themselves and are answered by number, by several numbers, and in own words")
def answers(world):
    server = world.server()
    client = server.client()
    program = inbox(world, server, "--by", "ana")
    program.wait_for("Nothing waits")
    first = client.ask(YES_NO, context={"plan": "two changes"})
    program.wait_for("1 question waits")
    program.wait_for("plan: two changes")
    program.press_until("2", "Answered: no")
    equal(answered(client, first), ("answered", "no", "ana"), "by number")

    several = client.ask({"question": "Which?", "options": ["a", "b", "c"], "multi_select": True})
    program.wait_for("Which")
    program.press(DOWN)
    program.wait_for(r"1 \[ \] a")
    program.press("31")
    program.wait_for(r"(?s)1 \[x\] a.*3 \[x\] c")
    program.press(ENTER)
    program.wait_for("Answered: a, c")
    equal(answered(client, several), ("answered", ["a", "c"], "ana"), "by several numbers")

    own = client.ask("Why?")
    program.wait_for("Why")
    program.press("j")
    program.wait_for("type the answer")
    program.press("tnö 日x\x7f")
    program.wait_for("answer: nö 日_")
    program.press(ENTER)
    program.wait_for("Answered: nö 日")
    equal(answered(client, own), ("answered", "nö 日", "ana"), "in own words")
    program.press("q")
    equal(program.exit_code(), 0, "exit code")


@case("who is second is told who was first, whether the list or the server says so; and a cancel asks first")
def conflicts(world):
    server = world.server()
    client = server.client()
    first, second = client.ask(YES_NO), client.ask({**YES_NO, "question": "And this?"})
    program = inbox(world, server)
    program.wait_for("2 questions wait")
    client.answer(first["session_id"], "no", by="bo").expect(200)
    program.wait_for("bo was first: no")
    program.press("1")
    program.wait_for("takes no more answers")
    program.press(DOWN)
    program.wait_for("And this")

    # Frozen while somebody else is faster: the list still shows the question as open.
    program.process.send_signal(signal.SIGSTOP)
    client.answer(second["session_id"], "yes", by="cleo").expect(200)
    program.press("2")
    program.process.send_signal(signal.SIGCONT)
    program.wait_for("cleo was first: yes")
    equal(answered(client, second), ("answered", "yes", "cleo"), "what counts")

    third = client.ask({**YES_NO, "question": "Never mind?"})
    program.wait_for("Never mind")
    program.press("j")
    program.wait_for("1 yes")
    program.press("c")
    program.wait_for("Cancel this question")
    program.press("n")
    program.wait_for("q quit")
    equal(client.question(third["questions"][0]["id"])["status"], "pending", "after a cancel that was not meant")
    program.press("cy")
    program.wait_for("Cancelled")
    equal(client.question(third["questions"][0]["id"])["status"], "cancelled", "after a cancel that was")


@case("it says when the server is away, keeps the answer until it is back, and then shows what is new")
def restarts(world):
    server = world.server(port=free_port())
    asked = server.client().ask(YES_NO)
    program = inbox(world, server)
    program.wait_for("1 yes")
    server.kill()
    program.wait_for("server is away")
    program.press_until("1", "Sending")
    program.press("q")
    program.wait_for("has not been sent yet")
    server.start()
    program.wait_for("Answered: yes")
    equal(answered(server.client(), asked)[:2], ("answered", "yes"), "the answer given while the server was away")
    server.client().ask({**YES_NO, "question": "Something new?"})
    program.wait_for("Something new")
    check("server is away" not in program.screen(), f"it is back:\n{program.screen()}")
    # A second time, with an event stream that goes on where it stood.
    server.kill()
    program.wait_for("server is away")
    server.start()
    server.client().ask({**YES_NO, "question": "Newer still?"})
    program.wait_for("Newer still")


@case("nothing in a question reaches the terminal raw, and narrow or low terminals show it all the same")
def hostile_texts(world):
    server = world.server()
    client = server.client()
    client.ask({"question": "Wide \u65e5\u672c\u8a9e \x1b]0;owned\x07\x1b[31m\u009b2J\u202e? " + "w" * 300, "header": "\x1b[5m",
                "options": ["\x1b[2Jyes \U0001f680", {"label": "no", "description": "\x1b[H\r\ndescribed"}]}, context={"\x1b[1A": "\x1b[3J\x07"})
    program = inbox(world, server)
    for columns, lines in ((80, 24), (30, 24), (12, 9), (3, 3), (1, 1), (100, 30)):
        program.terminal.resize(columns, lines)
        program.signal(signal.SIGWINCH)
        before = len(program.terminal.read())
        wait_until(lambda: len(program.terminal.read()) > before, "a new frame")
    program.wait_for("yes \U0001f680")
    program.wait_for("described")
    written = program.terminal.read()
    for sequence in re.findall(r"\x1b(?:\[[?0-9;]*[A-Za-z]|.)", written):
        check(re.fullmatch(r"\x1b\[(\d+;1H|0m|1m|2m|7m|2K|J|2J|\?(1049|25|7|2004)[hl])", sequence), f"the terminal got {sequence!r}")
    equal(written.count("\x1b[2J"), 1, "how often the screen is cleared")
    for unwanted in "\x07\u009b\u202e":
        check(unwanted not in written, f"the terminal got {unwanted!r}")


@case("the terminal is as it was after q, Ctrl-C and every signal, and after Ctrl-Z until it goes on")
def restores(world):
    server = world.server()
    for keys, number, code in (("q", None, 0), ("\x03", None, 0), (None, signal.SIGTERM, 143), (None, signal.SIGHUP, 129), (None, signal.SIGQUIT, 131)):
        terminal = world.keep(Terminal())
        before = terminal.modes()
        program = Program(world, terminal, [str(BINARY), "inbox"], {"HOLDPOINT_SERVER": server.url})
        program.wait_for("Nothing waits")
        check(terminal.modes() != before, "the terminal is not raw")
        if keys:
            program.press(keys)
        else:
            program.process.send_signal(number)
        equal(program.exit_code(), code, f"exit code after {keys or number!r}")
        restored(program, before)

    terminal = world.keep(Terminal())
    before = terminal.modes()
    program = Program(world, terminal, [str(BINARY), "inbox"], {"HOLDPOINT_SERVER": server.url})
    program.wait_for("Nothing waits")
    program.press("\x1a")
    wait_until(lambda: os.waitid(os.P_PID, program.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT), "that it is stopped")
    restored(program, before)
    server.client().ask(YES_NO)
    program.process.send_signal(signal.SIGCONT)
    program.wait_for("1 question waits")
    program.press("q")
    equal(program.exit_code(), 0, "exit code")
    restored(program, before)


@case("without a terminal it says so and exits with 4; without access, with 1, and the terminal is as it was")
def refusals(world):
    server = world.server(start=False)
    admin_key = new_key(server, "admin", "questions:answer", name="admin")
    server.start()
    result = subprocess.run([str(BINARY), "inbox"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20,
                            env=clean_environment({"HOLDPOINT_SERVER": server.url}))
    equal((result.returncode, result.stdout), (4, ""), f"without a terminal: {result.stderr}")
    check("terminal" in result.stderr, f"it says {result.stderr!r}")
    admin = with_key(server, admin_key)
    for env in ({}, {"HOLDPOINT_KEY": make_key(admin, "questions:ask")}):
        terminal = world.keep(Terminal())
        before = terminal.modes()
        program = Program(world, terminal, [str(BINARY), "inbox"], {"HOLDPOINT_SERVER": server.url, **env})
        equal(program.exit_code(), 1, "exit code")
        check(re.search("HOLDPOINT_KEY|questions:read", terminal.read()), f"it says {terminal.read()[-300:]!r}")
        restored(program, before)

    # May answer, but follow no events: it looks now and then.
    program = inbox(world, server, env={"HOLDPOINT_KEY": make_key(admin, "questions:read", "questions:answer", name="terminal")})
    program.wait_for("Nothing waits")
    asker = with_key(server, make_key(admin, "questions:ask"))
    asked = asker.ask(YES_NO)
    program.wait_for("1 yes")
    program.press_until("1", "Answered: yes")
    equal(answered(admin, asked), ("answered", "yes", "terminal"), "in whose name")
