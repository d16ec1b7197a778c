"""Print the entry for a client, or write it into the client's own file."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from satchel.cli._connect._clients import TRANSPORT_KEYS, McpClient, ServerAddress
from satchel.cli._connect._formats import (
    json_block,
    json_entry,
    put_in_json,
    put_in_toml,
    toml_block,
    toml_entry,
)
from satchel.errors import ConfigError, NotWrittenError
from satchel.files import staged_file

WriteOutcome: TypeAlias = Literal["made", "changed", "unchanged"]

MayReplace: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]

_MOST_BYTES: Final = 16 * 1024 * 1024
_TRIES: Final = 5


def config_block(client: McpClient, name: str, reach: ServerAddress) -> str:
    """Return what belongs into the client's file, as a file of its own would say it."""
    make = json_block if client.kind == "json" else toml_block
    return make(client.servers, name, client.entry(reach))


def write_config(
    file: Path,
    client: McpClient,
    name: str,
    reach: ServerAddress,
    *,
    may_replace: MayReplace | None = None,
) -> WriteOutcome:
    """Put the entry into the client's file; leave all else in it as it is.

    The file is replaced as a whole, or not at all; a link leads to what is replaced.
    ``may_replace`` is asked where another server has the name: with how that one is
    reached, and how this one is. None replaces it.

    Raises:
        ConfigError: It cannot be read, or is not what can be changed without loss; or
            another server has the name, and may not be replaced.
        OSError: It cannot be written.
    """
    target = Path(os.path.realpath(file))
    where = str(file)
    is_json = client.kind == "json"
    put = put_in_json if is_json else put_in_toml
    held = json_entry if is_json else toml_entry
    entry = client.entry(reach)
    for _ in range(_TRIES):
        before = _read(target, where)
        text = _decoded(before, where)
        other = _other_server(held(text, where, client.servers, name), entry)
        if other and may_replace is not None and not may_replace(other, entry):
            raise ConfigError(where, f"has another server named {name!r}; it stays")
        after = put(text, where, client.servers, name, entry)
        data = _encoded(after, where)
        if data == before:
            return "unchanged"
        if _replace(target, where, before, data):
            return "made" if before is None else "changed"
    raise ConfigError(where, "another program keeps changing it; try again")


def _other_server(
    held: Mapping[str, Any], entry: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return how the server of this name is reached, where that is another one."""
    reached = {key: held[key] for key in held if key in TRANSPORT_KEYS}
    return {} if reached == entry else reached


def _read(file: Path, where: str) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(where, error.strerror or "cannot be read") from error


def _decoded(data: bytes | None, where: str) -> str:
    if data is None:
        return ""
    if len(data) > _MOST_BYTES:
        raise ConfigError(where, f"over {_MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(where, "not UTF-8, so nothing was written") from None


def _encoded(text: str, where: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        detail = "the path of a folder is not Unicode, so nothing was written"
        raise ConfigError(where, detail) from None


def _replace(file: Path, where: str, before: bytes | None, data: bytes) -> bool:
    """Write the file anew; False where another has written it since it was read."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        mode = None
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
