"""The stores that a URL names."""

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.errors import ConfigError
from satchel.usage import VARIABLE, state_file

if TYPE_CHECKING:
    from satchel_server.usage._store import StoreFactory

_FORMS: Final = (
    "sqlite: (a file in your state folder), sqlite:///folder/usage.db, "
    "jsonl:///folder/usage.jsonl, chain:///folder/usage.chain or "
    "postgresql://user@host/database"
)
_DATABASES: Final = ("postgresql", "postgres")
_DRIVE: Final = re.compile(r"/[A-Za-z]:[/\\]")


class StoreLocation(NamedTuple):
    """A kind of sink (``log``, ``sqlite``, ``jsonl``, ``chain``) and its file.

    For ``postgresql`` the path is the URL, which may have a password.
    """

    kind: str
    path: str = ""


def parse_location(url: str, option: str = VARIABLE) -> StoreLocation:
    """Return the location that a URL names; ``sqlite:`` is in the state folder.

    As in any URL, the path after ``//`` begins with a slash:
    ``sqlite:///var/lib/usage.db``. Without ``//`` it is relative to the working folder.
    ``option`` is where the URL was given, for errors.

    Raises:
        ConfigError: The URL names no location.
    """
    kind, colon, rest = url.partition(":")
    if colon and kind in _DATABASES:
        return StoreLocation("postgresql", f"postgresql:{rest}")
    # Only the kind, if there may be a password in it.
    shown = f"{kind}:" if "@" in rest or "=" in rest else url
    # Nothing is read from these two.
    forms = f"expected {'off, log:, ' if option == VARIABLE else ''}{_FORMS}"
    if not colon or kind not in ("log", "sqlite", "jsonl", "chain"):
        raise ConfigError(option, f"{shown!r} cannot store events; {forms}")
    if kind == "log":
        if rest.strip("/"):
            raise ConfigError(option, f"{shown!r}: log: takes no path; {forms}")
        return StoreLocation(kind)
    path = rest
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host or (rest != "//" and not slash):
            raise ConfigError(option, f"{shown!r} names another machine; {forms}")
        path = slash + path.lstrip("/")
        # In /C:/folder the first slash belongs to the URL, not to the path.
        if _DRIVE.match(path):
            path = path[1:]
    if not path.strip("/"):
        if kind != "sqlite" or path:
            raise ConfigError(option, f"{shown!r} names no file; {forms}")
        path = state_file()
    return StoreLocation(kind, os.path.abspath(path))  # noqa: PTH100 - costs start-up time


def store_at(place: StoreLocation) -> "StoreFactory":
    """Return the function that makes stores for a location."""
    if place.kind == "postgresql":
        from satchel_server.usage._postgres_store import PostgresStore, place_of

        place_of(place.path)  # now, rather than with the first event
        return lambda: PostgresStore(place.path)
    if place.kind == "sqlite":
        from satchel_server.usage._sqlite_store import SqliteStore

        return lambda: SqliteStore(place.path)
    from satchel_server.usage._file_store import ChainStore, LineStore

    make = LineStore if place.kind == "jsonl" else ChainStore
    return lambda: make(place.path)
