"""Print the entry for a client, or write it into the client's own file."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from satchel.cli._connect._clients import TRANSPORT_KEYS, McpClient, ServerAddress
from satchel.cli._connect._formats import block, entry_in, put_entry
from satchel.errors import ConfigError, NotWrittenError
from satchel.files import staged_file

WriteOutcome: TypeAlias = Literal["made", "changed", "unchanged"]

MayReplace: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]

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
    may_replace: MayReplace | None = None,
) -> WriteOutcome:
    """Put the entry into the client's file; everything else in it stays.

    The file is replaced as a whole, or not at all; behind a link, its target is.
    ``may_replace`` is called if another server has the name: with how that one is
    reached, and how this one is. None replaces it.
    """
    # Dotfiles are often links into a repository; the link has to stay.
    target = Path(os.path.realpath(file))
    where = str(file)
    entry = client.entry(address)
    for _ in range(_TRIES):
        # Again on each try, since another program has changed it.
        before = _read(target, where)
        text = _decoded(before, where)
        current = entry_in(client, text, where, name)
        other = {key: current[key] for key in current if key in TRANSPORT_KEYS}
        is_other = bool(other) and other != entry
        if is_other and may_replace is not None and not may_replace(other, entry):
            raise ConfigError(where, f"has another server named {name!r}; it stays")
        after = put_entry(client, text, where, name, entry)
        data = _encoded(after, where)
        if data == before:
            return "unchanged"
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


def _decoded(data: bytes | None, where: str) -> str:
    if data is None:
        return ""
    if len(data) > _MAX_BYTES:
        raise ConfigError(where, f"over {_MAX_BYTES:,} bytes")
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
