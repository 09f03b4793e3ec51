"""Webhooks that claim to come from upstream: only what was signed with the agent's secret, now, and once, starts a session."""

import base64
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from client import check, equal, wait_until
from credentials import close_server, make_key, send, with_key
from forging import forgeries
from harness import case, http_agent
from signing import JSON, SCHEMES, Bearer, GitHub, Slack, Standard
from tables import edit, rows, seconds_of, time_text

SEED = 20261116
ROUNDS = 8
REPLAYABLE = (GitHub, Standard, Slack)


def secret_for(scheme, name):
    noise = random.Random(f"{scheme.name} {name}").randbytes(24)
    return "whsec_" + base64.b64encode(noise).decode() if scheme is Standard else noise.hex()


class Upstream:
    """A closed server with, for each scheme, an agent that has two secrets and another that has one of its own."""

    def __init__(self, world):
        double = world.http_agent(lambda turn: {"result": {}})
        agents, self.new, self.old, self.other = [], {}, {}, {}
        for scheme in SCHEMES:
            secrets = [secret_for(scheme, "new"), secret_for(scheme, "old")]
            self.new[scheme], self.old[scheme] = (scheme(scheme.name, secret) for secret in secrets)
            self.other[scheme] = scheme(f"{scheme.name}-other", secret_for(scheme, "other"))
            agents += [http_agent(scheme.name, double, webhook_verify=scheme.name, webhook_secret=secrets),
                       http_agent(f"{scheme.name}-other", double, webhook_verify=scheme.name,
                                  webhook_secret=self.other[scheme].secret)]
        agents.append(http_agent("unsigned", double))
        # Wrong keys have a limit of their own, with tests of its own.
        self.server = world.server({"limits": {"wrong_credentials_per_minute": 1_000_000}}, agents)
        self.admin = close_server(self.server)

    def send(self, signed, agent=None, query=""):
        return self.send_as(agent or signed.sender.agent, signed.headers, signed.body, query)

    def send_as(self, agent, headers, body, query=""):
        return send(self.server, f"/agent/webhook/{agent}{query}", headers, body)

    def accepted(self, signed, **options):
        status, body = self.send(signed, **options)
        equal(status, 202, f"a genuine {signed.sender.name} request: {body}")
        return json.loads(body)

    def refused(self, signed, what, **options):
        status, body = self.send(signed, **options)
        check(status == 401, f"{signed.sender.name}, {what}: {status} {body}")

    def sessions(self):
        return {session["id"] for session in self.admin.sessions()}


def payload(noise):
    return json.dumps({"n": noise.randrange(10**9), "path": "a/b", "who": "Zoë <zoe@example.org>", "list": [1, 2.5, None]},
                      ensure_ascii=False).encode()


def early_in_a_second():
    """So that the server reads the same second as we: else +301 s may have become +300 on the way."""
    wait_until(lambda: time.time() % 1 < 0.5, "the first half of a second", deadline=2)


@case("more than 1,000 forgeries over all schemes are 401 and start nothing; the genuine ones between them are taken", limit=300)
def forged(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    wrong, sent, genuine = [], 0, set()
    for _ in range(ROUNDS):
        for scheme in SCHEMES:
            early_in_a_second()
            for sender in (upstream.new[scheme], upstream.old[scheme]):
                signed = sender.sign(payload(noise))
                for what, headers, body in forgeries(signed, upstream.other[scheme], noise):
                    status, said = upstream.send_as(sender.agent, headers, body)
                    sent += 1
                    if status != 401:
                        wrong.append(f"{scheme.name}, {what}: {status} {said[:120]}")
                # Refused only for what was forged about it; and a refusal does not use the genuine request up.
                status, said = upstream.send(signed)
                if status == 202:
                    genuine.add(json.loads(said)["session_id"])
                else:
                    wrong.append(f"{scheme.name}, the genuine one: {status} {said[:120]}")
    kinds = sorted({line.partition(": ")[0] for line in wrong})
    check(not wrong, f"{len(wrong)} of {sent} forgeries were not refused with 401; kinds: {kinds}; e.g. {wrong[:3]}")
    check(sent >= 1000, f"only {sent} forgeries")
    equal(upstream.sessions(), genuine, "the sessions that are there")


@case("a time up to 300 s off is taken, one of 301 s is not")
def tolerance(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    for scheme in (Standard, Slack):
        sender = upstream.new[scheme]
        for offset, taken in ((-299, True), (299, True), (300, True), (-301, False), (301, False)):
            body = payload(noise)
            early_in_a_second()
            signed = sender.sign(body, at=int(time.time()) + offset)
            if taken:
                upstream.accepted(signed)
            else:
                upstream.refused(signed, f"{offset:+d} s")


@case("either of two live secrets will do, and any of several signatures")
def live_secrets(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    for scheme in SCHEMES:
        for sender in (upstream.new[scheme], upstream.old[scheme], upstream.other[scheme]):
            upstream.accepted(sender.sign(payload(noise)))
    sender = upstream.new[Standard]
    junk = " ".join(["v1a,bm90IG91cnM=", sender.mac(b"x" * 24, b"", "x", "1"), "v2,AAAA"])
    for place in ("{junk} {right}", "{right} {junk}", "{junk} {right} {junk}"):
        signed = sender.sign(payload(noise))
        upstream.accepted(signed.but(signature=place.format(junk=junk, right=signed.parts["signature"])))


@case("ids are signed as they are sent, whatever is in them")
def odd_ids(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    for id in ("a.b", "1.2.3", "a%20b", "a%zz", "100%", "a b", "a+b/c==", "'; --", "x" * 255):
        status, body = upstream.send(upstream.new[Standard].sign(payload(noise), id=id))
        equal(status, 202, f"webhook-id {id!r}: {body}")


@case("a copy of a request that was taken is 401, and so is its id with another body, though properly signed")
def replayed(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    taken = set()
    for scheme in REPLAYABLE:
        for sender in (upstream.new[scheme], upstream.old[scheme]):
            signed = sender.sign(payload(noise))
            taken.add(upstream.accepted(signed)["session_id"])
            for _ in range(3):
                upstream.refused(signed, "a copy")
            if scheme.has_id:
                for other in (upstream.new[scheme], upstream.old[scheme]):
                    upstream.refused(other.sign(payload(noise), id=signed.parts["id"]), "the id with another body")
    equal(upstream.sessions(), taken, "the sessions that are there")


@case("a copy is 401 however it is dressed up: other unsigned headers, more signatures, another query")
def dressed_up(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    taken, wrong = set(), []
    for scheme in REPLAYABLE:
        signed = upstream.new[scheme].sign(payload(noise))
        parent = upstream.accepted(signed)["session_id"]
        taken.add(parent)
        right = signed.parts["signature"]
        key = ("Idempotency-Key", "another")
        disguises = {
            "with an Idempotency-Key": [*signed.headers, key],
            "with another delivery id": [h for h in signed.headers if h[0] != "X-GitHub-Delivery"]
                                        + [("X-GitHub-Delivery", "another")],
            "with a webhook-id before its own": [("webhook-id", "another"), *signed.headers],
            "with header names in capitals": [(name.upper(), value) for name, value in signed.headers],
            "with another media type": [("Content-Type", "application/cloudevents+json"), *signed.headers[1:]],
        }
        if scheme is Standard:
            for place in ("{junk} {right}", "{right} {junk}", "{junk} {right} {junk}"):
                for more in ([], [key]):
                    junk = "v1," + base64.b64encode(noise.randbytes(32)).decode()
                    padded = signed.but(signature=place.format(junk=junk, right=right))
                    disguises[f"with the signatures {place}{' and an Idempotency-Key' if more else ''}"] = [*padded.headers, *more]
            for text in (f"{right} {right}", f"{right}  {right}", f"{right} v1"):
                disguises[f"with the signatures {text}"] = signed.but(signature=text).headers
        for what, headers in disguises.items():
            status, said = upstream.send_as(scheme.name, headers, signed.body)
            if status != 401:
                wrong.append(f"{scheme.name} {what}: {status} {said}")
        upstream.refused(signed, "with a parent", query=f"?parent={parent}")
    started = upstream.sessions() - taken
    check(not wrong, f"{len(started)} sessions were started by copies; not 401: {wrong}")
    equal(started, set(), "sessions that copies started")


@case("a sender that tries again signs anew with the same id and body, and gets the first session")
def own_retry(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    body, now = payload(noise), int(time.time())
    sender = upstream.new[Standard]
    first = upstream.accepted(sender.sign(body, id="msg_retry", at=now - 20))
    check("duplicate" not in first, f"the first time: {first}")
    for signed in (sender.sign(body, id="msg_retry", at=now - 10), upstream.old[Standard].sign(body, id="msg_retry", at=now)):
        again = upstream.accepted(signed)
        equal((again["session_id"], again["duplicate"]), (first["session_id"], True), "the session of the retry")

    # GitHub's signature has no time in it: what it sends again is a copy, whichever secret signs it.
    upstream.accepted(upstream.new[GitHub].sign(body, id="delivery-1"))
    for sender in (upstream.new[GitHub], upstream.old[GitHub]):
        upstream.refused(sender.sign(body, id="delivery-1"), "the same delivery again")
    # Ids belong to an agent: the same one elsewhere is another webhook.
    elsewhere = upstream.accepted(upstream.other[Standard].sign(body, id="msg_retry"))
    check("duplicate" not in elsewhere, f"another agent's webhook with the same id: {elsewhere}")
    equal(len(upstream.sessions()), 3, "sessions")


@case("a bearer secret says nothing about when, so that only an Idempotency-Key keeps repeats apart")
def bearer_repeats(world):
    upstream = Upstream(world)
    signed = upstream.new[Bearer].sign(b"{}")
    headers = [*signed.headers, ("Idempotency-Key", "one")]
    replies = [json.loads(upstream.send_as("bearer", headers, b"{}")[1]) for _ in range(3)]
    equal([reply.get("duplicate") for reply in replies], [None, True, True], "duplicates")
    equal(len({reply["session_id"] for reply in replies}), 1, "sessions under one Idempotency-Key")


def at_once(count, act):
    """What act(n) gave for each n, all called at the same moment."""
    gate = threading.Barrier(count)

    def run(n):
        gate.wait(30)
        return act(n)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@case("of 50 copies that arrive at once one is taken, and 49 are 401")
def copies_at_once(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    for scheme in REPLAYABLE:
        for _ in range(4):
            signed = upstream.new[scheme].sign(payload(noise))
            statuses = [status for status, _ in at_once(50, lambda n: upstream.send(signed))]
            equal((statuses.count(202), statuses.count(401)), (1, 49), f"answers to 50 copies, {scheme.name}")
    for scheme in (GitHub, Standard):
        bodies = [payload(noise) for _ in range(50)]
        signed = [upstream.new[scheme].sign(body, id="one-id") for body in bodies]
        statuses = [status for status, _ in at_once(50, lambda n: upstream.send(signed[n]))]
        equal((statuses.count(202), statuses.count(401)), (1, 49), f"answers to 50 bodies with one id, {scheme.name}")
    body, now = payload(noise), int(time.time())
    retries = [upstream.new[Standard].sign(body, id="retried", at=now - n) for n in range(50)]
    replies = [json.loads(said) for _, said in at_once(50, lambda n: upstream.send(retries[n]))]
    equal(len({reply.get("session_id") for reply in replies}), 1, f"sessions of 50 retries: {replies[:2]}")
    equal(sum(reply.get("duplicate", False) for reply in replies), 49, "retries that were told so")
    equal(len(upstream.sessions()), 3 * 4 + 2 + 1, "sessions in all")


@case("what was taken is remembered over kill -9, for 24 hours")
def replay_after_restart(world):
    upstream, noise = Upstream(world), random.Random(SEED)
    server = upstream.server
    taken = {scheme: upstream.new[scheme].sign(payload(noise)) for scheme in REPLAYABLE}
    sessions = {scheme: upstream.accepted(signed)["session_id"] for scheme, signed in taken.items()}
    server.kill()
    age_receipts(server, hours=23, minutes=59)
    server.start()
    for scheme, signed in taken.items():
        upstream.refused(signed, "a copy after a kill, 23:59 h later")
        if scheme.has_id:
            upstream.refused(upstream.new[scheme].sign(payload(noise), id=signed.parts["id"]), "its id, after a kill")
    body, id = taken[Standard].body, taken[Standard].parts["id"]
    again = upstream.accepted(upstream.new[Standard].sign(body, id=id, at=int(time.time()) + 5))
    equal((again["session_id"], again["duplicate"]), (sessions[Standard], True), "the sender's own retry after a kill")
    equal(upstream.sessions(), set(sessions.values()), "sessions")

    server.kill()
    age_receipts(server, hours=24)
    server.start()
    wait_until(lambda: count_receipts(server) == 0, "receipts older than a day are removed")


def age_receipts(server, **age):
    back = timedelta(**age).total_seconds()
    for (at,) in rows(server, "SELECT DISTINCT received_at FROM webhook_receipts"):
        edit(server, ("UPDATE webhook_receipts SET received_at = ? WHERE received_at = ?", (time_text(seconds_of(at) - back), at)))


def count_receipts(server):
    return rows(server, "SELECT COUNT(*) FROM webhook_receipts")[0][0]


@case("an agent that verifies nothing needs a key in closed mode; a key also starts one that verifies")
def keys_instead(world):
    upstream = Upstream(world)
    server, admin = upstream.server, upstream.admin
    signed = upstream.new[GitHub].sign(b"{}")
    for headers in ([JSON], signed.headers, [JSON, ("Authorization", "Bearer " + "x" * 40)]):
        status, body = upstream.send_as("unsigned", headers, b"{}")
        equal(status, 401, f"without a key: {body}")
    own = with_key(server, make_key(admin, "webhook:unsigned"))
    started = own.trigger("unsigned")
    equal(own.post("/agent/webhook/github", {}).status, 401, "a key for another agent, and no signature")
    other = with_key(server, make_key(admin, "webhook:github"))
    equal(other.post("/agent/webhook/unsigned", {}).status, 403, "a key for another agent")
    by_key = other.trigger("github")
    equal(upstream.sessions(), {started, by_key}, "sessions")


@case("Slack's question whether the address is ours is answered, and starts nothing")
def slack_challenge(world):
    upstream = Upstream(world)
    body = json.dumps({"type": "url_verification", "challenge": 'a"b<c>é', "token": "old"}).encode()
    for _ in range(2):
        status, said = upstream.send(upstream.new[Slack].sign(body))
        equal((status, json.loads(said)), (200, {"challenge": 'a"b<c>é'}), "the answer to url_verification")
    upstream.refused(upstream.new[Slack].sign(body).but(signature="v0=" + "0" * 64), "a forged url_verification")
    upstream.refused(upstream.new[Slack].sign(body, at=int(time.time()) - 400), "a stale url_verification")
    equal(upstream.sessions(), set(), "sessions")
    # Elsewhere it is a payload like any other.
    upstream.accepted(upstream.new[GitHub].sign(body))


@case("Slack's retries, signed anew, go by the event's id in the body")
def slack_retries(world):
    upstream = Upstream(world)
    body = json.dumps({"type": "event_callback", "event_id": "Ev123", "event": {"type": "app_mention"}}).encode()
    now = int(time.time())
    first = upstream.accepted(upstream.new[Slack].sign(body, at=now - 10))
    again = upstream.accepted(upstream.new[Slack].sign(body, at=now))
    equal((again["session_id"], again["duplicate"]), (first["session_id"], True), "Slack's retry")
    other = upstream.accepted(upstream.new[Slack].sign(body.replace(b"Ev123", b"Ev124"), at=now))
    equal(upstream.sessions(), {first["session_id"], other["session_id"]}, "sessions")


@case("in open mode a signature is wanted all the same")
def open_mode(world):
    double = world.http_agent(lambda turn: {"result": {}})
    sender = GitHub("hook", "x" * 32)
    server = world.server(agents=[http_agent("hook", double, webhook_verify="github", webhook_secret=sender.secret)])
    client = server.client()
    equal(client.post("/agent/webhook/hook", {}).status, 401, "without a signature")
    signed = sender.sign(b"{}")
    status, body = send(server, "/agent/webhook/hook", signed.headers, signed.body)
    equal(status, 202, f"signed: {body}")
    equal(len(client.sessions()), 1, "sessions")
