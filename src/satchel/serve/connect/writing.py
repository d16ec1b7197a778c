"""The block of a client as text, and the same in the client's own file."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

from satchel.errors import ConfigError
from satchel.serve.connect.clients import Client
from satchel.serve.connect.json_files import json_block, put_in_json
from satchel.serve.connect.reach import Reach
from satchel.serve.connect.toml_files import put_in_toml, toml_block

__all__ = ["Written", "block", "connect"]

Written: TypeAlias = Literal["made", "changed", "unchanged"]

_MOST_BYTES: Final = 16 * 1024 * 1024
_NEW_MODE: Final = 0o644
_TRIES: Final = 5


def block(client: Client, name: str, reach: Reach) -> str:
    """Return what belongs into the client's file, as a file of its own would say it."""
    make = json_block if client.kind == "json" else toml_block
    return make(client.servers, name, client.entry(reach))


def connect(file: Path, client: Client, name: str, reach: Reach) -> Written:
    """Put the entry into the client's file; leave all else in it as it is.

    The file is replaced as a whole, or not at all; a link leads to what is replaced.

    Raises:
        ConfigError: It cannot be read, or is not what can be changed without loss.
        OSError: It cannot be written.
    """
    target = Path(os.path.realpath(file))
    where = str(file)
    put = put_in_json if client.kind == "json" else put_in_toml
    entry = client.entry(reach)
    for _ in range(_TRIES):
        before = _read(target, where)
        after = put(_decoded(before, where), where, client.servers, name, entry)
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
        mode = _NEW_MODE
    if not mode & stat.S_IWUSR:
        raise ConfigError(where, "may only be read, so nothing was written")
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        Path(beside).chmod(mode)
        if _read(file, where) != before:
            Path(beside).unlink()
            return False
        Path(beside).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise
    return True
