"""Outgoing calls reach no private address, by any spelling, name, redirect or proxy. A listener at every address counts."""

import ipaddress
import itertools
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

from client import check, equal, wait_until
from harness import BINARY, agent, case, clean_environment, external_agent
from hostile_urls import PRIVATE_4, PRIVATE_6, PUBLIC_4, PUBLIC_6, hostile_urls, public_urls
from own_network import A, AAAA, Listener, Resolver, enter_own_network, plain

own_network_case = partial(case, engine="any", why="the database server is not in the network that the case makes for itself")
REFUSED = "the address is private; [outgoing] allow_private does not list it"
PUBLIC = {PUBLIC_4, PUBLIC_6}


def settings(*allowed):
    return {"outgoing": {"allow_private": allowed}, "agents": {"max_attempts": 1}}


def answer(status=200, *headers):
    body = b'{"result":{}}'
    head = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def agents_for(urls):
    """Two of each: one that calls the URL back, and one that lives there."""
    for n, url in enumerate(urls):
        yield external_agent(f"c{n}", question_callback=url)
        yield agent(f"h{n}", runner="http", url=url)


def call(client, urls, without=()):
    """What became of one call by each of these agents: {name: the error, or None if it was answered}."""
    names = [name for n in range(len(urls)) for name in (f"c{n}", f"h{n}") if name not in without]

    def start(name):
        session = client.trigger(name) if name[0] == "h" else client.ask("Ship it?", agent=name)["session_id"]
        return session, name

    with ThreadPoolExecutor(8) as pool:
        started = dict(pool.map(start, names))

    def ended():
        found = {d["session_id"]: d["last_error"] for d in client.deliveries() if d["last_error"] or d["delivered_at"]}
        found |= {s["id"]: s["error"] for s in client.sessions() if s["status"] in ("completed", "failed")}
        return found if started.keys() <= found.keys() else None

    found = wait_until(ended, "every callback is tried and every turn has run", deadline=30)
    return {name: found[session] for session, name in started.items()}


def refused_at_load(server):
    """The agents whose URL `check` complains about; it lists them all."""
    result = subprocess.run([str(BINARY), "check", "--settings", str(server.settings_path)], capture_output=True,
                            text=True, timeout=60, env=clean_environment())
    return set(re.findall(r"/(\w+)\.md:\d+: (?:url|question_callback) must be", result.stderr))


def check_only_public(listener):
    """All connections so far."""
    hits = listener.all_hits()
    equal([hit for hit in hits if hit.address not in PUBLIC], [], "connections to private addresses")
    return hits


def address_of(url):
    """Where the system's resolver says that this URL leads, as the listener tells it."""
    address = plain(socket.getaddrinfo(urlsplit(url).hostname, 80, type=socket.SOCK_STREAM)[0][4][0])
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)


def takes_connections(address):
    """TCP has none to groups and broadcasts, nor to a link that is not named."""
    address = ipaddress.ip_address(address)
    unnamed_link = address.version == 6 and address.is_link_local
    return not (address.is_multicast or unnamed_link or str(address) == "255.255.255.255")


@own_network_case("no spelling of a private address is connected to by a callback or an http agent, and all are once allowed")
def spellings(world):
    enter_own_network(world)
    listener = world.keep(Listener(lambda hit: answer()))
    private = {f"n{n}.test": [address] for n, address in enumerate(PRIVATE_4 + PRIVATE_6)}
    # What a resolver may be asked for that takes "127.0.0.1." for a name.
    private |= {name: [name] for name in ("127.0.0.1", "169.254.169.254")}
    private |= {name: ["127.0.0.1"] for name in ("localhost", "a.localhost")}
    names = {name: lambda _, found=found: found for name, found in private.items()}
    world.keep(Resolver({**names, "public.test": lambda _: [PUBLIC_4, PUBLIC_6]}))
    urls, public = hostile_urls(private), public_urls("public.test")

    server = world.server(settings(), agents_for(urls), start=False)
    at_load = refused_at_load(server)
    for name in at_load:
        (server.folder / "agents" / f"{name}.md").unlink()
    server.start()
    errors = call(server.client(), urls, without=at_load)
    equal(check_only_public(listener), [], "connections")
    at_socket = {name for name, error in errors.items() if REFUSED in (error or "")}
    unresolved = {name for name, error in errors.items() if "resolve" in (error or "")}
    others = {urls[int(name[1:])]: errors[name] for name in errors.keys() - at_socket - unresolved}
    equal(others, {}, "neither refused nor without an address")
    for part in (at_load, at_socket):
        equal({n[1:] for n in part if n[0] == "c"}, {n[1:] for n in part if n[0] == "h"}, "callbacks and agents refused")

    # The same listener counts what is public, and what is allowed.
    control = world.server(settings(), agents_for(public)).client()
    equal(set(call(control, public).values()), {None}, "errors of calls to public addresses")
    equal(len(check_only_public(listener)), 2 * len(public), "connections to public addresses")
    listener.hits.clear()
    reachable = [url for n, url in enumerate(urls) if f"c{n}" in at_socket and takes_connections(address_of(url))]
    allowed = world.server(settings("0.0.0.0/0", "::/0"), agents_for(reachable)).client()
    errors = call(allowed, reachable)
    failed = [reachable[int(name[1:])] for name, error in errors.items() if error and "SSL" not in error]
    equal(failed, [], "not reached though allowed")
    hits = listener.all_hits()
    check(len(hits) >= 2 * len(reachable), f"{len(hits)} connections for {len(reachable)} URLs that are allowed")
    equal({address_of(url) for url in reachable} - {hit.address for hit in hits}, set(), "addresses that nothing came to")

    print(f"     {len(urls)} spellings, each as a callback and as an agent: {len(at_load)} refused at load, {len(at_socket)} "
          f"at the socket, {len(unresolved)} without an address; 0 connections, and {len(hits)} once allowed", flush=True)
    check(len(urls) >= 300 and len(at_socket) >= 600 and len(reachable) >= 300, "too few spellings to mean anything")


class Flip:
    """Answers each question for an address of its family with the next of `answers`, in turns."""

    def __init__(self, *answers):
        self.kind = A if ipaddress.ip_address(answers[0][0]).version == 4 else AAAA
        self.turns = itertools.cycle(answers)

    def __call__(self, kind):
        return next(self.turns) if kind == self.kind else []


@own_network_case("a name that flips between a public and a private address leads to the public one or nowhere")
def flipping_names(world):
    enter_own_network(world)
    # Hanging up makes the client drop what it knows: every call asks the resolver anew.
    listener = world.keep(Listener(lambda hit: b""))
    names = {}
    pairs = [(PUBLIC_4, a) for a in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0")]
    pairs += [(PUBLIC_6, a) for a in ("::1", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::1", "::ffff:127.0.0.1", "::")]
    for n, (public, private) in enumerate(pairs):
        names[f"public-first-{n}.test"] = Flip([public], [private])
        names[f"private-first-{n}.test"] = Flip([private], [public])
        names[f"both-{n}.test"] = Flip([public, private], [private, public])
        names[f"either-{n}.test"] = lambda kind, found=(PUBLIC_4, PUBLIC_6, private): found
    resolver = world.keep(Resolver(names))
    urls = [f"http://{name}/in" for name in names]
    client = world.server(settings(), agents_for(urls)).client()
    refused = 0
    for _ in range(8):
        errors = call(client, urls)
        check(all(errors.values()), f"answered by a listener that answers nothing: {errors}")
        refused += sum(REFUSED in error for error in errors.values())
    hits = check_only_public(listener)
    private = sum(address not in PUBLIC for address in resolver.answers)
    print(f"     {len(urls)} names, {16 * len(urls)} calls, {private} private addresses of {len(resolver.answers)} answered: "
          f"{refused} calls refused, {len(hits)} connections to public addresses, 0 to others", flush=True)
    check(private >= 200 and refused >= 100 and len(hits) >= 200, "the names did not flip")
    equal({hit.address for hit in hits}, PUBLIC, "public addresses reached")


def hints():
    """(status, headers) that would lead a trusting client away."""
    hosts = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::a00:1]",
             "localhost", "private.test", f"{PUBLIC_4}@127.0.0.1"]
    targets = [f"{scheme}://{host}/in" for scheme in ("http", "https") for host in hosts]
    targets += ["//127.0.0.1/in", "\\\\127.0.0.1\\in", "///127.0.0.1/in", "gopher://127.0.0.1:80/_in",
                "ftp://127.0.0.1:80/in", "dict://127.0.0.1:80/in", "file:///etc/passwd"]
    for status in (300, 301, 302, 303, 305, 307, 308):
        for target in targets:
            yield status, [f"Location: {target}"]
    for status in (200, 401, 407, 426, 503):
        yield status, ["Refresh: 0; url=http://127.0.0.1/in", "Content-Location: http://127.0.0.1/in", "Set-Cookie: a=b"]
        yield status, ['Alt-Svc: http/1.1="127.0.0.1:80", h2="127.0.0.1:443", h2c="127.0.0.1:80", h3="127.0.0.1:443"',
                       "Strict-Transport-Security: max-age=9999", "Upgrade: h2c, TLS/1.2"]
        yield status, ['WWW-Authenticate: Basic realm="x", Negotiate, NTLM', "Proxy-Authenticate: Basic, Negotiate"]


@own_network_case("a redirect, or another hint to go elsewhere, is not followed")
def redirected(world):
    enter_own_network(world)
    listed = list(hints())

    def lead_away(hit):
        asked = re.match(rb"POST /(\d+) ", hit.head)
        status, headers = listed[int(asked[1])] if asked else (200, [])
        return answer(status, *headers)

    listener = world.keep(Listener(lead_away))
    world.keep(Resolver({"private.test": lambda _: ["127.0.0.1", "::1"]}))
    urls = [f"http://{PUBLIC_4}/{n}" for n in range(len(listed))]
    client = world.server(settings(), agents_for(urls)).client()
    # Twice, as a hint may be remembered for the next call.
    for calls in (2 * len(urls), 4 * len(urls)):
        for name, error in call(client, urls).items():
            status, headers = listed[int(name[1:])]
            check(error is None if status == 200 else f"HTTP {status}" in error, f"HTTP {status} {headers}: {error}")
        hits = check_only_public(listener)
        check(len(hits) >= calls, f"{len(hits)} connections for {calls} calls")
    equal({hit.port for hit in hits}, {80}, "ports connected to")
    for hit in hits:
        check(not re.search(rb"(?i)\r\n(cookie|authorization|upgrade):", hit.head), f"sent: {hit.head}")
    print(f"     {len(listed)} redirects and hints, each to callbacks and agents, twice: 0 followed", flush=True)


@own_network_case("proxies and credentials of the environment change neither where a call goes nor what it says")
def environment(world):
    enter_own_network(world)
    listener = world.keep(Listener(lambda hit: answer(), ports=(80, 443, 1080, 3128)))
    world.keep(Resolver({"public.test": lambda _: [PUBLIC_4], "proxy.test": lambda _: ["10.0.0.9"]}))
    netrc = world.folder / ".netrc"
    netrc.write_text(f"machine {PUBLIC_4} login ana password secret\ndefault login ana password secret\n")
    urls = [f"http://{PUBLIC_4}/in", f"https://{PUBLIC_4}/in", "http://public.test/in", f"http://[{PUBLIC_6}]/in"]
    for proxy in ("http://10.0.0.9:3128", f"http://{PUBLIC_4}:3128", "socks5h://127.0.0.1:1080", "proxy.test:3128"):
        env = {"HOME": str(world.folder), "NETRC": str(netrc), "NO_PROXY": "", "no_proxy": ""}
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            env |= {name: proxy, name.upper(): proxy}
        errors = call(world.server(settings(), agents_for(urls), env=env).client(), urls)
        # The listener speaks no TLS.
        equal({urls[int(name[1:])] for name, error in errors.items() if error}, {urls[1]}, f"failed: {errors}")
        check_only_public(listener)
    hits = listener.all_hits()
    equal({(hit.address, hit.port) for hit in hits}, {(PUBLIC_4, 80), (PUBLIC_4, 443), (PUBLIC_6, 80)}, "connected to")
    for hit in hits:
        check(hit.port == 443 or hit.head.startswith(b"POST /in HTTP/1.1\r\n"), f"sent: {hit.head}")
        check(b"authorization:" not in hit.head.lower(), f"sent: {hit.head}")
