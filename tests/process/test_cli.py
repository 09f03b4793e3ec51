"""What people type: what it prints, where, and the exit code."""

import json
import re
import signal
import subprocess

from client import check, equal, wait_until
from harness import BINARY, case, clean_environment, command_agent, external_agent

COMMANDS = ("serve", "check", "trigger", "questions", "answer", "session", "deliveries", "version", "ask", "wait", "inbox")


def holdpoint(*arguments, server=None, stdin=None, env=None):
    own = {"HOLDPOINT_SERVER": server.url} if server else {}
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          input=stdin or "", env=clean_environment({**own, **(env or {})}))


def says(result):
    return f"exit {result.returncode}\nstdout: {result.stdout}\nstderr: {result.stderr}"


def check_ok(result):
    equal(result.returncode, 0, f"exit code; {says(result)}")
    return result.stdout


def check_failed(result, *patterns):
    check(result.returncode > 0, f"should have failed; {says(result)}")
    equal(result.stdout, "", "standard output of a failure")
    for pattern in patterns:
        check(re.search(pattern, result.stderr, re.IGNORECASE), f"no {pattern!r} on standard error; {says(result)}")


def json_of(result):
    return json.loads(check_ok(result))


@case("version and help work without settings or a server")
def version_and_help(world):
    check(re.search(r"\d+\.\d+", check_ok(holdpoint("version"))), "no version number")
    shown = check_ok(holdpoint("--help"))
    for command in COMMANDS:
        check(command in shown, f"--help does not mention {command}")
        check(len(check_ok(holdpoint(command, "--help"))) > 40, f"{command} --help says next to nothing")
    check(holdpoint().returncode > 0, "no command at all is not a success")
    check(holdpoint("sevre").returncode > 0, "an unknown command is not a success")


@case("check accepts good settings and names file and line of bad ones, as serve does")
def check_settings(world):
    server = world.server(agents=[command_agent("helper")], start=False)
    path = server.settings_path
    check_ok(holdpoint("check", "--settings", path))

    good = path.read_text()
    line = good.count("\n") + 2
    path.write_text(good + "\n[questions]\ntimeout_seconds = = 5\n")
    for command in ("check", "serve"):
        check_failed(holdpoint(command, "--settings", path), rf"settings\.toml\D{{0,12}}{line + 1}\b")

    path.write_text(good + '\n[questions]\ntimeout_secnods = 5\non_timeout = "explode"\n[nonsense]\nkey = 1\n')
    for command in ("check", "serve"):
        check_failed(holdpoint(command, "--settings", path), r"settings\.toml", "timeout_secnods", "on_timeout",
                     "nonsense")
    path.write_text(good)
    check_failed(holdpoint("check", "--settings", world.folder / "absent.toml"), r"absent\.toml")
    check_failed(holdpoint("check", "--settings", path, env={"HOLDPOINT_QUESTIONS_TIMEOUT_SECONDS": "soon"}),
                 "timeout_seconds")


@case("an agent definition that does not parse stops check and serve with its file and line")
def check_agents(world):
    server = world.server(agents=[command_agent("helper")], start=False)
    broken = server.folder / "agents" / "broken.md"
    rows = [
        ("---\nname: broken\nrunner: [http\n---\n", [r"broken\.md\D{0,12}[345]\b"]),
        ("---\nname: broken\nrunner: external\ncolour: red\n---\n", [r"broken\.md\D{0,12}4\b", "colour"]),
        ("---\nname: broken\nrunner: teleport\n---\n", [r"broken\.md\D{0,12}3\b", "runner"]),
        ("---\nname: broken\nrunner: http\n---\n", ["broken.md", "url"]),
        ("---\nname: other\nrunner: external\n---\n", ["broken.md", "name"]),
        ("---\nname: broken\nrunner: command\ncommand: ls -l\n---\n", [r"broken\.md\D{0,12}4\b", "command"]),
        ("---\nname: broken\nrunner: external\nquestion_timeout: 0\n---\n", [r"broken\.md\D{0,12}4\b", "question_timeout"]),
        ("no front matter\n", ["broken.md"]),
    ]
    for text, patterns in rows:
        broken.write_text(text)
        for command in ("check", "serve"):
            check_failed(holdpoint(command, "--settings", server.settings_path), *patterns)
    broken.unlink()
    check_ok(holdpoint("check", "--settings", server.settings_path))


@case("a model agent whose model is not set up stops check and serve with its file and the setting")
def check_models(world):
    server = world.server(agents=[external_agent("helper")], start=False)
    agent = server.folder / "agents" / "thinker.md"
    good = server.settings_path.read_text()
    agent.write_text("---\nrunner: llm\nmodel: sonnet\n---\nThink.\n")
    rows = [
        ("", ["thinker.md: model", "sonnet", r"anthropic, openai"]),
        ('[llm.anthropic]\nmodels = { sonnet = "claude" }\n', ["thinker.md: model", r"\[llm\.anthropic\] key"]),
        ('[llm.anthropic]\nmodels = { sonnet = "claude" }\nkey = "k"\nbase_url = "ftp://x"\n', [r"\[llm\.anthropic\] base_url"]),
    ]
    for text, patterns in rows:
        server.settings_path.write_text(good + "\n" + text)
        for command in ("check", "serve"):
            check_failed(holdpoint(command, "--settings", server.settings_path), *patterns)
    server.settings_path.write_text(good + '\n[llm.anthropic]\nmodels = { sonnet = "claude" }\n')
    shown = check_ok(holdpoint("check", "--settings", server.settings_path,
                               env={"HOLDPOINT_LLM_ANTHROPIC_KEY": "sk-very-secret"}))
    check("agent thinker: llm with sonnet" in shown, f"check does not show the agent's model: {shown}")
    check("models of anthropic at https://api.anthropic.com: sonnet = claude" in shown, f"nor where it is: {shown}")
    check("sk-very-secret" not in shown, "check shows the key")


@case("SIGHUP reads the agents anew, and keeps the old ones when a new one does not parse")
def reload_agents(world):
    server = world.server(agents=[external_agent("old")])
    client = server.client()
    added, broken = (server.folder / "agents" / f"{name}.md" for name in ("added", "broken"))

    def reload(event):
        already = sum(e.get("event") == event for e in server.log_events())
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: sum(e.get("event") == event for e in server.log_events()) > already, f"{event} in the log")

    added.write_text(external_agent("added")[1])
    equal(client.post("/agent/ask", {"agent": "added", "questions": [{"question": "Now?"}]}).status, 404, "before SIGHUP")
    reload("agents_reloaded")
    client.ask("Now?", agent="added")
    broken.write_text("---\nname: broken\nrunner: teleport\n---\n")
    added.unlink()
    reload("agents_not_reloaded")
    client.ask("Still?", agent="added")
    broken.unlink()
    reload("agents_reloaded")
    equal(client.post("/agent/ask", {"agent": "added", "questions": [{"question": "Now?"}]}).status, 404, "once it is gone")
    client.ask("And you?", agent="old")


@case("a session goes from trigger to result on the command line, for people and as JSON")
def whole_session(world):
    server = world.server(agents=[command_agent("helper")])
    client = server.client()
    payload = json.dumps({"n": 5, "asks": [{"questions": [{"question": "Which one?", "options": ["a", "b"]}]}]})
    shown = check_ok(holdpoint("trigger", "helper", payload, server=server))
    [session] = [s["id"] for s in client.sessions()]
    check(session in shown, f"trigger does not print the session: {shown}")
    [question] = client.pending(session)

    for shown in (check_ok(holdpoint("questions", server=server)),
                  check_ok(holdpoint("questions", "--status", "pending", "--agent", "helper", server=server))):
        check("Which one?" in shown and session in shown, f"questions prints {shown!r}")
    listed = json_of(holdpoint("questions", "--json", server=server))
    equal([q["id"] for q in listed["questions"]], [question["id"]], "questions --json")
    check("pending_input" in check_ok(holdpoint("session", session, server=server)), "session does not print the status")

    check_failed(holdpoint("answer", session, "", server=server), "answer")
    check_ok(holdpoint("answer", session, "b", "--question", question["id"], "--by", "ana", server=server))
    client.completed(session)
    found = json_of(holdpoint("session", session, "--wait", "10", "--json", server=server))
    equal((found["status"], found["result"]["n"]), ("completed", 5), "session --json")
    equal(client.question(question["id"])["answered_by"], "ana", "who answered")
    check_failed(holdpoint("answer", session, "a", "--question", question["id"], server=server), r"\bb\b", "ana")
    check("session_resumed" in check_ok(holdpoint("session", session, "--events", server=server)), "session --events")


@case("trigger takes its payload from an argument, a file or standard input, and can wait")
def trigger_payloads(world):
    server = world.server(agents=[command_agent("helper")])
    payload = world.folder / "payload.json"
    payload.write_text('{"n": "from a file"}')
    for arguments, stdin, wanted in [(['{"n": "given"}'], None, "given"), ([f"@{payload}"], None, "from a file"),
                                     (["-"], '{"n": "piped"}', "piped"), ([], None, None)]:
        found = json_of(holdpoint("trigger", "helper", *arguments, "--wait", "20", "--json", server=server, stdin=stdin))
        session = server.client().completed(found.get("session_id") or found["id"])
        equal(session["result"]["n"], wanted, f"the payload of trigger {arguments}")
    check_failed(holdpoint("trigger", "helper", "{nope", server=server), "json")
    check_failed(holdpoint("trigger", "helper", f"@{world.folder}/absent.json", server=server), "absent")


@case("sessions are cancelled, and deliveries listed and sent again, on the command line")
def session_and_delivery_commands(world):
    status = [410]
    receiver = world.receiver(lambda _: status[0])
    server = world.server(agents=[external_agent("caller", question_callback=receiver.url)])
    client = server.client()
    session = client.ask("Anyone?", agent="caller")["session_id"]
    wait_until(lambda: client.deliveries(status="dead"), "a dead delivery")
    [dead] = json_of(holdpoint("deliveries", "--status", "dead", "--json", server=server))["deliveries"]
    equal(dead["session_id"], session, "deliveries --json")
    check(dead["id"] in check_ok(holdpoint("deliveries", server=server)), "deliveries does not print the id")
    status[0] = 200
    check_ok(holdpoint("deliveries", "--redeliver", dead["id"], server=server))
    wait_until(lambda: client.deliveries(status="delivered"), "the delivery after --redeliver")
    check_failed(holdpoint("deliveries", "--redeliver", "nobody", server=server), "nobody|delivery")

    check_ok(holdpoint("session", session, "--cancel", server=server))
    equal(client.session(session)["status"], "cancelled", "the session after --cancel")
    check_failed(holdpoint("session", session, "--retry", server=server), "failed")
    check_failed(holdpoint("session", session, "--message", '"hello"', server=server), "finished|cancelled")


@case("commands fail with a message when the thing or the server is not there")
def command_failures(world):
    server = world.server()
    check_failed(holdpoint("trigger", "nobody", server=server), "nobody")
    check_failed(holdpoint("session", "nobody", server=server), "session")
    check_failed(holdpoint("answer", "nobody", "yes", server=server), "session")
    check_failed(holdpoint("questions", "--status", "weird", server=server), "status")
    address = server.url
    server.kill()
    for arguments in (["questions"], ["questions", "--json"], ["trigger", "helper"], ["deliveries"], ["session", "x"]):
        check_failed(holdpoint(*arguments, "--server", address), re.escape(address.removeprefix("http://")))
