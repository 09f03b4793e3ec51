"""Upstream systems that sign their webhooks, each in its own way; written from the schemes' own descriptions."""

import base64
import hashlib
import hmac
import time
import uuid

JSON = ("Content-Type", "application/json")


def hex_mac(key, text):
    return hmac.new(key, text, hashlib.sha256).hexdigest()


class Signed:
    """A request as its sender means it: `parts` name what its headers say, `headers` are the headers."""

    def __init__(self, sender, body, parts):
        self.sender, self.body, self.parts = sender, body, parts

    @property
    def headers(self):
        return [JSON, *self.sender.write(self.parts)]

    def but(self, **parts):
        """The same with other parts; the signature stays what it was."""
        return Signed(self.sender, self.body, {**self.parts, **parts})


class GitHub:
    name = "github"
    signature_header = "X-Hub-Signature-256"
    has_id, has_time = True, False

    def __init__(self, agent, secret):
        self.agent, self.secret = agent, secret

    def key(self):
        return self.secret.encode()

    def sign(self, body, id=None, at=None):
        return Signed(self, body, {"id": id or str(uuid.uuid4()), "signature": self.mac(self.key(), body)})

    def mac(self, key, body, id=None, at=None):
        return "sha256=" + hex_mac(key, body)

    def write(self, parts):
        return [(header, parts[part]) for part, header in
                (("id", "X-GitHub-Delivery"), ("signature", self.signature_header)) if parts.get(part) is not None]


class Standard:
    name = "standard"
    signature_header = "webhook-signature"
    has_id, has_time = True, True

    def __init__(self, agent, secret):
        self.agent, self.secret = agent, secret

    def key(self):
        return base64.b64decode(self.secret.removeprefix("whsec_"))

    def sign(self, body, id=None, at=None):
        id, at = id or f"msg_{uuid.uuid4().hex}", str(int(time.time()) if at is None else at)
        return Signed(self, body, {"id": id, "at": at, "signature": self.mac(self.key(), body, id, at)})

    def mac(self, key, body, id, at):
        signed = f"{id}.{at}.".encode() + body
        return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

    def write(self, parts):
        return [(f"webhook-{header}", parts[part]) for part, header in
                (("id", "id"), ("at", "timestamp"), ("signature", "signature")) if parts.get(part) is not None]


class Slack:
    name = "slack"
    signature_header = "X-Slack-Signature"
    has_id, has_time = False, True

    def __init__(self, agent, secret):
        self.agent, self.secret = agent, secret

    def key(self):
        return self.secret.encode()

    def sign(self, body, id=None, at=None):
        at = str(int(time.time()) if at is None else at)
        return Signed(self, body, {"at": at, "signature": self.mac(self.key(), body, None, at)})

    def mac(self, key, body, id, at):
        return "v0=" + hex_mac(key, f"v0:{at}:".encode() + body)

    def write(self, parts):
        return [(header, parts[part]) for part, header in
                (("at", "X-Slack-Request-Timestamp"), ("signature", self.signature_header)) if parts.get(part) is not None]


class Bearer:
    name = "bearer"
    signature_header = "Authorization"
    has_id, has_time = False, False

    def __init__(self, agent, secret):
        self.agent, self.secret = agent, secret

    def key(self):
        return self.secret.encode()

    def sign(self, body, id=None, at=None):
        return Signed(self, body, {"signature": f"Bearer {self.secret}"})

    def mac(self, key, body, id=None, at=None):
        return "Bearer " + key.decode("latin-1")

    def write(self, parts):
        return [(self.signature_header, parts["signature"])] if parts.get("signature") is not None else []


SCHEMES = (GitHub, Standard, Slack, Bearer)
