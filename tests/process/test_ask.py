"""`holdpoint ask` and `holdpoint wait`: the answer on standard output, exit codes, and what restarts and signals leave of them."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from access import make_key, new_key, with_key
from client import check, equal, wait_until
from harness import BINARY, HERE, case, clean_environment, external_agent, free_port
from terminal import Program, Terminal

ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
TIMED_OUT, CANCELLED, REFUSED = 2, 3, 4


class Run:
    """A command under way, in a session of its own; its standard input is empty unless given."""

    def __init__(self, world, arguments, url, env=None, stdin=subprocess.DEVNULL, stderr=None):
        self.out, self.err = (world.folder / f"{kind}{len(list(world.folder.iterdir()))}" for kind in ("out", "err"))
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(arguments, stdin=stdin, stdout=out, stderr=stderr or err, cwd=world.folder, start_new_session=True,
                                            env=clean_environment({"HOLDPOINT_SERVER": url, **(env or {})}))
        world.closing(self.end)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def said(self):
        return self.err.read_text(errors="replace")

    def finish(self, code=0, deadline=30.0):
        """What it printed, once it has exited with `code`."""
        try:
            got = self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {deadline:g} s; standard error: {self.said}") from None
        equal(got, code, f"exit code; standard output: {self.out.read_text()!r}, standard error: {self.said!r}")
        return self.out.read_text()


def ask(world, server, *arguments, **options):
    return Run(world, [str(BINARY), "ask", *map(str, arguments)], server.url, **options)


def wait(world, server, *arguments, **options):
    return Run(world, [str(BINARY), "wait", *map(str, arguments)], server.url, **options)


def one_pending(client):
    found = wait_until(lambda: client.questions(status="pending"), "a pending question")
    equal(len(found), 1, "pending questions")
    return found[0]


def give(client, question, answer):
    client.answer(question["session_id"], answer, question["id"]).expect(200)


@case("ask prints the answer alone on standard output, and tells on standard error what it waits for")
def prints_the_answer(world):
    server = world.server()
    client = server.client()
    asked = ask(world, server, "Deploy to production?", "--option", "Yes", "--option", "No", "--timeout", "30m", "--header", "Deploy")
    question = one_pending(client)
    equal((question["question"], question["options"], question["header"], question["agent_name"]),
          ("Deploy to production?", ["Yes", "No"], "Deploy", "external"), "what was asked")
    wait_until(lambda: question["id"] in asked.said, "the id on standard error")
    equal(asked.said, f"holdpoint: asked, id {question['id']}, waiting until {question['expires_at']}\n", "standard error")
    give(client, question, "Yes")
    equal(asked.finish(), "Yes\n", "standard output")


@case("own words come out byte for byte, several answers one a line, and --json is what the server says")
def forms_of_answers(world):
    server = world.server()
    client = server.client()
    own = ask(world, server, "Why?", "--agent", "external")
    give(client, one_pending(client), "weil\tes \u00fc\u0007 \U0001f600\nzweite Zeile")
    equal(own.finish(), "weil\tes \u00fc\u0007 \U0001f600\nzweite Zeile\n", "own words")

    several = ask(world, server, "Which?", "--multi", "--option", "a", "--option", "b b", "--option", "c")
    question = one_pending(client)
    check(question["multi_select"], "--multi has no effect")
    give(client, question, ["c", "a", "and more"])
    equal(several.finish(), "a\nc\nand more\n", "several answers")

    shown = ask(world, server, "As JSON \u009b?", "--option", "x", "--option", "y", "--no-other", "--json")
    question = one_pending(client)
    check(not question["allow_other"], "--no-other has no effect")
    give(client, question, "y")
    text = shown.finish()
    equal(json.loads(text), client.question(question["id"]), "--json")
    check("\u009b" not in text, "a control character reaches the terminal by way of JSON")


@case("a question that times out exits with 2, a cancelled one with 3, a default counts as an answer")
def ends(world):
    server = world.server()
    client = server.client()
    late = ask(world, server, "Anyone?", "--timeout", "1s")
    defaulted = ask(world, server, "Anyone?", "--timeout", "1", "--option", "go", "--option", "stop", "--default", "stop")
    both = ask(world, server, "Anyone?", "--timeout", "1s", "--multi", "--option", "a", "--option", "b", "--option", "c", "--default", "b",
               "--default", "a")
    equal(late.finish(TIMED_OUT), "", "standard output of a timeout")
    check("in time" in late.said, f"a timeout says {late.said!r}")
    equal(defaulted.finish(), "stop\n", "a default")
    equal(both.finish(), "a\nb\n", "several defaults")

    cancelled = ask(world, server, "Never mind?")
    question = one_pending(client)
    client.post(f"/agent/session/{question['session_id']}/cancel", {}).expect(200)
    equal(cancelled.finish(CANCELLED), "", "standard output of a cancelled question")
    for id_ in (question["id"], question["session_id"]):
        wait(world, server, id_).finish(CANCELLED)
        equal(json.loads(wait(world, server, id_, "--json").finish(CANCELLED))["status"], "cancelled", "wait --json")


@case("ask refuses what is wrong with exit code 4, names the option, and asks nothing")
def refusals(world):
    server = world.server()
    rows = [
        (["x", "--option", "a"], "--option"), (["x", "--option", "a", "--option", "a"], "--option"),
        (["x", "--option", "a", "--option", ""], "--option"), (["x", "--header", "more than twelve"], "--header"),
        (["x", "--timeout", "30x"], "--timeout"), (["x", "--timeout", "0"], "--timeout"), (["x", "--timeout", "-5"], "--timeout"),
        (["x", "--timeout", ""], "--timeout"), (["x", "--timeout", "1h30m"], "--timeout"), (["x", "--timeout", "99d"], "--timeout"),
        (["x", "--timeout", "99999999999999999999d"], "--timeout"), (["x", "--connect-timeout", "soon"], "--connect-timeout"),
        (["x", "--channel", "fax"], "--channel"), (["x", "--agent", "nobody"], "--agent"), (["x", "--key", ""], "--key"),
        (["x", "--context", "nope"], "--context"), (["x", "--context", "[1]"], "--context"), (["x", "--context", ""], "--context"),
        (["x", "--context", "@absent.txt"], "absent.txt"), (["x", "--context", "@."], "--context"),
        (["x", "--no-other"], "--no-other"), (["x", "--default", ""], "--default"),
        (["x", "--option", "a", "--option", "b", "--no-other", "--default", "c"], "--default"),
        (["x", "--option", "a", "--option", "b", "--default", "a", "--default", "b"], "--default"),
        ([""], "the question"), ([], "question"), (["x", "y"], "y"), (["x", "--bogus"], "--bogus"), (["x", "--timeout"], "--timeout"),
        (["x", "--server", "nowhere"], "--server"),
    ]
    for arguments, named in rows:
        refused = ask(world, server, *arguments)
        equal(refused.finish(REFUSED), "", f"standard output of ask {arguments}")
        check(named in refused.said, f"ask {arguments} does not name {named}: {refused.said!r}")
    equal(server.client().questions(), [], "what was asked all the same")
    nobody = "019a8b3c-5d80-7c11-8b2c-3d4e5f607182"
    for arguments, named in [([], "id"), (["abc"], "id"), ([nobody], nobody), ([nobody, "more"], "more")]:
        refused = wait(world, server, *arguments)
        equal(refused.finish(REFUSED), "", f"standard output of wait {arguments}")
        check(named in refused.said, f"wait {arguments} does not name {named}: {refused.said!r}")


@case("--detach prints the id; wait takes it or the session's, in either case, as often as one likes")
def detach_and_wait(world):
    server = world.server()
    client = server.client()
    printed = ask(world, server, "Later?", "--detach").finish()
    check(re.fullmatch(ID + "\n", printed), f"--detach printed {printed!r}")
    question = one_pending(client)
    equal(printed.strip(), question["id"], "the id")
    equal(json.loads(ask(world, server, "And JSON?", "--detach", "--json").finish())["question"], "And JSON?", "--detach --json")
    waiting = [wait(world, server, id_) for id_ in (question["id"], question["id"].upper(), question["session_id"].upper())]
    for one in waiting:
        wait_until(lambda one=one: question["id"] in one.said, "that it waits")
    give(client, question, "now")
    for one in [*waiting, wait(world, server, question["id"]), wait(world, server, question["session_id"])]:
        equal(one.finish(), "now\n", "what wait prints")

    # An ask of several questions, as other clients make them: all of their answers, in their order.
    several = client.ask("First?", "Second?")
    waiting = wait(world, server, several["session_id"])
    for asked, answer in zip(reversed(several["questions"]), ("two", "one")):
        give(client, asked, answer)
    equal(waiting.finish(), "one\ntwo\n", "the answers of several questions")


@case("context comes from the command line, a JSON file, any other file under its name, or standard input")
def contexts(world):
    server = world.server()
    client = server.client()
    (world.folder / "plan.json").write_text('{"changes": [1, 2]}')
    (world.folder / "plan.txt").write_bytes("+ eine \u00c4nderung\n- \"zwei\"\n".encode() + b"\xff\n")
    (world.folder / "list.json").write_text("[1, 2]")
    rows = [
        ('{"a": 1}', b"", {"a": 1}), ("@plan.json", b"", {"changes": [1, 2]}),
        ("@plan.txt", b"", {"plan.txt": "+ eine \u00c4nderung\n- \"zwei\"\n\ufffd\n"}), (f"@{world.folder}/list.json", b"", {"list.json": "[1, 2]"}),
        ("-", b'{"piped": true}', {"piped": True}), ("-", b"piped text\n", {"standard input": "piped text\n"}),
    ]
    for context, stdin, wanted in rows:
        (world.folder / "stdin").write_bytes(stdin)
        with open(world.folder / "stdin", "rb") as given:
            id_ = ask(world, server, "x", "--detach", "--context", context, stdin=given).finish().strip()
        got = client.question(id_)["context"]
        del got["asked_at"]
        equal(got, wanted, f"--context {context}")
    (world.folder / "large.txt").write_text("x" * 100_000)
    refused = ask(world, server, "x", "--context", "@large.txt")
    refused.finish(REFUSED)
    check("--context" in refused.said and "65536" in refused.said, f"a context that is too large: {refused.said!r}")


@case("the same key asks once, and --dedupe joins what is open: both who wait get the one answer")
def same_question(world):
    server = world.server()
    client = server.client()
    keyed = [ask(world, server, "Once?", "--key", "build-7") for _ in range(2)]
    for one in keyed:
        wait_until(lambda one=one: "asked, id" in one.said, "that it waits")
    give(client, one_pending(client), "once")
    equal([one.finish() for one in keyed], ["once\n"] * 2, "what both print")
    equal(ask(world, server, "Once?", "--key", "build-7").finish(), "once\n", "the same key afterwards")

    joined = [ask(world, server, "Same?", "--option", "a", "--option", "b", "--dedupe") for _ in range(2)]
    for one in joined:
        wait_until(lambda one=one: "asked, id" in one.said, "that it waits")
    give(client, one_pending(client), "b")
    equal([one.finish() for one in joined], ["b\n"] * 2, "what both print")
    equal(len(client.questions()), 2, "questions asked in all")


@case("a script that asks gets its answer once, whatever happens to the server: it is down, killed, and killed again", limit=180)
def survives_restarts(world):
    server = world.server(port=free_port(), start=False)
    script = world.folder / "gate.sh"
    script.write_text('set -e\nanswer=$("$1" ask "Deploy?" --option Yes --option No --timeout 30m)\necho "the answer is $answer"\n')
    running = Run(world, ["sh", str(script), str(BINARY)], server.url)
    wait_until(lambda: "trying again" in running.said, "that nobody is there yet")
    server.start()
    question = one_pending(server.client())
    wait_until(lambda: question["id"] in running.said, "the id on standard error")
    server.kill()
    wait_until(lambda: running.said.count("trying again") == 2, "that the server is gone")
    server.start()
    # Answered while the one who asks is not there to see it.
    wait_until(lambda: running.said.count("is back") == 2, "that it waits again")
    os.killpg(running.process.pid, signal.SIGSTOP)
    server.kill()
    server.start()
    give(server.client(), question, "Yes")
    server.kill()
    os.killpg(running.process.pid, signal.SIGCONT)
    wait_until(lambda: running.said.count("trying again") == 3, "that the server is gone again")
    server.start()
    equal(running.finish(deadline=60), "the answer is Yes\n", "what the script prints")
    [only] = server.client().questions()
    equal((only["id"], only["answer"]), (question["id"], "Yes"), "what the store holds")


class Relay:
    """Passes requests on to the server and does with the responses what `treat(count)` says: None passes them on,
    a number answers with that status instead, "drop" closes the connection."""

    def __init__(self, server, treat):
        self.count = 0
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                relay.count += 1
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                relay.bodies.append(body)
                how = treat(relay.count)
                try:
                    # What becomes of a long poll's response nobody needs to wait for.
                    reply = None if how and not body else server.client().request(
                        self.command, self.path, body or None, {"Content-Type": "application/json"} if body else {})
                except OSError:
                    how = "drop"
                if how == "drop":
                    self.close_connection = True
                    return
                status, content = (reply.status, reply.body) if how is None else (how, b"<html>busy</html>")
                self.send_response(status)
                if how is not None:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.bodies = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@case("an ask whose response is lost, or replaced by 503 or 429, is sent again under its key, and is asked once")
def lost_responses(world):
    server = world.server()
    treatments = {1: "drop", 2: 503, 3: 429, 5: "drop", 6: 502, 7: 404}
    relay = world.keep(Relay(server, lambda count: treatments.get(count)))
    running = Run(world, [str(BINARY), "ask", "Once?"], relay.url)
    question = one_pending(server.client())
    wait_until(lambda: question["id"] in running.said, "the id on standard error", 20)
    equal(len({json.loads(body)["idempotency_key"] for body in relay.bodies[:4]}), 1, "keys of the tries")
    equal(json.loads(relay.bodies[3]), json.loads(relay.bodies[0]), "the last try")
    wait_until(lambda: relay.count > 7, "the polls that come after those that failed", 30)
    give(server.client(), question, "yes")
    equal(running.finish(), "yes\n", "what it prints")
    equal(len(server.client().questions()), 1, "questions in the store")


@case("a server that was never reached is given up after --connect-timeout, and what is no Holdpoint server at once, with exit code 1")
def no_server(world):
    nobody = f"http://127.0.0.1:{free_port()}"
    running = Run(world, [str(BINARY), "ask", "x", "--connect-timeout", "1s"], nobody)
    equal(running.finish(1), "", "standard output")
    check(nobody in running.said and "--key" in running.said, f"it says {running.said!r}")
    equal(running.said.count("trying again"), 1, "how often it says that it tries again")

    server = world.server()
    other = world.keep(Relay(server, lambda count: 200 if count == 1 else 404))
    for _ in range(2):
        running = Run(world, [str(BINARY), "ask", "x"], other.url)
        running.finish(1)
        check("Holdpoint server?" in running.said, f"it says {running.said!r}")


@case("after Ctrl-C or SIGTERM the question stays open, and the line that goes on waiting is printed")
def interrupted(world):
    server = world.server(port=free_port())
    client = server.client()
    for number in (signal.SIGINT, signal.SIGTERM):
        running = ask(world, server, f"Still there after {number}?")
        question = one_pending(client)
        wait_until(lambda: question["id"] in running.said, "the id on standard error")
        running.process.send_signal(number)
        equal(running.finish(128 + number), "", "standard output")
        [line] = re.findall(rf"^  (holdpoint wait {ID})$", running.said, re.MULTILINE)
        equal(client.question(question["id"])["status"], "pending", "the question")
        again = Run(world, [str(BINARY), *shlex.split(line)[1:]], server.url)
        give(client, question, "yes")
        equal(again.finish(), "yes\n", "what wait prints")

    server.kill()
    running = ask(world, server, "Asked at all?")
    wait_until(lambda: "trying again" in running.said, "that nobody is there")
    running.process.send_signal(signal.SIGINT)
    running.finish(130)
    [key] = re.findall(r"^  --key (\S+)$", running.said, re.MULTILINE)
    server.start()
    printed = {ask(world, server, "Asked at all?", "--key", key, "--detach").finish() for _ in range(2)}
    equal(printed, {one_pending(server.client())["id"] + "\n"}, "what the key repeats")


@case("a key that may only ask is enough to ask and to wait, by the question's id or its session's; none and a wrong one exit with 1")
def ask_only_key(world):
    server = world.server(start=False)
    admin_key = new_key(server, "admin", "questions:answer", name="admin")
    server.start()
    admin = with_key(server, admin_key)
    env = {"HOLDPOINT_KEY": make_key(admin, "questions:ask")}
    running = ask(world, server, "Allowed?", env=env)
    question = one_pending(admin)
    waiting = [wait(world, server, id_, env=env) for id_ in (question["id"], question["session_id"])]
    for one in waiting:
        wait_until(lambda one=one: question["id"] in one.said, "that it waits")
    give(admin, question, "yes")
    for one in (running, *waiting):
        equal(one.finish(), "yes\n", "what it prints")
    asker = with_key(server, env["HOLDPOINT_KEY"])
    equal(asker.get("/agent/questions").status, 403, "the list of all questions, with that key")
    equal(asker.get("/agent/questions", session=question["session_id"]).status, 200, "those of its session")
    for wrong in ({}, {"HOLDPOINT_KEY": "hp_0123456789abcdef_" + "x" * 43}, {"HOLDPOINT_KEY": make_key(admin, "questions:read")}):
        running = ask(world, server, "Allowed?", env=wrong)
        equal(running.finish(1), "", f"standard output with {wrong}")
        check("key" in running.said or "questions:ask" in running.said, f"it says {running.said!r}")


@case("on a terminal one line tells how it stands, fits however narrow that is, and is gone in the end")
def progress(world):
    server = world.server(agents=[external_agent("caller", question_callback="http://127.0.0.1:9/")])
    client = server.client()
    for columns in (120, 60, 20):
        terminal = world.keep(Terminal(columns))
        running = ask(world, server, "Well?", "--agent", "caller", "--timeout", "90s", stderr=terminal.inside)
        question = one_pending(client)
        wait_until(lambda: re.search(r"waited [2-9]s", terminal.read()), "a line that changes")
        shown = terminal.read()
        for line in re.split(r"[\r\n]+", shown):
            check(len(line.rstrip()) < columns, f"a line of {len(line)} in {columns} columns: {line!r}")
        equal(question["id"] in shown, columns > 40, f"the id in {columns} columns")
        if columns > 100:
            check("asked in url and the inbox" in shown and re.search(r"times out in 1m\d\ds", shown), f"the line is {shown!r}")
        check("\n" not in shown and "\x1b" not in shown, f"it is no line that is written over: {shown!r}")
        give(client, question, "yes\x1b[2J")
        equal(running.finish(), "yes\x1b[2J\n", "standard output")
        left = terminal.read().rsplit("\r", 2)
        check(left[-1] == "" and left[-2].strip() == "", f"the line is still there: {left[-2:]!r}")


@case("an answer that is shown on a terminal cannot steer it")
def shown_answer(world):
    server = world.server()
    client = server.client()
    terminal = world.keep(Terminal())
    program = Program(world, terminal, [str(BINARY), "ask", "Well?"], {"HOLDPOINT_SERVER": server.url})
    give(client, one_pending(client), "yes\x1b[2J\nand \u009b no")
    equal(program.exit_code(), 0, "exit code")
    check(terminal.read().endswith("\ryes [2J\r\nand  no\r\n"), f"it shows {terminal.read()!r}")


def gate(world):
    """The folder of a project that deploys, and an environment with `holdpoint` on its PATH."""
    for folder in ("tools", "bin"):
        (world.folder / folder).mkdir()
    (world.folder / "tools" / "deploy").write_text("#!/bin/sh\necho deployed\n")
    (world.folder / "tools" / "deploy").chmod(0o755)
    (world.folder / "bin" / "holdpoint").symlink_to(BINARY)
    return {"PATH": f"{world.folder}/bin:{os.environ['PATH']}"}


def readme_block(language):
    [block] = [found for found in re.findall(rf"```{language}\n(.*?)```", (HERE.parents[1] / "README.md").read_text(), re.DOTALL)
               if "holdpoint ask" in found]
    return block


def settle(client, question, answer):
    if answer:
        give(client, question, answer)
    else:
        client.post(f"/agent/session/{question['session_id']}/cancel", {}).expect(200)


@case("the README's Makefile gate deploys after Yes, and stops make after anything else")
def makefile_gate(world):
    server = world.server()
    client = server.client()
    env = gate(world)
    (world.folder / "Makefile").write_text(readme_block("make"))
    for answer, code in (("Yes", 0), ("No", 2), (None, 2)):
        running = Run(world, ["make", "deploy"], server.url, env=env)
        settle(client, one_pending(client), answer)
        printed = running.finish(code)
        equal("deployed" in printed.splitlines(), answer == "Yes", f"whether {answer} deploys: {printed!r}")


@case("the README's GitHub Actions gate passes after Yes, fails after anything else, and asks a repeated run once")
def actions_gate(world):
    server = world.server(start=False)
    admin_key = new_key(server, "admin", "questions:answer", name="admin")
    server.start()
    admin = with_key(server, admin_key)
    env = {**gate(world), "HOLDPOINT_KEY": make_key(admin, "questions:ask"), "GITHUB_REF_NAME": "v2", "GITHUB_RUN_ATTEMPT": "1"}
    workflow = readme_block("yaml")
    equal(re.findall(r"\b(HOLDPOINT_\w+): \$\{\{ secrets\.", workflow), ["HOLDPOINT_SERVER", "HOLDPOINT_KEY"], "what comes from secrets")
    step = re.search(r"^( +)run: \|\n((?:\1  .*\n)+)", workflow, re.MULTILINE).group(2)
    (world.folder / "step.sh").write_text(textwrap.dedent(step))
    for run_id, (answer, code) in enumerate((("Yes", 0), ("No", 1), (None, CANCELLED))):
        for repeated in (False, True):
            # As the runner calls it.
            running = Run(world, ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"], server.url, env={**env, "GITHUB_RUN_ID": str(run_id)})
            if not repeated:
                settle(admin, one_pending(admin), answer)
            running.finish(code)
    equal(len(admin.questions()), 3, "questions asked in all")
