"""A server's table in a TOML file of a client, with all else left as it is.

The text is edited, not written anew, so that comments stay; what comes out is parsed
again, and must say what was meant and nothing else.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final, cast

from satchel.errors import ConfigError
from satchel.serve.connect.clients import TRANSPORT_KEYS

__all__ = ["held_in_toml", "put_in_toml", "toml_block"]

_TABLE: Final = re.compile(r"[ \t]*\[")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=")


def toml_block(servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the table."""
    return "".join((f"[{servers}.{name}]\n", *_lines(entry)))


def held_in_toml(text: str, where: str, servers: str, name: str) -> Mapping[str, Any]:
    """Return the table of this name that a file has; empty where it has none.

    Raises:
        ConfigError: It is no TOML.
    """
    known: object = _parsed(text.removeprefix("\ufeff"), where).get(servers)
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
    document = _parsed(bare, where)
    known = document.get(servers, {})
    held = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    before = held.get(name)
    kept = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
    kept = {key: kept[key] for key in kept if key not in TRANSPORT_KEYS}
    wanted = {**document, servers: {**held, name: {**kept, **entry}}}
    if wanted == document:
        return text
    edited = _edited(bare, f"[{servers}.{name}]", toml_block(servers, name, entry))
    if _says(edited) != wanted:
        detail = (
            f"its {servers}.{name} is written in a way that cannot be edited here, so "
            "nothing was written; change it by hand"
        )
        raise ConfigError(where, detail)
    end = "\r\n" if "\r\n" in bare else "\n"
    return text[: len(text) - len(bare)] + edited.replace("\r\n", "\n").replace(
        "\n", end
    )


def _edited(text: str, header: str, block: str) -> str:
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


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        detail = f"not TOML ({error}), so nothing was written"
        raise ConfigError(where, detail) from error


def _says(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
