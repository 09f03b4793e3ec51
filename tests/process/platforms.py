"""Slack, Discord and a mail server, as far as a message needs them, and what they send back, signed."""

import email
import email.policy
import json
import re
import socketserver
import subprocess
import threading
import time

from client import wait_until
from doubles import LocalServer
from signing import Slack

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
INBOUND_SECRET = "a secret of the provider"
DISCORD_CHANNEL = "80351110224678912"


class Chats(LocalServer):
    """The APIs of Slack and Discord: every message is there at once."""

    def exchange(self, path, headers, body):
        said = {"ok": True, "channel": "C0OPS", "ts": "1.2"} if "/slack/" in path else {"id": "1600000000000000001"}
        return 200, {"Content-Type": "application/json"}, json.dumps(said).encode()


class _Post(socketserver.StreamRequestHandler):
    def handle(self):
        self.say("220 here")
        recipient = ""
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"RCPT":
                recipient = re.search(rb"<(.*)>", line)[1].decode()
            elif word == b"DATA":
                self.say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                raw = b"".join(line[1:] if line.startswith(b".") else line for line in lines)
                self.server.mails.append((recipient, email.message_from_bytes(raw, policy=email.policy.default)))
            elif word == b"QUIT":
                return self.say("221 bye")
            self.say("250 fine")

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps the mails that it is given."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        self.mails = []
        super().__init__(("127.0.0.1", 0), _Post)
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def mail_to(self, address):
        return wait_until(lambda: [mail for to, mail in list(self.mails) if to == address], f"a mail to {address}")[0]


class DiscordKey:
    """Python's own library has no Ed25519."""

    def __init__(self, folder):
        self.file = folder / "discord.pem"
        self._openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        self.public_hex = self._openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:].hex()

    def sign(self, body):
        at = str(int(time.time()))
        message = self.file.with_suffix(".message")
        message.write_bytes(at.encode() + body)
        signature = self._openssl("pkeyutl", "-sign", "-inkey", self.file, "-rawin", "-in", message)
        return {"X-Signature-Timestamp": at, "X-Signature-Ed25519": signature.hex()}

    @staticmethod
    def _openssl(*arguments):
        return subprocess.run(["openssl", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=20).stdout


class Platforms:
    """All of them, and the settings of a server that uses them."""

    def __init__(self, world):
        chats, self.post = world.keep(Chats()), world.keep(MailServer())
        self.discord_key = DiscordKey(world.folder)
        self.settings = {
            "slack": {"bot_token": "xoxb-test", "signing_secret": SIGNING_SECRET, "api_url": f"{chats.url}/slack"},
            "discord": {"bot_token": "test", "public_key": self.discord_key.public_hex, "api_url": f"{chats.url}/discord"},
            "email": {"smtp_url": self.post.url, "smtp_tls": False, "from": "holdpoint@example.org", "asks_may_add": ["example.org"],
                      "reply_to": "reply@example.org", "inbound_secret": [INBOUND_SECRET]},
        }

    @staticmethod
    def sign_slack(body):
        sender = Slack(None, SIGNING_SECRET)
        return dict(sender.write(sender.sign(body).parts))
