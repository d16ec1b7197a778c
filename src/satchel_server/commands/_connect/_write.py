"""A server's entry in a client's JSON or TOML file: printed, or written into it.

The text is edited, so that numbers, escapes, comments and the look of the file stay.
"""

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

from satchel.errors import ConfigError, NotWrittenError
from satchel.files import staged_file
from satchel.text import unified_lines
from satchel_server.commands._connect._clients import (
    TRANSPORT_KEYS,
    FileKind,
    McpClient,
    ServerAddress,
)

_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_TABLE: Final = re.compile(r"[ \t]*\[")
_SHOWN_KEYS: Final = frozenset({"type", "url", "httpUrl", "command", "args"})
_KEY: Final = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=")

# By key, where a value begins in a text, and where it has ended.
_Members: TypeAlias = dict[str, tuple[int, int]]


def block(kind: FileKind, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the entry as the only one of a file."""
    if kind == "toml":
        # A JSON string in ASCII, and a list of such, is TOML.
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in entry.items()]
        return "".join((f"[{servers}.{name}]\n", *lines))
    text = json.dumps({servers: {name: entry}}, indent=2, ensure_ascii=False)
    return f"{text}\n"


def changed_lines(
    client: McpClient, text: str, where: str, name: str, entry: Mapping[str, Any]
) -> list[str]:
    """Return what `put_entry` changes, as the lines of a difference.

    Of the file only the entry is shown, and in what it had before only how the server
    is reached: other values may be secrets.
    """
    servers = client.servers
    document = _parse(client.kind, text.removeprefix("\ufeff"), where)
    section = _dict(document.get(servers))
    before = {
        key: value if key in _SHOWN_KEYS else "..."
        for key, value in _dict(section.get(name)).items()
    }
    new = block(client.kind, servers, name, {**_other_keys(before), **entry})
    old = block(client.kind, servers, name, before) if name in section else ""
    if not old and document and client.kind == "json":
        lines = new.splitlines(keepends=True)
        around = 2 if servers in document else 1  # the braces that are there already
        old = "".join((*lines[:around], *lines[-around:]))
    _, *lines = unified_lines(old, new, context=len(new))
    return lines


def put_entry(
    client: McpClient, text: str, where: str, name: str, entry: Mapping[str, Any]
) -> str:
    """Return the file's text with the entry in it; the same text if it is there.

    Keys of the entry that do not say how the server is reached stay. An empty text is a
    new file.
    """
    kind, servers = client.kind, client.servers
    # The parsers refuse a byte order mark; it is put back at the end.
    bare = text.removeprefix("\ufeff")
    document = _parse(kind, bare, where)
    section = _dict(document.get(servers))
    by_hand = "so nothing was written; change it by hand"
    # The rest of the file is the user's: refuse what cannot be edited safely.
    if not isinstance(document.get(servers, {}), dict):
        raise ConfigError(where, f"expected an object as {servers!r}, {by_hand}")
    current = section.get(name)
    after = {**_other_keys(_dict(current)), **entry}
    if current == after:
        return text
    edit = _edited_json if kind == "json" else _edited_toml
    edited = edit(bare, servers, name, entry)
    # The result is parsed again: the edit need not understand every file.
    expected = {**document, servers: {**section, name: after}}
    try:
        is_right = _parse(kind, edited, where) == expected
    except ConfigError:
        is_right = False
    if not is_right:
        detail = f"its {servers}.{name} is written in a way that cannot be edited here"
        raise ConfigError(where, f"{detail}, {by_hand}")
    return text[: len(text) - len(bare)] + edited


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _other_keys(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in entry if key not in TRANSPORT_KEYS}


def _parse(kind: FileKind, text: str, where: str) -> dict[str, Any]:
    try:
        if kind == "toml":
            return tomllib.loads(text)
        document: object = _DECODER.decode(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        name = "TOML" if kind == "toml" else "plain JSON"
        detail = f"not {name} ({error}), so nothing was written; add it by hand"
        raise ConfigError(where, detail) from error
    if not isinstance(document, dict):
        raise ConfigError(where, "expected an object; nothing was written")
    return cast("dict[str, Any]", document)


def _edited_toml(text: str, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    header = f"[{servers}.{name}]"
    table = block("toml", servers, name, entry)
    lines = text.splitlines(keepends=True)
    # Another spelling, such as an inline table, fails the check in `put_entry`.
    at = next((n for n, line in enumerate(lines) if line.strip() == header), None)
    if at is None:
        gap = "" if not text or text.endswith("\n\n") else "\n"
        gap = f"\n{gap}" if text and not text.endswith("\n") else gap
        edited = f"{text}{gap}{table}"
    else:
        rest = range(at + 1, len(lines))
        end = next((n for n in rest if _TABLE.match(lines[n])), len(lines))
        keys = [(_KEY.match(line), line) for line in lines[at + 1 : end]]
        others = [line for key, line in keys if not key or key[1] not in TRANSPORT_KEYS]
        edited = "".join((*lines[:at], table, *others, *lines[end:]))
    line_end = "\r\n" if "\r\n" in text else "\n"
    return edited.replace("\r\n", "\n").replace("\n", line_end)


def _edited_json(text: str, servers: str, name: str, entry: Mapping[str, Any]) -> str:
    if not text.strip():
        return block("json", servers, name, entry)
    indent = _INDENT.search(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    style = _JsonStyle(indent[1] if indent else "  ", line_end)
    start = _skip(text, 0)
    top = _members(text, start)[0]
    values = {key: style.value(3, value) for key, value in entry.items()}
    if servers not in top:
        section = style.object(1, {name: style.object(2, values)})
        return style.put(text, start, 0, servers, section)
    at = top[servers][0]
    current = _members(text, at)[0].get(name)
    if current is not None and text[current[0]] == "{":
        # Copied as text, so that keys which stay also keep their look.
        others = _other_keys(_members(text, current[0])[0])
        values = {**{key: text[a:b] for key, (a, b) in others.items()}, **values}
    return style.put(text, at, 1, name, style.object(2, values))


@dataclass(frozen=True, slots=True)
class _JsonStyle:
    """How a JSON file is written: the indentation of a line, and its end."""

    indent: str
    end: str

    def value(self, depth: int, value: object) -> str:
        """Return a value as it is written at a depth."""
        text = json.dumps(value, indent=self.indent, ensure_ascii=False)
        return text.replace("\n", self._line(depth))

    def object(self, depth: int, values: Mapping[str, str]) -> str:
        """Return an object whose values are text already."""
        members = (self._member(depth + 1, key, values[key]) for key in values)
        return f"{{{','.join(members)}{self._line(depth)}}}"

    def put(self, text: str, at: int, depth: int, key: str, value: str) -> str:
        """Put a member into the object at ``at``; one of this key is replaced."""
        members, close = _members(text, at)
        if key in members:
            begin, end = members[key]
            return text[:begin] + value + text[end:]
        last = max((end for _, end in members.values()), default=0)
        head, tail = f"{text[:last]},", text[last:]
        if not members:
            head, tail = text[: at + 1], text[close:]
        # A closing brace on a line of its own stays there.
        gap = "" if tail.lstrip(" \t")[0] in "\r\n" else self._line(depth)
        return f"{head}{self._member(depth + 1, key, value)}{gap}{tail}"

    def _member(self, depth: int, key: str, value: str) -> str:
        return f"{self._line(depth)}{json.dumps(key, ensure_ascii=False)}: {value}"

    def _line(self, depth: int) -> str:
        return self.end + depth * self.indent


def _members(text: str, at: int) -> tuple[_Members, int]:
    """Return the members of the object that begins at ``at``, and where it closes."""
    members: _Members = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        begin = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        members[key] = begin, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members, at


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


# Numbers are compared as they are written, so that none is too long or too large.
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=str, parse_int=str, parse_constant=_no_number
)


WriteOutcome: TypeAlias = Literal["made", "changed", "unchanged"]

# Given the lines of a difference, and whether the file is a new one.
BeforeWrite: TypeAlias = Callable[[Sequence[str], bool], None]

_MAX_BYTES: Final = 16 * 1024 * 1024
_TRIES: Final = 5


def config_block(client: McpClient, name: str, address: ServerAddress) -> str:
    """Return the entry as it would be in a file of its own."""
    return block(client.kind, client.servers, name, client.entry(address))


def write_config(
    file: Path,
    client: McpClient,
    name: str,
    address: ServerAddress,
    *,
    before_write: BeforeWrite | None = None,
) -> WriteOutcome:
    """Put the entry into the client's file; everything else in it stays.

    The file is replaced as a whole, or not at all; behind a link, its target is.
    ``before_write`` may raise an error to stop it. It is called again if another
    program changed the same entry meanwhile.
    """
    # Dotfiles are often links into a repository; the link has to stay.
    target = Path(os.path.realpath(file))
    where = str(file)
    entry = client.entry(address)
    shown: list[str] | None = None
    for _ in range(_TRIES):
        # Again on each try, since another program has changed it.
        before = _read(target, where)
        text = _text(before or b"", where)
        after = put_entry(client, text, where, name, entry)
        try:
            data = after.encode()
        except UnicodeEncodeError:
            detail = "the path of a folder is not Unicode, so nothing was written"
            raise ConfigError(where, detail) from None
        if data == before:
            return "unchanged"
        lines = changed_lines(client, text, where, name, entry)
        if before_write is not None and lines != shown:
            before_write(lines, before is None)
            shown = lines
        if _replace(target, where, before, data):
            return "made" if before is None else "changed"
    raise ConfigError(where, "another program keeps changing it; try again")


def _read(file: Path, where: str) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(where, error.strerror or "cannot be read") from error


def _text(data: bytes, where: str) -> str:
    if len(data) > _MAX_BYTES:
        raise ConfigError(where, f"over {_MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(where, "not UTF-8, so nothing was written") from None


def _replace(file: Path, where: str, before: bytes | None, data: bytes) -> bool:
    """Write the file; return False if another program has changed it since."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        mode = None
    # The rename would replace even a file that its owner made read-only.
    if mode is not None and not mode & stat.S_IWUSR:
        raise ConfigError(where, "may only be read, so nothing was written")
    try:
        with staged_file(file, data, mode):
            _check_unchanged(file, where, before)
    except NotWrittenError:
        return False
    return True


def _check_unchanged(file: Path, where: str, before: bytes | None) -> None:
    if _read(file, where) != before:
        raise NotWrittenError(where, "another program has written it just now")
