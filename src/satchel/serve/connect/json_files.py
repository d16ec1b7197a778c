"""A server's entry in a JSON file of a client, with all else left as it is."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from satchel.errors import ConfigError
from satchel.serve.connect.clients import TRANSPORT_KEYS

__all__ = ["json_block", "put_in_json"]

_INDENT: Final = re.compile(r"\n([ \t]+)\S")


def json_block(servers: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the block as a file of its own would have it."""
    return _dumped({servers: {name: dict(entry)}}, "  ")


def put_in_json(
    text: str, where: str, servers: str, name: str, entry: Mapping[str, Any]
) -> str:
    """Return the file's text with the entry in it; the same text if it is there.

    Keys that the entry has beyond how the server is reached stay. An empty text is a
    new file.

    Raises:
        ConfigError: It is not plain JSON with an object where one has to be; one with
            comments would lose them.
    """
    if not text.strip():
        return json_block(servers, name, entry)
    document = _parsed(text, where)
    known = document.setdefault(servers, {})
    if not isinstance(known, dict):
        raise ConfigError(where, f"want an object as {servers!r}")
    held = cast("dict[str, Any]", known)
    before = held.get(name)
    after = {**_kept(before), **entry}
    if before == after:
        return text
    held[name] = after
    found = _INDENT.search(text)
    try:
        return _dumped(document, found[1] if found else "  ", crlf="\r\n" in text)
    except ValueError as error:
        detail = f"has a number that is none ({error}); nothing was written"
        raise ConfigError(where, detail) from error


def _kept(before: object) -> dict[str, Any]:
    entry = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
    return {key: entry[key] for key in entry if key not in TRANSPORT_KEYS}


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        document: object = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique
        )
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


def _dumped(document: Mapping[str, Any], indent: str, *, crlf: bool = False) -> str:
    text = (
        f"{json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)}\n"
    )
    return text.replace("\n", "\r\n") if crlf else text
