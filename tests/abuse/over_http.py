"""Malformed HTTP: request lines, headers, bodies, addresses, and rude senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tests.abuse import junk, over_mcp
from tests.abuse.attack import Attack, Manner

if TYPE_CHECKING:
    from random import Random

HOST: Final = b"host: 127.0.0.1\r\n"
CLOSE: Final = b"connection: close\r\n"
WEBSOCKET: Final = (
    b"upgrade: websocket\r\n"
    b"connection: upgrade\r\n"
    b"sec-websocket-version: 13\r\n"
    b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
PATHS: Final = (
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/mcp",
    "/v1/catalog",
    "/v1/prompt",
    "/v1/find",
    "/v1/openapi.json",
    "/v1/skills/house-style",
    "/v1/skills/house-style/files/SKILL.md",
    "/v1/skills/pdf-forms/files/references/fields.md",
    "/.well-known/agent-skills/index.json",
    "/.well-known/skills/index.json",
    "/.well-known/agent-skills/house-style/SKILL.md",
    "/.well-known/agent-skills/pdf-forms.tar.gz",
)
TAILS: Final = (
    "/..",
    "/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/%00",
    "/SKILL.md%00.png",
    "/%ff%fe",
    "/%",
    "/%zz",
    "//",
    "/./.",
    "/..;/",
    "/\\..\\",
    "/%5c..%5c",
    "/con",
    "/a" * 500,
    "/" + "x" * 4_000,
    ";jsessionid=1",
    "%0d%0aset-cookie:%20a=b",
    ".bak",
    "~",
)
FIELDS: Final = (
    "q",
    "k",
    "style",
    "budget",
    "format",
    "cursor",
    "offset",
    "limit",
    "",
    "q[]",
    "__proto__",
)


def attack(random: Random) -> Attack:
    """Return one malformed request, or one of a sender who does not behave."""
    return random.choice(_KINDS)(random)


def get(target: str) -> bytes:
    """Return a good request, but for what the target may be."""
    line = f"GET {target} HTTP/1.1\r\n".encode("utf-8", "surrogatepass")
    return line + HOST + CLOSE + b"\r\n"


def _line(random: Random) -> Attack:
    verb = random.choice(
        (
            b"GET",
            b"POST",
            b"get",
            b"",
            b"FOO",
            b"G\x00T",
            b"GET" * 900,
            b"TRACE",
            b"CONNECT",
            b"PRI",
            b"HEAD",
            b"\xff\xfe",
        )
    )
    target = random.choice(
        (
            b"/healthz",
            b"",
            b"*",
            b"http://127.0.0.1/healthz",
            b"http://evil.test/",
            b"//",
            b"/ /",
            b"/\x00",
            b"/\xff",
            b"/\x7f",
            b"?",
            b"127.0.0.1:80",
            b"/" + b"a" * 70_000,
        )
    )
    version = random.choice(
        (
            b"HTTP/1.1",
            b"HTTP/1.0",
            b"HTTP/2.0",
            b"HTTP/9.9",
            b"",
            b"HTTP/1.1 x",
            b"http/1.1",
            b"SPAM",
        )
    )
    end = random.choice((b"\r\n", b"\n", b"\r", b"\r\n\r\n"))
    data = verb + b" " + target + b" " + version + end + HOST + CLOSE + b"\r\n"
    # A head without an end is waited for, and then given up.
    return Attack("http: request line", data, unanswered=True)


def _header(random: Random) -> Attack:
    wrong = random.choice(
        (
            HOST,  # twice
            b"host: evil.test\r\n",
            b"no colon\r\n",
            b": no name\r\n",
            b"na me: x\r\n",
            b"x: a\x00b\r\n",
            b"x: a\rb\r\n",
            b"x: \xff\xfe\r\n",
            b"x: a\r\n folded\r\n",
            b"x\xe9: y\r\n",
            b"content-length: -1\r\n",
            b"content-length: 1, 2\r\n",
            b"content-length: 1\r\ncontent-length: 2\r\n",
            b"content-length: x\r\n",
            b"content-length: 99999999999999999999999999\r\n",
            b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
            b"transfer-encoding: gzip\r\n",
            b"transfer-encoding: chunked, chunked\r\n",
            b"transfer-encoding: xchunked\r\n",
            b"expect: 100-continue\r\n",
            b"expect: the unexpected\r\n",
            WEBSOCKET,
            b"upgrade: h2c\r\nhttp2-settings: x\r\nconnection: upgrade, close\r\n",
            b"range: bytes=0-0, 1-1, 2-\r\n",
            b"range: bytes=99999999999999-\r\n",
            b"if-none-match: " + b'"x",' * 1_000 + b"\r\n",
            b"if-modified-since: yesterday\r\n",
            b"accept-encoding: *;q=x\r\n",
            b"origin: null\r\n",
            b"origin: http://localhost\r\norigin: http://evil.test\r\n",
            b"authorization: Bearer \xff\r\n",
            b"cookie: " + b"a=b; " * 3_000 + b"\r\n",
            b"x: " + b"y" * 70_000 + b"\r\n",
            b"".join(b"x-%d: y\r\n" % each for each in range(2_000)),
            b"user-agent: \x1b[31mred\r\n",
            b"x-forwarded-for: 1.2.3.4\r\nforwarded: for=evil\r\n",
        )
    )
    path = random.choice(PATHS).encode()
    data = b"GET " + path + b" HTTP/1.1\r\n" + HOST + CLOSE + wrong + b"\r\n"
    return Attack("http: headers", data, unanswered=True)


def _address(random: Random) -> Attack:
    target = random.choice(PATHS)
    if random.randrange(3):
        target += random.choice(TAILS)
    else:
        target += (
            "/" + quote(junk.text(random).encode("utf-8", "surrogatepass"))[:8_000]
        )
    return Attack("http: addresses", get(target))


def _query(random: Random) -> Attack:
    path = random.choice([each for each in PATHS if each.startswith("/v1/")])
    pairs = [
        f"{random.choice(FIELDS)}={_quoted(random)}" for _ in range(random.randrange(6))
    ]
    return Attack("http: queries", get(f"{path}?{'&'.join(pairs)}"))


def _verb(random: Random) -> Attack:
    body = random.choice((b"", b"{}", random.randbytes(300)))
    verb = random.choice(
        (
            b"POST",
            b"PUT",
            b"DELETE",
            b"PATCH",
            b"OPTIONS",
            b"HEAD",
            b"TRACE",
            b"PROPFIND",
        )
    )
    line = verb + b" " + random.choice(PATHS).encode() + b" HTTP/1.1\r\n"
    size = b"content-length: %d\r\n" % len(body)
    data = line + HOST + CLOSE + size + b"\r\n" + body
    return Attack("http: methods", data)


def _chunked(random: Random) -> Attack:
    body = random.choice(
        (
            b"zz\r\nab\r\n0\r\n\r\n",
            b"-1\r\nab\r\n0\r\n\r\n",
            b"2\r\nabcd\r\n0\r\n\r\n",
            b"2\r\nab0\r\n\r\n",
            b"ffffffffffffffff\r\nab",
            b"f" * 50 + b"\r\nab",
            b"2;" + b"x" * 70_000 + b"\r\nab\r\n0\r\n\r\n",
            b"2\r\n{}\r\n0\r\nx: y\r\n\r\n",
            b"2\r\n{}\r\n0\r\nbad trailer\r\n\r\n",
            b"1\r\n{\r\n" * 5_000 + b"0\r\n\r\n",
            b"100000\r\n" + b"x" * 0x100000 + b"\r\n2\r\nab\r\n0\r\n\r\n",
            b"\r\n\r\n",
            b"",
        )
    )
    line = b"POST /mcp HTTP/1.1\r\n" + HOST + CLOSE
    kind = b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return Attack("http: chunks", line + kind + body, unanswered=True)


def _body(random: Random) -> Attack:
    """Say another length than the body has."""
    good = over_mcp.good_call()
    head, _, body = good.partition(b"\r\n\r\n")
    real = b"content-length: %d" % len(body)
    said = random.choice((0, 1, len(body) - 1, len(body) + 1, 10**6, 2**20 + 1, 10**12))
    head = head.replace(real, b"content-length: %d" % said)
    return Attack("http: lengths", head + b"\r\n\r\n" + body)


def _pipelined(random: Random) -> Attack:
    parts = [
        random.choice((get("/healthz"), over_mcp.good_call())).replace(CLOSE, b"")
        for _ in range(random.randrange(1, 12))
    ]
    last = random.choice((_line, _header, _body))(random)
    return Attack("http: pipelines", b"".join(parts) + last.data, unanswered=True)


def _rude(random: Random) -> Attack:
    """Behave badly in the midst of a good request, or after one."""
    good = random.choice(
        (over_mcp.good_call(), get("/v1/catalog"), get(PATHS[-1]), get("/metrics"))
    )
    part = good[: random.randrange(1, len(good) + 1)]
    manner = random.choice((Manner.LEAVE, Manner.RESET, Manner.HALF, Manner.DEAF))
    return Attack(f"http: {manner.value}", part, manner, unanswered=True)


def slow(random: Random) -> Attack:
    """Return one of a sender who does not come to an end."""
    good = over_mcp.good_call()
    part = good[: random.randrange(len(good))]
    manner = random.choice((Manner.STALL, Manner.DRIP))
    return Attack(f"http: {manner.value}", part, manner, unanswered=True)


def _quoted(random: Random) -> str:
    text = junk.text(random)[:3_000]
    if random.random() < 0.5 and text.isascii() and text.isprintable():
        return text.replace(" ", "+")
    return quote(text.encode("utf-8", "surrogatepass"))


_KINDS: Final = (
    _line,
    _header,
    _header,
    _address,
    _address,
    _query,
    _query,
    _verb,
    _chunked,
    _body,
    _pipelined,
    _rude,
)
