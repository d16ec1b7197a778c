"""Malformed HTTP: request lines, headers, bodies, addresses, and rude senders."""

from random import Random
from typing import Final
from urllib.parse import quote

from tests.abuse import junk, over_mcp
from tests.abuse.attack import Attack, Manner
from tests.abuse.junk import byte_table, table

HOST: Final = b"host: 127.0.0.1\r\n"
CLOSE: Final = b"connection: close\r\n"
PATHS: Final = table("paths")
TAILS: Final = table("tails")
FIELDS: Final = table("fields")


def attack(random: Random) -> Attack:
    """Return one malformed request, or one of a sender who does not behave."""
    return random.choice(_KINDS)(random)


def get(target: str) -> bytes:
    """Return a good request, but for what the target may be."""
    line = f"GET {target} HTTP/1.1\r\n".encode("utf-8", "surrogatepass")
    return line + HOST + CLOSE + b"\r\n"


def _line(random: Random) -> Attack:
    verb = random.choice(byte_table("verbs"))
    target = random.choice(byte_table("targets"))
    version = random.choice(byte_table("versions"))
    end = random.choice((b"\r\n", b"\n", b"\r", b"\r\n\r\n"))
    data = verb + b" " + target + b" " + version + end + HOST + CLOSE + b"\r\n"
    # A head without an end is waited for, and then given up.
    return Attack("http: request line", data, unanswered=True)


def _header(random: Random) -> Attack:
    many = b"".join(b"x-%d: y\r\n" % number for number in range(2000))
    wrong = random.choice((*byte_table("headers"), many))
    path = random.choice(PATHS).encode()
    data = b"GET " + path + b" HTTP/1.1\r\n" + HOST + CLOSE + wrong + b"\r\n"
    return Attack("http: headers", data, unanswered=True)


def _address(random: Random) -> Attack:
    target = random.choice(PATHS)
    if random.randrange(3):
        target += random.choice(TAILS)
    else:
        text = junk.text(random).encode("utf-8", "surrogatepass")
        target += f"/{quote(text)[:8_000]}"
    return Attack("http: addresses", get(target))


def _query(random: Random) -> Attack:
    path = random.choice([item for item in PATHS if item.startswith("/v1/")])
    pairs = [
        f"{random.choice(FIELDS)}={_quoted(random)}" for _ in range(random.randrange(6))
    ]
    return Attack("http: queries", get(f"{path}?{'&'.join(pairs)}"))


def _verb(random: Random) -> Attack:
    body = random.choice((b"", b"{}", random.randbytes(300)))
    verb = random.choice(byte_table("methods"))
    line = verb + b" " + random.choice(PATHS).encode() + b" HTTP/1.1\r\n"
    size = b"content-length: %d\r\n" % len(body)
    data = line + HOST + CLOSE + size + b"\r\n" + body
    return Attack("http: methods", data)


def _chunked(random: Random) -> Attack:
    body = random.choice(byte_table("chunks"))
    line = b"POST /mcp HTTP/1.1\r\n" + HOST + CLOSE
    kind = b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return Attack("http: chunks", line + kind + body, unanswered=True)


def _body(random: Random) -> Attack:
    """Say another length than the body has."""
    good = over_mcp.good_call()
    head, _, body = good.partition(b"\r\n\r\n")
    real = b"content-length: %d" % len(body)
    size = len(body)
    wrong = random.choice((0, 1, size - 1, size + 1, 10**6, 2**20 + 1, 10**12))
    head = head.replace(real, b"content-length: %d" % wrong)
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
    *(_line, _header, _header, _address, _address, _query, _query),
    *(_verb, _chunked, _body, _pipelined, _rude),
)
