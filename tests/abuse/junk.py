"""Values and texts that no request should hold, from a seeded generator."""

import base64
import json
from collections.abc import Callable
from pathlib import Path as Folder
from random import Random
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
Path: TypeAlias = "tuple[str | int, ...]"

_TABLES: Final = json.loads(
    Folder(__file__).with_name("tables.json").read_text("utf-8")
)


def table(name: str) -> tuple[str, ...]:
    """Return the texts of a table; a part ``[text, n]`` is that text n times."""
    return tuple(
        "".join(p if isinstance(p, str) else p[0] * p[1] for p in entry)
        for entry in _TABLES[name]
    )


def byte_table(name: str) -> tuple[bytes, ...]:
    """Return a table as bytes; each character is one."""
    return tuple(entry.encode("latin-1") for entry in table(name))


TEXTS: Final = table("texts")
NUMBERS: Final = (
    *(0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**64), 10**400),
    *(0.5, -0.0, 1e308, float("inf"), float("nan")),
)


def value(random: Random, depth: int = 3) -> Json:
    """Return a JSON value that is probably not what is wanted."""
    kind = random.randrange(8 if depth else 5)
    if kind <= 1:
        return random.choice(TEXTS)
    if kind == 2:
        return random.choice(NUMBERS)
    if kind == 3:
        return random.choice((None, True, False))
    if kind == 4:
        return random.choice(([], {}, [[]], [{}], {"": ""}))
    size = random.randrange(4)
    if kind == 5:
        return [value(random, depth - 1) for _ in range(size)]
    return {text(random)[:80]: value(random, depth - 1) for _ in range(size)}


def text(random: Random) -> str:
    """Return a text that is probably not what is wanted."""
    if random.randrange(3):
        return random.choice(TEXTS)
    size = random.randrange(1, 60)
    return "".join(
        chr(random.choice((random.randrange(128), 0x2028, 0xD9FF))) for _ in range(size)
    )


def cursor(random: Random) -> str:
    """Return what looks like a cursor of a list."""
    known = b"99999999999999999999", b'{"offset":-1}', b'["a", 1e9]', b"\xff\xfe\x00"
    raw = random.choice((*known, random.randbytes(40)))
    coded = base64.urlsafe_b64encode(raw).decode()
    return random.choice((coded, coded.rstrip("="), coded[::-1], "-1", "0", "100000"))


def mutated(random: Random, message: Json) -> Json:
    """Return a copy of a good message with a few things in it gone wrong."""
    copy: Json = json.loads(json.dumps(message))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        paths = [*_paths(copy)]
        if not paths:
            return value(random)
        copy = _changed(random, copy, random.choice(paths))
    return copy


def encoded(random: Random, message: Json) -> bytes:
    """Return JSON of it; texts sometimes raw, so that surrogates become bad UTF-8."""
    raw = random.random() < 0.3
    return json.dumps(message, ensure_ascii=not raw).encode("utf-8", "surrogatepass")


def broken(random: Random, good: bytes) -> bytes:
    """Return bytes that are no JSON, or JSON that hurts."""
    way = random.choice(_WAYS)
    return way(random, good)


def _paths(message: Json, at: Path = ()) -> list[Path]:
    actual: list[Path] = [at] if at else []
    if isinstance(message, dict):
        for key, item in message.items():
            actual += _paths(item, (*at, key))
    elif isinstance(message, list):
        for number, item in enumerate(message):
            actual += _paths(item, (*at, number))
    return actual


def _changed(random: Random, message: Json, path: Path) -> Json:
    here = message
    for step in path[:-1]:
        here = here[step]
    last = path[-1]
    match random.randrange(5):
        case 0:
            del here[last]
        case 1 if isinstance(here, dict):
            here[text(random)[:80]] = here.pop(last)
        case 2 if isinstance(here, dict):
            here[text(random)[:80]] = value(random)
        case _:
            here[last] = value(random)
    return message


def _cut(random: Random, good: bytes) -> bytes:
    return good[: random.randrange(len(good))]


def _flipped(random: Random, good: bytes) -> bytes:
    data = bytearray(good)
    for _ in range(random.randrange(1, 6)):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)


def _inserted(random: Random, good: bytes) -> bytes:
    at = random.randrange(len(good))
    what = random.choice(
        (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"//", b",", b"'", b"\\u")
    )
    return good[:at] + what + good[at:]


def _deep(random: Random, good: bytes) -> bytes:
    depth = random.choice((200, 1_000, 5_000, 100_000))
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * depth + b"1" + closing * depth * random.randrange(2)
    return random.choice(
        (deep, good.replace(b'"params":{', b'"params":{"d":' + deep + b","))
    )


def _twice(random: Random, good: bytes) -> bytes:
    return good + random.choice((b"", b"\n", b" ")) + good


def _batch(random: Random, good: bytes) -> bytes:
    return b"[" + b",".join([good] * random.choice((0, 1, 2, 200))) + b"]"


def _coded(random: Random, good: bytes) -> bytes:
    codes = ("utf-16", "utf-32", "utf-8-sig", "cp037", "utf-7")
    return good.decode("utf-8", "replace").encode(random.choice(codes), "replace")


def _number(random: Random, good: bytes) -> bytes:
    number = random.choice(byte_table("numbers"))
    return good.replace(b'"id":1', b'"id":' + number)


def _other(random: Random, good: bytes) -> bytes:
    others = (
        b"",
        b" ",
        b"null",
        b"true",
        b'"text"',
        b"[]",
        b"{}",
        b"0",
        b"<xml/>",
        b"a=b",
    )
    return random.choice((*others, random.randbytes(random.randrange(400))))


def _large(random: Random, good: bytes) -> bytes:
    size = random.choice((66_000, 900_000, 1_100_000))
    return good.replace(b'"params":{', b'"params":{"pad":"' + b"x" * size + b'",')


_WAYS: Final[tuple[Callable[[Random, bytes], bytes], ...]] = (
    *(_cut, _cut, _flipped, _flipped, _inserted, _inserted, _deep),
    *(_twice, _batch, _coded, _number, _other, _other, _large),
)
