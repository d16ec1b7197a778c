"""Print the entry for a client, or write it into the client's own file."""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from satchel.cli._connect._clients import McpClient, ServerAddress
from satchel.cli._connect._formats import block, changed_lines, put_entry
from satchel.errors import ConfigError, NotWrittenError
from satchel.files import staged_file

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
        text = _decoded(before, where)
        after = put_entry(client, text, where, name, entry)
        data = _encoded(after, where)
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
