"""A terminal that a command runs on: what it shows, as far as our own programs use terminals, and keys to press."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from client import check, wait_until
from harness import clean_environment

SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Terminal:
    """A pseudo terminal; `raw` is all that was ever written to it."""

    def __init__(self, columns=80, lines=24):
        self.outside, self.inside = pty.openpty()
        os.set_blocking(self.outside, False)
        self.raw = b""
        self.resize(columns, lines)

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        fcntl.ioctl(self.inside, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        with contextlib.suppress(OSError):
            while piece := os.read(self.outside, 65536):
                self.raw += piece
        return self.raw.decode("utf-8", "replace")

    def modes(self):
        return termios.tcgetattr(self.inside)[:4]

    def close(self):
        os.close(self.outside)
        os.close(self.inside)


class Program:
    """A command whose terminal is `terminal`, for input and output."""

    def __init__(self, world, terminal, arguments, env=None):
        self.terminal = terminal

        def adopt():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(arguments, stdin=terminal.inside, stdout=terminal.inside, stderr=terminal.inside,
                                        cwd=world.folder, preexec_fn=adopt, env=clean_environment(env))
        world.closing(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def press(self, keys):
        os.write(self.terminal.outside, keys.encode())

    def screen(self):
        """The lines that the last frame has drawn: each is positioned and cleared before it is written."""
        rows = {}
        text = self.terminal.read().rpartition("\x1b[?1049h")[2]
        place = 0
        for piece in re.split(r"(\x1b\[[?0-9;]*[A-Za-z])", text):
            match = SEQUENCE.fullmatch(piece)
            if match and match.group(2) == "H":
                place = int(match.group(1).partition(";")[0])
                rows[place] = ""
            elif not match:
                rows[place] = rows.get(place, "") + piece
        return "\n".join(rows.get(i, "") for i in range(1, self.terminal.lines + 1))

    def wait_for(self, pattern, what=None, deadline=15.0):
        def found():
            check(self.process.poll() is None, f"it exited with {self.process.returncode}:\n{self.terminal.read()[-2000:]}")
            return re.search(pattern, self.screen())
        try:
            return wait_until(found, what or f"{pattern!r} on the screen", deadline)
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{self.screen()}") from None

    def press_until(self, keys, pattern):
        """For what has just come in, which takes no answer for a moment: pressed again until it counts."""
        wait_until(lambda: self.press(keys) or re.search(pattern, self.screen()), f"{pattern!r} on the screen after {keys!r}")

    def exit_code(self, deadline=10.0):
        try:
            return self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {deadline:g} s; it shows:\n{self.screen()}") from None

    def signal(self, number):
        os.killpg(self.process.pid, number)
