"""How long a client that waits at one node takes to hear of an answer that another node took."""

import json
import select
import time

from client import check, equal, wait_until


class _Stamped(list):
    """Remembers when each of its elements came."""

    def __init__(self):
        self.at = []

    def append(self, element):
        self.at.append(time.monotonic())
        super().append(element)


class Waiters:
    """An event stream at node `a`, and for each round two long polls there, while the answer goes to node `b`."""

    def __init__(self, world, a, b):
        self.world, self.a, self.b = world, a, b
        self.client_a, self.client_b = a.client(), b.client()
        self.stream = world.keep(a.events())
        self.stream.events = _Stamped()

    def round(self, deadline=20):
        """Seconds from b's 200 to each one's news, by name; below zero if the news came first."""
        asked = self.client_a.ask("Does anybody hear me?")
        session, question = asked["session_id"], asked["questions"][0]["id"]
        polls = {"question": self._poll(f"/agent/questions/{question}?wait=50"),
                 "session": self._poll(f"/agent/session/{session}?wait=50&until=finished")}
        # The answer to a later request means that the earlier ones were taken.
        equal(self.client_a.get("/healthz").status, 200, "/healthz of the node that is waited at")
        self.client_b.answer(session, "I do", question).expect(200)
        answered = time.monotonic()
        heard = self._arrivals(polls, answered + deadline)
        heard["stream"] = wait_until(lambda: self._told(session, "question_answered"), "the answer's event", deadline)
        for name, status in (("question", "answered"), ("session", "completed")):
            equal(self._body(polls[name])["status"], status, f"what the wait for the {name} said")
            polls[name].close()
        return {name: at - answered for name, at in heard.items()}

    def rounds(self, count):
        """Seconds of all rounds in order of size, by name."""
        all_rounds = [self.round() for _ in range(count)]
        return {name: sorted(one[name] for one in all_rounds) for name in all_rounds[0]}

    def _poll(self, path):
        connection = self.world.keep(self.a.raw())
        connection.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return connection

    def _arrivals(self, polls, end):
        waiting, heard = {one.socket.fileno(): name for name, one in polls.items()}, {}
        poll = select.poll()
        for descriptor in waiting:
            poll.register(descriptor, select.POLLIN)
        while waiting:
            for descriptor, _ in poll.poll(max(0.0, end - time.monotonic()) * 1000):
                heard[waiting.pop(descriptor)] = time.monotonic()
                poll.unregister(descriptor)
            check(not waiting or time.monotonic() < end, f"never heard of the answer: {list(waiting.values())}")
        return heard

    @staticmethod
    def _body(connection):
        wait_until(lambda: connection.read_available(0.1) or connection.ended, "the whole reply")
        return json.loads(connection.received.partition(b"\r\n\r\n")[2])

    def _told(self, session, of_type):
        events = self.stream.events
        return next((events.at[n] for n, event in enumerate(list(events))
                     if (event["data"]["session_id"], event["data"]["type"]) == (session, of_type)), None)


def shown(heard):
    """For the log of the test."""
    return ", ".join(f"{name} median {of(seconds, 0.5) * 1000:.0f} ms, longest {seconds[-1] * 1000:.0f} ms"
                     for name, seconds in heard.items())


def of(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
