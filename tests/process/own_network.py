"""A network of a test's own, in which every address is this machine's: what connects anywhere arrives and is counted."""

import contextlib
import ctypes
import ipaddress
import os
import socket
import struct
import subprocess
import threading
from pathlib import Path

from client import check, wait_until

CLONE_NEWNET = 0x40000000
A, AAAA = 1, 28
# Where the listener is sent the test's own connections: public, and named by no test.
MARK = "9.9.9.9"


def enter_own_network(world):
    """Moves this thread, and the threads and processes it starts from now on, until the case ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise AssertionError(f"a network namespace (needs root): {os.strerror(ctypes.get_errno())}")

    def leave():
        check(libc.setns(home, CLONE_NEWNET) == 0, "cannot go back to the machine's own network")
        os.close(home)

    world.closing(leave)
    for arguments in ("link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"):
        subprocess.run(["ip", *arguments.split()], check=True)


def plain(address):
    """An IPv4 address in its IPv6 spelling as the IPv4 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    return str(getattr(found, "ipv4_mapped", None) or found)


def close_all(sockets):
    for one in sockets:
        # Wakes the thread that waits on it; a socket of datagrams complains all the same.
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()


class Hit:
    def __init__(self, address, port):
        self.address, self.port, self.head = address, port, b""

    def __repr__(self):
        return f"{self.address} port {self.port}: {self.head[:80]!r}"


class Listener:
    """Counts what connects to one of `ports` at any address. `respond(hit)` gives the bytes to answer with; each
    connection is closed afterwards."""

    def __init__(self, respond, ports=(80, 443)):
        self.respond, self.hits, self._marks = respond, [], []
        self._sockets = [self._open(port) for port in ports]

    def _open(self, port):
        listening = socket.create_server(("::", port), family=socket.AF_INET6, backlog=1024, dualstack_ipv6=True)
        threading.Thread(target=self._accept, args=(listening, port), daemon=True).start()
        return listening

    def _accept(self, listening, port):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                hit = Hit(plain(connection.getsockname()[0]), port)
                (self._marks if hit.address == MARK else self.hits).append(hit)
                threading.Thread(target=self._serve, args=(connection, hit), daemon=True).start()

    def _serve(self, connection, hit):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20)
            # A TLS hello gets no answer.
            while b"\r\n\r\n" not in hit.head and not hit.head.startswith(b"\x16"):
                data = connection.recv(65536)
                if not data:
                    return
                hit.head += data
            answer = b"" if hit.head.startswith(b"\x16") else self.respond(hit)
            connection.sendall(answer)
            # What is left unread would reset the connection before the answer is.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

    def all_hits(self):
        """Those so far. Connections are accepted in order: once the test's own is there, so are all before it."""
        expected = len(self._marks) + len(self._sockets)
        for listening in self._sockets:
            socket.create_connection((MARK, listening.getsockname()[1])).close()
        wait_until(lambda: len(self._marks) == expected, "the listener takes the test's own connections")
        return list(self.hits)

    def close(self):
        close_all(self._sockets)


class Resolver:
    """A DNS server at the addresses that this machine asks. `names` gives for each name a function from A or AAAA to
    addresses; those of the other family are left out, and all have a lifetime of 0. `answers` keeps what was answered."""

    def __init__(self, names):
        self.names, self.answers = names, []
        self._sockets = [self._open(address) for address in self._configured()]

    @staticmethod
    def _configured():
        lines = [line.split() for line in Path("/etc/resolv.conf").read_text().splitlines()]
        return [words[1] for words in lines if words[:1] == ["nameserver"]] or ["127.0.0.1"]

    def _open(self, address):
        asked = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind((address, 53))
        threading.Thread(target=self._serve, args=(asked,), daemon=True).start()
        return asked

    def _serve(self, asked):
        with contextlib.suppress(OSError):
            while True:
                query, client = asked.recvfrom(4096)
                if not query:
                    return
                asked.sendto(self._answer(query), client)

    def _answer(self, query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1").lower())
            at += 1 + query[at]
        kind = struct.unpack("!H", query[at + 1:at + 3])[0]
        addresses = self.names.get(".".join(labels))
        rows = []
        for address in map(ipaddress.ip_address, addresses(kind) if addresses else []):
            if kind == {4: A, 6: AAAA}[address.version]:
                self.answers.append(str(address))
                rows.append(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(address.packed)) + address.packed)
        flags = 0x8180 if addresses else 0x8183
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(rows), 0, 0) + query[12:at + 5] + b"".join(rows)

    def close(self):
        close_all(self._sockets)
