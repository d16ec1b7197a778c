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
    before = _read(target, where)
    put = put_in_json if client.kind == "json" else put_in_toml
    entry = client.entry(reach)
    after = put(before or "", where, client.servers, name, entry)
    if after == before:
        return "unchanged"
    _replace(target, after)
    return "made" if before is None else "changed"


def _read(file: Path, where: str) -> str | None:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(where, error.strerror or "cannot be read") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(where, f"over {_MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(where, "not UTF-8, so nothing was written") from None


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        mode = _NEW_MODE
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(text.encode("utf-8", "surrogatepass"))
        Path(beside).chmod(mode)
        Path(beside).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise
