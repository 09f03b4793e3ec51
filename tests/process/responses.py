"""Reads HTTP responses to the letter: what a lenient client would forgive is an error here."""

import json
import re

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) [\x20-\x7e]*\r\n")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*?)[ \t]*\r\n")
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")


class Malformed(Exception):
    pass


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def closes(self):
        return self.headers.get("connection", "").lower() == "close"

    @property
    def is_stream(self):
        return self.headers.get("content-type", "").startswith("text/event-stream")

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise Malformed(f"a body that is not JSON: {self}") from None

    def __str__(self):
        return f"{self.status} {self.body[:300].decode('utf-8', 'replace')}"


def take(raw, to_head=False):
    """(response, how many bytes it took), or None while it is incomplete. A stream is complete after its head."""
    line = STATUS_LINE.match(raw)
    end = raw.find(b"\r\n\r\n")
    if not line:
        if raw and not b"HTTP/1.1 ".startswith(raw[:9]) or b"\n" in raw:
            raise Malformed(f"no status line: {raw[:100]!r}")
        return None
    if end < 0:
        return None
    headers = _headers(raw[line.end():end + 2])
    status, at = int(line.group(1)), end + 4
    response = Response(status, headers, b"")
    if to_head or status < 200 or status in (204, 304) or response.is_stream:
        return response, at
    if headers.get("transfer-encoding") == "chunked":
        return _chunked(response, raw, at)
    length = headers.get("content-length", "")
    if not length.isdigit():
        raise Malformed(f"neither a length nor chunks: {raw[:end]!r}")
    if len(raw) < at + int(length):
        return None
    response.body = raw[at:at + int(length)]
    return response, at + int(length)


def _headers(text):
    headers, at = {}, 0
    while at < len(text):
        line = HEADER.match(text, at)
        if not line:
            raise Malformed(f"a header line that is none: {text[at:at + 100]!r}")
        name = line.group(1).decode().lower()
        if name in headers:
            raise Malformed(f"the header {name} is there twice: {text[:300]!r}")
        headers[name] = line.group(2).decode()
        at = line.end()
    if "content-length" in headers and "transfer-encoding" in headers:
        raise Malformed(f"a length and chunks: {text[:300]!r}")
    return headers


def _chunked(response, raw, at):
    parts = []
    while True:
        line = CHUNK_SIZE.match(raw, at)
        if not line:
            if len(raw) - at > 10:
                raise Malformed(f"a chunk size that is none: {raw[at:at + 40]!r}")
            return None
        size, at = int(line.group(1), 16), line.end()
        if len(raw) < at + size + 2:
            return None
        if raw[at + size:at + size + 2] != b"\r\n":
            raise Malformed(f"no line end after a chunk: {raw[at + size:at + size + 40]!r}")
        parts.append(raw[at:at + size])
        at += size + 2
        if size == 0:
            response.body = b"".join(parts)
            return response, at


def check_refusal(response, rpc=False):
    """Every refusal has a JSON body that says what is wrong: in our words, or with `rpc` also in those of JSON-RPC."""
    body = response.json
    error = body.get("error") if isinstance(body, dict) else None
    in_rpc = rpc and isinstance(body, dict) and body.get("jsonrpc") == "2.0" and "id" in body
    if not isinstance(error, dict) or not (in_rpc or body.get("ok") is False):
        raise Malformed(f"a refusal that is no error object: {response}")
    if not isinstance(error.get("code"), int if in_rpc else str) or not isinstance(error.get("message"), str):
        raise Malformed(f"a refusal without a code or a message: {response}")
    if not error["code"] or not error["message"]:
        raise Malformed(f"a refusal that says nothing: {response}")
    if response.headers.get("content-type") != "application/json":
        raise Malformed(f"a refusal of the wrong type: {response.headers}")
