"""What somebody without the secret can make of a genuine request: each is (what was done, headers, body)."""

import base64
import json
import time

from signing import JSON


def altered_bodies(body, random):
    """Other bytes, among them such as mean the same to a JSON parser."""
    value = json.loads(body)
    at = random.randrange(len(body))
    yield "a flipped bit", body[:at] + bytes([body[at] ^ 1 << random.randrange(7)]) + body[at + 1:]
    yield "a byte less", body[:-1]
    yield "an appended space", body + b" "
    yield "an appended line", body + b"\n"
    yield "a leading space", b" " + body
    yield "a byte order mark", b"\xef\xbb\xbf" + body
    yield "another spelling", json.dumps(value, indent=1).encode()
    yield "escaped characters", json.dumps(value, separators=(",", ":"), ensure_ascii=True).replace("/", "\\/").encode() + b""
    yield "an added member", json.dumps({**value, "amount": random.randrange(10**9)}).encode()
    yield "nothing", b""
    yield "an empty object", b"{}"


def altered_hex(signature):
    scheme, _, digits = signature.partition("=")
    yield "in capitals", scheme + "=" + digits.upper()
    yield "with a scheme in capitals", scheme.upper() + "=" + digits
    yield "without its scheme", digits
    yield "with its scheme alone", scheme + "="
    yield "a digit shorter", signature[:-1]
    yield "a digit longer", signature + "0"
    yield "twice in one", f"{signature},{signature}"
    yield "with a space in it", f"{scheme}= {digits}"
    yield "in quotes", f'"{signature}"'
    yield "as base64", scheme + "=" + base64.b64encode(bytes.fromhex(digits)).decode()
    yield "as another scheme", ("sha1=" if scheme == "sha256" else "v1=") + digits
    yield "escaped", scheme + "%3D" + digits


def altered_base64(signature):
    digits = signature.partition(",")[2]
    yield "without its version", digits
    yield "with its version alone", "v1,"
    yield "as another version", "v2," + digits
    yield "as the asymmetric version", "v1a," + digits
    yield "with a version in capitals", "V1," + digits
    yield "in small letters", signature.lower()
    yield "without padding", signature.rstrip("=")
    yield "with more padding", signature + "="
    yield "as hex", "v1," + base64.b64decode(digits).hex()
    yield "with a space in it", f"v1, {digits}"
    yield "separated by commas", f"v1,AAAA,{signature}"
    yield "in quotes", f'"{signature}"'


def altered_bearer(signature):
    secret = signature.partition(" ")[2]
    yield "without its scheme", secret
    yield "as another scheme", "Basic " + base64.b64encode(f":{secret}".encode()).decode()
    yield "as a token", "Token " + secret
    yield "in capitals", "Bearer " + secret.upper()
    yield "a character shorter", "Bearer " + secret[:-1]
    yield "a character longer", "Bearer " + secret + "x"
    yield "a first part", "Bearer " + secret[:16]
    yield "with two spaces", "Bearer  " + secret
    yield "twice in one", f"Bearer {secret}, Bearer {secret}"
    yield "in quotes", f'Bearer "{secret}"'
    yield "alone", "Bearer"
    yield "with nothing", "Bearer "


ALTERED = {"github": altered_hex, "slack": altered_hex, "standard": altered_base64, "bearer": altered_bearer}


def altered_signatures(signed, other, random):
    sender, parts = signed.sender, signed.parts
    yield "no signature", None
    yield "an empty signature", ""
    yield "a blank signature", " "
    yield "garbage", "".join(random.choice("0123456789abcdef=,+/ ~v") for _ in range(random.randrange(1, 90)))
    for what, key in (("a wrong key", random.randbytes(32)), ("no key", b""), ("another agent's key", other.key()),
                      ("the key and a line's end", sender.key() + b"\n"),
                      ("the key as it is written", b"whsec_" + sender.key()), ("the agent's name", sender.agent.encode())):
        if sender.name == "bearer":
            key = key.hex().encode() if what == "a wrong key" else key.strip() + b"0" if b"\n" in key else key
        yield what, sender.mac(key, signed.body, parts.get("id"), parts.get("at"))
    for what, signature in ALTERED[sender.name](parts["signature"]):
        yield "a signature " + what, signature


def moved_in_time(signed, random):
    """Properly signed, but not now."""
    now = int(time.time())
    for offset in (-301, 301, -302, 302, -3600, 3600, -86400, random.randrange(-10**6, -301), random.randrange(302, 10**6), -now, 10**10):
        yield f"{offset:+d} s", signed.sender.sign(signed.body, at=now + offset)
    for at in ("", "now", f"+{now}", f"{now}.0", f"{now}000", hex(now), f"0x{now}", f"{now} ", f"-{now}", f"{now};", "9" * 30):
        yield f"the time {at!r}", signed.sender.sign(signed.body, at=at)


def doubled(signed, random):
    """A header that comes twice, and says two things."""
    right = signed.headers
    wrong = dict(signed.but(signature=signed.sender.mac(random.randbytes(16).hex().encode(), signed.body, "x", "1")).headers)
    name = signed.sender.signature_header
    yield "two signatures, the wrong one first", [(name, wrong[name]), *right]
    yield "two signatures, the wrong one last", [*right, (name, wrong[name])]
    for header, value in right:
        if header not in (name, JSON[0], "X-GitHub-Delivery"):
            yield f"two {header}", [(header, value + "0"), *right]
            yield f"two {header}, the wrong one last", [*right, (header, value + "0")]


def forgeries(signed, other, random):
    sender = signed.sender
    if sender.name != "bearer":
        for what, body in altered_bodies(signed.body, random):
            if body != signed.body:
                yield "the body with " + what, signed.headers, body
    for what, signature in altered_signatures(signed, other, random):
        yield what, signed.but(signature=signature).headers, signed.body
    # Signed for another agent, with that agent's own right secret.
    yield "another agent's request", other.sign(signed.body).headers, signed.body
    if sender.has_time:
        # Rewritten after it was signed: fresh, and within the tolerance.
        for step in (-1, 1, 60):
            yield f"a time moved by {step} s", signed.but(at=str(int(signed.parts["at"]) + step)).headers, signed.body
        yield "no time", signed.but(at=None).headers, signed.body
        for what, moved in moved_in_time(signed, random):
            # HTTP itself drops space around a header's value.
            if moved.parts["at"].strip() == moved.parts["at"]:
                yield what, moved.headers, signed.body
    if sender.has_id and sender.has_time:
        yield "another id", signed.but(id=signed.parts["id"] + "0").headers, signed.body
        yield "no id", signed.but(id=None).headers, signed.body
        yield "an empty id", signed.but(id="").headers, signed.body
        yield "several wrong signatures", signed.but(
            signature=" ".join(sender.mac(random.randbytes(24), signed.body, "x", "1") for _ in range(5))).headers, signed.body
    for what, headers in doubled(signed, random):
        yield what, headers, signed.body
