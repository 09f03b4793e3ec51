"""PostgreSQL that is gone, hangs, refuses or is not what it should be; and what stands between it and the nodes."""

import subprocess
import threading
import time
from collections import Counter
from functools import partial

from asking_agent import behave
from client import check, equal, wait_until
from harness import BINARY, case, clean_environment, free_port, http_agent
from postgres import Nodes, Pooler, Postgres, Wire, rows_of
from test_disk import check_refused_for_now
from test_nodes import ONE_ASK, SOON, say
from waking import Waiters, shown

away_case = partial(case, engine="postgres", why="only PostgreSQL can be away, or refuse")
PASSWORD = "s3cret/w0rd%7e"


def logged(node, event):
    return [line for line in node.log_events() if line.get("event") == event]


@away_case("behind a pooler that keeps no session, nodes hear of each other by polling, within two seconds")
def pooler(world):
    postgres = Postgres(world)
    pooled = Pooler(world, postgres)
    agent, receiver = world.http_agent(behave), world.receiver()
    a, b = Nodes(world, pooled.url, 2, [http_agent("worker", agent, question_callback=receiver.url,
                                                   callback_events=["session_completed"])])
    for node in (a, b):
        wait_until(lambda: logged(node, "notices_by_polling"), f"{node.folder.name} says that it polls")
    for here, there in ((a, b), (b, a)):
        session = here.client().trigger("worker", ONE_ASK, key=f"from {here.port}")
        equal(there.client().trigger("worker", ONE_ASK, key=f"from {here.port}"), session, "the same trigger again")
        [question] = there.client().pending(session)
        here.client().answer(session, "yes", question["id"]).expect(200)
        equal(there.client().answer(session, "no", question["id"]).status, 409, "another answer")
        equal(there.client().completed(session)["result"]["resumes"][0]["answers"], {"Go on?": "yes"}, "the answer")
    wait_until(lambda: len(receiver.of("session_completed")) == 2, "the completions told")
    heard = Waiters(world, a, b).rounds(10)
    say(shown(heard))
    check(all(seconds[-1] < SOON for seconds in heard.values()), f"too late: {shown(heard)}")


@away_case("nodes whose connections are cut, those that listen or all of them, go on, and listen again")
def connections_cut(world):
    postgres = Postgres(world)
    a, b = Nodes(world, postgres.url, 2)
    waiters = Waiters(world, a, b)
    waiters.round()
    for cut, (which, least) in enumerate([("holdpoint notices", 2), ("holdpoint%", 4), ("holdpoint%", 4)], 1):
        gone = postgres.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                             f"WHERE application_name LIKE '{which}'")
        check(len(gone) >= least, f"only {len(gone)} connections of two nodes are called {which}")
        seconds = waiters.round()
        check(max(seconds.values()) < 5, f"heard after the cut: {seconds}")
        for node in (a, b):
            wait_until(lambda: len(logged(node, "notices_heard")) > cut, f"{node.folder.name} listens again")
    heard = waiters.rounds(10)
    check(all(seconds[5] <= 0.1 for seconds in heard.values()), f"after they listen again: {shown(heard)}")
    check(a.alive() and b.alive(), "a node died of it")


@away_case("a commit that was lost on the way is done again, and one whose answer was lost is not")
def commits_in_doubt(world):
    postgres = Postgres(world)
    wire = Wire(world, postgres)
    agent, receiver = world.http_agent(behave), world.receiver()
    [node] = Nodes(world, wire.url, 1, [http_agent("worker", agent, question_callback=receiver.url,
                                                   callback_events=["session_completed"])])
    client = node.client()
    wire.every = 8
    # No keys: only the node itself can know what was done.
    sessions = []
    for n in range(80):
        session = client.trigger("worker", {"n": n, **ONE_ASK})
        [question] = client.pending(session)
        equal(client.answer(session, f"answer {n}", question["id"]).expect(200)["status"], "resumed", "the only answer")
        sessions.append(session)
    for n, session in enumerate(sessions):
        found = client.completed(session)["result"]
        equal((found["n"], found["resumes"][0]["answers"]), (n, {"Go on?": f"answer {n}"}), "the result")
    wait_until(lambda: not client.deliveries(status="pending"), "all callbacks are sent", 90)
    wire.every = 0
    found_out = Counter(bool(event["committed"]) for event in logged(node, "commit_found_out"))
    say(f"lost: {dict(wire.lost)}; found out to be committed: {dict(found_out)}")
    check(min(found_out[True], found_out[False]) >= 5, "too few to prove anything")

    equal({session["id"] for session in client.sessions()}, set(sessions), "sessions")
    turns = Counter((turn["session_id"], turn["turn"]) for turn in agent.turns)
    equal(turns, Counter({(session, turn): 1 for session in sessions for turn in (1, 2)}), "requests per turn")
    client.get("/agent/audit/verify").expect(200)
    steps = {row["what"]: row["count"] for row in postgres.rows(
        "SELECT type AS what, count(*) FROM agent_events GROUP BY 1 UNION ALL "
        "SELECT 'audit ' || action, count(*) FROM audit_log GROUP BY 1 UNION ALL "
        "SELECT 'delivery ' || event, count(*) FROM deliveries GROUP BY 1")}
    equal(steps, {what: str(count * len(sessions)) for what, count in {
        "session_started": 1, "turn_started": 2, "question_asked": 1, "question_answered": 1, "session_resumed": 1,
        "session_completed": 1, "delivery_sent": 2, "audit session_started": 1, "audit question_answered": 1,
        "delivery question_pending": 1, "delivery session_completed": 1}.items()}, "rows of each kind")
    sent = Counter(callback.id for callback in receiver.received)
    equal(sent, Counter({delivery["id"]: 1 for delivery in client.deliveries()}), "requests per delivery")


def timed(send):
    started = time.monotonic()
    return send(), time.monotonic() - started


def check_all_refused(client, session, question, within):
    """Every call that needs the database: 503, in time."""
    calls = {
        "ask": lambda: client.post("/agent/ask", {"questions": [{"question": "Another?"}]}),
        "answer": lambda: client.answer(session, "too early", question),
        "trigger": lambda: client.post("/agent/webhook/worker", {}),
        "question": lambda: client.get(f"/agent/questions/{question}"),
        "session": lambda: client.get(f"/agent/session/{session}"),
        "questions": lambda: client.get("/agent/questions"),
    }
    for name, call in calls.items():
        reply, seconds = timed(call)
        check_refused_for_now(reply)
        check(seconds < within, f"{name} was refused after {seconds:.1f} s")
    equal(client.get("/healthz").status, 200, "/healthz")


@away_case("while PostgreSQL is stopped every call gets 503, and when it is back the node goes on by itself")
def database_stopped(world):
    postgres = Postgres(world, fast=False)
    release = threading.Event()
    world.closing(release.set)

    def respond(turn):
        if turn["payload"].get("hold"):
            release.wait(60)
        return behave(turn)

    agent = world.http_agent(respond)
    # A turn that outlives the outage is its node's as long as the lease lasts.
    [node] = Nodes(world, postgres.url, 1, [http_agent("worker", agent)], {"agents": {"lease_seconds": 60}})
    pid, client, stream = node.pid, node.client(), world.keep(node.events())
    kept = client.ask("Still there?")
    session, question = kept["session_id"], kept["questions"][0]["id"]
    answered = client.ask("Answered?")
    client.answer(answered["session_id"], "yes").expect(200)
    held = client.trigger("worker", {"hold": True, "n": 7})
    wait_until(lambda: agent.turns, "the turn runs")
    for mode in ((), ("immediate",)):
        postgres.stop(*mode)
        wait_until(lambda: client.get("/readyz").status == 503, "/readyz says 503", 5)
        check_all_refused(client, session, question, within=10)
        wait_until(lambda: logged(node, "database_lost"), "the log says that the database is lost")
        # What it says now cannot be kept at once.
        release.set()
        postgres.start()
        wait_until(lambda: client.get("/readyz").status == 200, "/readyz says 200 again", 20)
        check(logged(node, "database_back"), "the log does not say that the database is back")
        equal(client.question(question)["status"], "pending", "the question that was acknowledged before")
        equal(client.session(answered["session_id"])["status"], "completed", "the answer that was acknowledged before")
    equal(client.completed(held)["result"]["n"], 7, "the turn that ended without a database")
    equal(len(agent.turns), 1, "requests for that turn")
    client.answer(session, "yes", question).expect(200)
    equal((node.pid, node.alive()), (pid, True), "the process")

    def told():
        # Whoever was cut off comes again with the last number it has.
        last = stream.ids[-1]
        following = stream if not stream.ended else world.keep(node.events(last_event_id=last))
        wait_until(lambda: any(event["data"]["session_id"] == session and event["data"]["type"] == "session_completed"
                               for event in following.events), "the stream tells of the answer")
        ids = stream.ids + (following.ids if following is not stream else [])
        equal(ids, sorted(set(ids)), "each event once, in order")
    told()


@away_case("while PostgreSQL hangs every call ends in time with 503, and when it goes on so does the node")
def database_hangs(world):
    postgres = Postgres(world)
    [node] = Nodes(world, postgres.url, 1, [http_agent("worker", world.http_agent(behave))])
    client = node.client(timeout=60)
    asked = client.ask("Still there?")
    session, question = asked["session_id"], asked["questions"][0]["id"]
    postgres.pause()
    results = {}

    def call(name, send):
        results[name] = timed(send)

    # At once: the first to notice must not be the only one.
    threads = [threading.Thread(target=call, args=item, daemon=True) for item in {
        "ask": lambda: client.post("/agent/ask", {"questions": [{"question": "Another?"}]}),
        "answer": lambda: client.answer(session, "too early", question),
        "trigger": lambda: client.post("/agent/webhook/worker", {}),
        "question": lambda: client.get(f"/agent/questions/{question}"),
    }.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    say(", ".join(f"{name} {reply.status} after {seconds:.1f} s" for name, (reply, seconds) in results.items()))
    equal(len(results), len(threads), f"calls that ended: {list(results)}")
    for name, (reply, seconds) in results.items():
        check(seconds < 30, f"{name} took {seconds:.1f} s")
        check_refused_for_now(reply)
    reply, seconds = timed(lambda: client.get("/readyz"))
    equal(reply.status, 503, "/readyz")
    check(seconds < 10, f"/readyz took {seconds:.1f} s")
    equal(client.get("/healthz").status, 200, "/healthz")
    postgres.resume()
    wait_until(lambda: client.get("/readyz").status == 200, "/readyz says 200 again", 20)
    # The hanging server may still have done what nobody waited for; what it did is told, and not done again.
    found = client.question(question)
    check((found["status"], found["answer"]) in (("pending", None), ("answered", "too early")), f"the question: {found}")
    reply = client.answer(session, "too early", question).expect(200)
    check(reply["status"] in ("resumed", "already_answered"), f"the answer again: {reply}")
    equal(client.completed(client.trigger("worker", {"n": 8}))["result"]["n"], 8, "a session afterwards")


def start(world, url, env=None, command="serve"):
    """(exit code, what it said, seconds) of a process that ends by itself."""
    server = world.server({"database": {"url": url}}, start=False)
    started = time.monotonic()
    done = subprocess.run([str(BINARY), command, "--settings", str(server.settings_path)], text=True, timeout=60,
                          env=clean_environment(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout, time.monotonic() - started


def check_refused(world, url, words, code=1, within=10.0, secret=PASSWORD):
    got, said, seconds = start(world, url)
    equal(got, code, f"exit code of a start on {url}; it said: {said}")
    check(seconds < within, f"a start on {url} was given up after {seconds:.1f} s")
    for word in words:
        check(word.lower() in said.lower(), f"no {word!r} in what a start on {url} said: {said}")
    check(secret not in said, f"the password is shown: {said}")
    return said


@away_case("a node that finds nobody at its database's address gives up with a message, or starts when somebody comes")
def nobody_listens(world):
    port = free_port()
    check_refused(world, f"postgres://holdpoint@127.0.0.1:{port}/holdpoint",
                  [f"127.0.0.1:{port}", "refused", "[database] url"], within=40)
    postgres = Postgres(world)
    postgres.stop()
    [node] = Nodes(world, postgres.url, 1, start=False)
    node.start(wait=False)
    wait_until(lambda: logged(node, "database_awaited"), "the node says that it waits")
    code, seconds = node.terminate()
    check(seconds < 10, f"exit {code} only {seconds:.1f} s after SIGTERM")
    node.start(wait=False)
    wait_until(lambda: logged(node, "database_awaited"), "the node says that it waits")
    postgres.start()
    node.wait_ready(deadline=20)


@away_case("a node that loses its database at any moment of its start comes up when it is back")
def start_in_a_crash(world):
    wire = Wire(world, Postgres(world))
    [node] = Nodes(world, wire.url, 1)
    # The first connection prepares the database, the others are the node's own. Longer than requests wait for a database.
    points = [(connection, packet, 0.1) for connection in (1, 2, 3) for packet in range(1, 7)]
    cut = 0
    for point in points + [(1, 3, 4), (2, 3, 4), (2, 6, 4)]:
        node.kill()
        wire.cut_at(*point)
        node.start(deadline=30)
        cut += wire.has_cut
    check(cut >= len(points) / 2, f"only {cut} of {len(points)} connections lived long enough to be cut")


@away_case("a node that its database refuses says why and what to do, and shows no password")
def refused_starts(world):
    postgres = Postgres(world)
    at, secret = f"127.0.0.1:{postgres.port}", PASSWORD
    postgres.rows(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    postgres.ask_for_passwords("guest")
    check_refused(world, postgres.url_of(user="guest", password="wr0ng"), [at, "password", "guest"], secret="wr0ng")
    check_refused(world, postgres.url_of(user="guest"), [at, "password", "guest"])
    check_refused(world, postgres.url_of("elsewhere"), [at, "elsewhere", "createdb"])
    check_refused(world, postgres.url_of(user="nobody1"), [at, "nobody1", "createuser"])
    check_refused(world, postgres.url_of(user="guest", password=secret), ["GRANT", "CREATE", "SCHEMA public"])
    latin = postgres.create_database("latin", "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    check_refused(world, latin, ["LATIN1", "UTF8", "createdb"])
    standby = postgres.create_database("standby")
    postgres.rows("ALTER DATABASE standby SET default_transaction_read_only = on")
    check_refused(world, standby, ["read", "primary", "default_transaction_read_only"])
    newer = postgres.create_database("newer")
    [node] = Nodes(world, newer, 1)
    equal(node.terminate()[0], 0, "exit code of the node that made the schema")
    rows_of(newer, "INSERT INTO schema_migrations (number, name, applied_at) VALUES (999, 'from the future', '')")
    check_refused(world, newer, ["999", "newer"])
    # Nothing was left half done in the databases that were refused.
    for database in ("latin", "standby"):
        equal(postgres.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database), "0", f"tables in {database}")
    postgres.rows("GRANT USAGE, CREATE ON SCHEMA public TO guest")
    url = postgres.url_of(user="guest", password=secret)
    [node] = Nodes(world, url, 1)
    equal(len(logged(node, "server_listening")), 1, "starts after the GRANT")
    said = node.log_text()
    check(secret not in said and "s3cret" not in said, f"the password is in the log: {said}")


@away_case("a database address that cannot be read is wrong settings: exit 2, what is wrong, and no password")
def malformed_addresses(world):
    for url, words in (
            ("postgres://holdpoint:s3cret@127.0.0.1:54x2/holdpoint", ["database", "url", "port"]),
            ("postgres://holdpoint:s3cret@127.0.0.1:99999/holdpoint", ["database", "url", "port"]),
            ("postgres://holdpoint:s3cret%zz@127.0.0.1:5433/holdpoint", ["database", "url"]),
            ("postgres://holdpoint:s3cret@127.0.0.1:5433/holdpoint?no_such_option=1", ["database", "url", "query parameter"]),
            ("postgres://holdpoint:s3cret/x@127.0.0.1:5433/holdpoint", ["database", "url"]),
            ("postgres//holdpoint:s3cret@127.0.0.1/holdpoint", ["database", "url"]),
            ("mysql://holdpoint:s3cret@127.0.0.1/holdpoint", ["database", "url", "postgres://", "sqlite:"])):
        check_refused(world, url, words, code=2, secret="s3cret")
        code, said, _ = start(world, url, command="check")
        equal(code, 2, f"exit code of check on {url}: {said}")
        check("s3cret" not in said, f"check shows the password: {said}")
    good = "postgres://holdpoint:s3cret@127.0.0.1:5433/holdpoint?password=s3cret"
    code, said, _ = start(world, good, command="check")
    check("s3cret" not in said, f"check shows the password: {said}")
    code, said, _ = start(world, "env:DATABASE_OF_THE_TEST", env={"DATABASE_OF_THE_TEST": good}, command="check")
    check("s3cret" not in said, f"check shows the password: {said}")
