"""Bodies that a JSON parser may stumble over. Each maker takes a Random, and gives the bytes, what an ask may answer,
and what a trigger may answer, whose payload is opaque to the server."""

import json

from shots import MAYBE, REFUSED, TAKEN

BROKEN_UTF8 = [b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\x81", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xed\xbf\xbf",
               b"\xf0\x80\x80\xaf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xfe", b"\xff", b"\xe2\x82",
               b"\xf0\x9f\x92", b"\xc3", b"\xc3\x28"]
NO_NUMBERS = [b"NaN", b"Infinity", b"-Infinity", b"nan", b"+1", b"01", b"-01", b".5", b"1.", b"1e", b"1e+", b"0x10",
              b"-", b"--1", b"1_000", b"1,000", b"0b1", b"1e5.5", "\u0661".encode()]
NO_JSON = [b"{", b"}", b"[", b"{]", b"[}", b"{'a':1}", b"{a:1}", b'{"a":1,}', b"[1,]", b"{,}", b'{"a"}', b'{"a":}',
           b"{:1}", b'{"a" 1}', b'{"a":1 "b":2}', b"/*x*/{}", b"{}//x", b"{}{}", b"{} x", b"undefined", b"True", b'"',
           b'{"a":"\n"}', b'{"a":"\t"}', b'{"a":"\\x41"}', b'{"a":"\\u12"}', b'{"a":"\\u{1F600}"}', b"<xml/>",
           b"a=1&b=2", b"--x\r\n", b"{}\x00", b'{"a":"\x00"}', b"\x00{}", b"{}\x1a", b"\x1f\x8b\x08\x00\x00",
           b"%7B%7D", b"{}\xff"]
SURROGATES = [b"\\ud800", b"\\udfff", b"\\ud800\\ud800", b"\\udc00\\ud800", b"\\ud83d", b"\\ud83dx", b"\\ud83d\\n"]
HUGE_NUMBERS = [b"1e99999", b"-1e99999", b"1e-99999", b"9" * 400, b"1" + b"0" * 5000, b"0." + b"0" * 5000 + b"1",
                b"18446744073709551616", b"-9223372036854775809", b"1.7976931348623159e308", b"1e400", b"-0", b"-0.0"]


def question(text, extra=b""):
    return b'{"questions":[{"question":"' + text + b'"' + extra + b"}]}"


def no_json(rng):
    return rng.choice(NO_JSON), REFUSED, REFUSED


def no_number(rng):
    return b'{"questions":[{"question":"?"}],"timeout":' + rng.choice(NO_NUMBERS) + b"}", REFUSED, REFUSED


def huge_number(rng):
    number = rng.choice(HUGE_NUMBERS)
    if rng.random() < 0.5:
        return question(b"?")[:-1] + b',"context":{"n":' + number + b"}}", MAYBE, MAYBE
    return question(b"?")[:-1] + b',"timeout":' + number + b"}", REFUSED, MAYBE


def broken_utf8(rng):
    junk = rng.choice(BROKEN_UTF8)
    if rng.random() < 0.3:
        return b'{"que' + junk + b'stions":[]}', REFUSED, REFUSED
    return question(b"Caf" + junk + b" open?"), REFUSED, REFUSED


def lone_surrogate(rng):
    return question(rng.choice(SURROGATES)), REFUSED, REFUSED


def escaped_nul(rng):
    return question(b"a\\u0000b") if rng.random() < 0.5 else b'{"a\\u0000":1}', REFUSED, REFUSED


def byte_order_mark(rng):
    return b"\xef\xbb\xbf" + question(b"?"), REFUSED, REFUSED


def utf16(rng):
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
    return question(b"?").decode().encode(encoding), REFUSED, REFUSED


def twice(rng):
    body = rng.choice([b'{"questions":[],"questions":[{"question":"?"}]}',
                       b'{"questions":[{"question":"?","question":"!"}]}',
                       b'{"timeout":1,"questions":[{"question":"?"}],"timeout":60}',
                       b'{"context":{"a":1,"a":2},"questions":[{"question":"?"}]}',
                       b'{"question\\u0073":[],"questions":[{"question":"?"}]}'])
    return body, REFUSED, TAKEN


def deep(rng):
    depth = rng.choice([65, 66, 100, 1000, 1000, 5000, 100_000] if rng.random() < 0.1 else [65, 66, 100, 500])
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]"), (b" [ ", b" ] ")])
    nested = opening * depth + b"1" + (closing * depth if rng.random() < 0.7 else b"")
    return b'{"questions":[{"question":"?"}],"context":' + nested + b"}", REFUSED, REFUSED


def cut(rng):
    whole = question(b"Caf\xc3\xa9?", b',"options":["a","b"]')
    return whole[:rng.randrange(1, len(whole))], REFUSED, REFUSED


def no_object(rng):
    return rng.choice([b"null", b"true", b"0", b'"x"', b"[]", b"[{}]", b"[[]]", b" 1 ", b'""']), REFUSED, REFUSED


def many(rng):
    if rng.random() < 0.5:
        body = b'{"questions":[' + b",".join([b'{"question":"?"}'] * rng.choice([5, 50, 2000])) + b"]}"
    else:
        body = b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(rng.choice([10, 1000, 5000]))) + b"}"
    return body, REFUSED, TAKEN


def long_text(rng):
    size = rng.choice([4001, 5000, 70_000, 70_000, 900_000] if rng.random() < 0.1 else [4001, 5000, 20_000])
    return question(b"a" * size), REFUSED, TAKEN


MAKERS = [no_json, no_json, no_json, no_number, huge_number, broken_utf8, broken_utf8, lone_surrogate, escaped_nul,
          byte_order_mark, utf16, twice, deep, cut, cut, no_object, many, long_text]


def value(rng, depth=0):
    """Any JSON value, as Python holds it."""
    pick = rng.randrange(14 if depth < 3 else 11)
    if pick == 11:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if pick >= 12:
        return {rng.choice(["question", "options", "label", "a", "", "\u202e", "__proto__"]): value(rng, depth + 1)
                for _ in range(rng.randrange(4))}
    return [None, True, False, 0, -1, 1e308, 2**63, "", "x", "\u202e\U0001f600", "a" * 300][pick]


def misfit(rng, names):
    """An object that has some of these names, with values of any type."""
    chosen = [name for name in names if rng.random() < 0.6] + (["surplus"] if rng.random() < 0.2 else [])
    return json.dumps({name: value(rng) for name in chosen}).encode()
