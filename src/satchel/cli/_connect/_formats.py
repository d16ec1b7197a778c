"""A server's entry in a client's JSON or TOML file; everything else stays as it is."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias, cast

from satchel.cli._connect._clients import TRANSPORT_KEYS
from satchel.errors import ConfigError

_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_SPACE: Final = re.compile(r"[ \t\r\n]*")

_Members: TypeAlias = dict[str, tuple[int, int]]
"""By key, where a value begins in a text, and where it has ended."""


def json_block(servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the block as a file of its own would have it."""
    text = json.dumps({servers: {name: entry}}, indent=2, ensure_ascii=False)
    return f"{text}\n"


def json_entry(text: str, where: str, servers: str, name: str) -> Mapping[str, Any]:
    """Return the entry of this name that a file has; empty where it has none.

    Raises:
        ConfigError: It is not plain JSON.
    """
    bare = text.removeprefix("\ufeff")
    known = _parse_json(bare, where).get(servers) if bare.strip() else None
    held = cast("dict[str, Any]", known).get(name) if isinstance(known, dict) else None
    return cast("dict[str, Any]", held) if isinstance(held, dict) else {}


def put_in_json(
    text: str, where: str, servers: str, name: str, entry: Mapping[str, Any]
) -> str:
    """Return the file's text with the entry in it; the same text if it is there.

    Keys that the entry has beyond how the server is reached stay. An empty text is a
    new file.

    Raises:
        ConfigError: It is not plain JSON with an object where one has to be.
    """
    bare = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(bare)]
    if not bare.strip():
        return mark + json_block(servers, name, entry)
    document = _parse_json(bare, where)
    known = document.get(servers, {})
    if not isinstance(known, dict):
        raise ConfigError(where, f"want an object as {servers!r}")
    held = cast("dict[str, Any]", known)
    after = {**_other_keys(held.get(name)), **entry}
    if held.get(name) == after:
        return text
    edited = _edited_json(bare, servers, name, entry)
    if _parse_json(edited, where) != {**document, servers: {**held, name: after}}:
        raise ConfigError(where, "cannot be edited here, so nothing was written")
    return mark + edited


def _edited_json(text: str, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    found = _INDENT.search(text)
    look = _JsonStyle(found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n")
    start = _skip(text, 0)
    top = _members(text, start)[0]
    values = {key: look.value(3, value) for key, value in entry.items()}
    if servers not in top:
        whole = look.object(1, {name: look.object(2, values)})
        return look.put(text, start, 0, servers, whole)
    at = top[servers][0]
    before = _members(text, at)[0].get(name)
    if before is not None and text[before[0]] == "{":
        inner = _other_keys(_members(text, before[0])[0])
        values = {**{key: text[a:b] for key, (a, b) in inner.items()}, **values}
    return look.put(text, at, 1, name, look.object(2, values))


@dataclass(frozen=True, slots=True)
class _JsonStyle:
    """How a file is written: what a line is indented by, and what ends it."""

    indent: str
    end: str

    def value(self, depth: int, value: object) -> str:
        """Return a value as it stands at a depth."""
        text = json.dumps(value, indent=self.indent, ensure_ascii=False)
        return text.replace("\n", self._line(depth))

    def object(self, depth: int, values: Mapping[str, str]) -> str:
        """Return an object of values that are text already."""
        members = (self._member(depth + 1, key, values[key]) for key in values)
        return f"{{{','.join(members)}{self._line(depth)}}}"

    def put(self, text: str, at: int, depth: int, key: str, value: str) -> str:
        """Put a member into the object at ``at``, in the place of one of this key."""
        members, close = _members(text, at)
        if key in members:
            begin, end = members[key]
            return text[:begin] + value + text[end:]
        last = max((end for _, end in members.values()), default=None)
        head, tail = (
            (text[: at + 1], text[close:])
            if last is None
            else (f"{text[:last]},", text[last:])
        )
        gap = "" if tail.lstrip(" \t")[0] in "\r\n" else self._line(depth)
        return f"{head}{self._member(depth + 1, key, value)}{gap}{tail}"

    def _member(self, depth: int, key: str, value: str) -> str:
        return f"{self._line(depth)}{json.dumps(key, ensure_ascii=False)}: {value}"

    def _line(self, depth: int) -> str:
        return self.end + depth * self.indent


def _members(text: str, at: int) -> tuple[_Members, int]:
    """Return the members of the object that begins at ``at``, and where it closes.

    The text has been found to be JSON.
    """
    found: _Members = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        begin = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        found[key] = begin, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _other_keys(before: object) -> dict[str, Any]:
    entry = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
    return {key: entry[key] for key in entry if key not in TRANSPORT_KEYS}


def _parse_json(text: str, where: str) -> dict[str, Any]:
    try:
        document: object = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        detail = f"not plain JSON ({error}), so nothing was written; add it by hand"
        raise ConfigError(where, detail) from error
    if not isinstance(document, dict):
        raise ConfigError(where, "want an object; nothing was written")
    return cast("dict[str, Any]", document)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


# Numbers are compared as they are written, so that none is too long or too large.
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=str,
    parse_int=str,
    parse_constant=_no_number,
)


_TABLE: Final = re.compile(r"[ \t]*\[")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=")


def toml_block(servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the table."""
    return "".join((f"[{servers}.{name}]\n", *_lines(entry)))


def toml_entry(text: str, where: str, servers: str, name: str) -> Mapping[str, Any]:
    """Return the table of this name that a file has; empty where it has none.

    Raises:
        ConfigError: It is no TOML.
    """
    known: object = _parse_toml(text.removeprefix("\ufeff"), where).get(servers)
    held = cast("dict[str, Any]", known).get(name) if isinstance(known, dict) else None
    return cast("dict[str, Any]", held) if isinstance(held, dict) else {}


def put_in_toml(
    text: str, where: str, servers: str, name: str, entry: Mapping[str, Any]
) -> str:
    """Return the file's text with the table in it; the same text if it is there.

    Keys that the table has beyond how the server is reached stay.

    Raises:
        ConfigError: It is no TOML, or is written in a way that this cannot edit.
    """
    bare = text.removeprefix("\ufeff")
    document = _parse_toml(bare, where)
    known = document.get(servers, {})
    held = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    before = held.get(name)
    kept = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
    kept = {key: kept[key] for key in kept if key not in TRANSPORT_KEYS}
    wanted = {**document, servers: {**held, name: {**kept, **entry}}}
    if wanted == document:
        return text
    edited = _edited_toml(bare, f"[{servers}.{name}]", toml_block(servers, name, entry))
    if _parse_or_none(edited) != wanted:
        detail = (
            f"its {servers}.{name} is written in a way that cannot be edited here, so "
            "nothing was written; change it by hand"
        )
        raise ConfigError(where, detail)
    end = "\r\n" if "\r\n" in bare else "\n"
    return text[: len(text) - len(bare)] + edited.replace("\r\n", "\n").replace(
        "\n", end
    )


def _edited_toml(text: str, header: str, block: str) -> str:
    lines = text.splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line.strip() == header), None)
    if at is None:
        gap = "" if not text or text.endswith("\n\n") else "\n"
        gap = f"\n{gap}" if text and not text.endswith("\n") else gap
        return f"{text}{gap}{block}"
    rest = range(at + 1, len(lines))
    end = next((n for n in rest if _TABLE.match(lines[n])), len(lines))
    kept = [line for line in lines[at + 1 : end] if not _is_transport(line)]
    return "".join((*lines[:at], block, *kept, *lines[end:]))


def _is_transport(line: str) -> bool:
    found = _KEY.match(line)
    return found is not None and found[1] in TRANSPORT_KEYS


def _lines(entry: Mapping[str, Any]) -> list[str]:
    # A JSON string in ASCII, and a list of such, is TOML.
    return [f"{key} = {json.dumps(value)}\n" for key, value in entry.items()]


def _parse_toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        detail = f"not TOML ({error}), so nothing was written"
        raise ConfigError(where, detail) from error


def _parse_or_none(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
