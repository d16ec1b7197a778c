"""Where events go: what ``SATCHEL_USAGE`` says, else a default."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.errors import ConfigError
from satchel.protocols import UsageSink
from satchel.usage._sinks import LoggingSink

if TYPE_CHECKING:
    from satchel.usage._store import StoreFactory


VARIABLE: Final = "SATCHEL_USAGE"
_FORMS: Final = (
    "expected off, log:, sqlite: (a file in your state folder), "
    "sqlite:///folder/usage.db, jsonl:///folder/usage.jsonl or chain:///folder/usage.chain"
)
_DRIVE: Final = re.compile(r"/[A-Za-z]:[/\\]")


class StoreLocation(NamedTuple):
    """A kind of sink (``log``, ``sqlite``, ``jsonl``, ``chain``) and its file."""

    kind: str
    path: str = ""


def usage_sinks(
    environ: Mapping[str, str] | None = None, default: str = "log"
) -> tuple[UsageSink, ...]:
    """Return the sinks that ``SATCHEL_USAGE`` asks for; an empty value counts as unset.

    ``default`` is used if it is not set: ``log`` for the library, ``sqlite`` for the
    command line and for servers. The caller closes the sinks.

    Raises:
        ConfigError: The value is neither ``off`` nor a URL of a sink.
    """
    url = (os.environ if environ is None else environ).get(VARIABLE, "").strip()
    url = url or f"{default}:"
    return () if url.lower() in ("off", "off:") else (open_sink(url),)


def open_sink(url: str) -> UsageSink:
    """Return the sink for a URL; a file is opened with the first event.

    Raises:
        ConfigError: The URL names no sink.
    """
    place = parse_location(url)
    if place.kind == "log":
        return LoggingSink()
    from satchel.usage._background import Background

    return Background(store_at(place))


def parse_location(url: str) -> StoreLocation:
    """Return the location that a URL names; ``sqlite:`` is in the state folder.

    As in any URL, the path after ``//`` begins with a slash:
    ``sqlite:///var/lib/usage.db``. Without ``//`` it is relative to the working folder.

    Raises:
        ConfigError: The URL names no location.
    """
    kind, colon, rest = url.partition(":")
    if not colon or kind not in ("log", "sqlite", "jsonl", "chain"):
        raise ConfigError(VARIABLE, f"{url!r} cannot store events; {_FORMS}")
    if kind == "log":
        if rest.strip("/"):
            raise ConfigError(VARIABLE, f"{url!r}: log: takes no path; {_FORMS}")
        return StoreLocation(kind)
    path = rest
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host or (rest != "//" and not slash):
            raise ConfigError(VARIABLE, f"{url!r} names another machine; {_FORMS}")
        path = slash + path.lstrip("/")
        # In /C:/folder the first slash belongs to the URL, not to the path.
        if _DRIVE.match(path):
            path = path[1:]
    if not path.strip("/"):
        if kind != "sqlite" or path:
            raise ConfigError(VARIABLE, f"{url!r} names no file; {_FORMS}")
        path = state_file()
    return StoreLocation(kind, os.path.abspath(path))  # noqa: PTH100 - costs start-up time


def store_at(place: StoreLocation) -> "StoreFactory":
    """Return the function that makes stores for a location."""
    if place.kind == "sqlite":
        from satchel.usage._sqlite_store import SqliteStore

        return lambda: SqliteStore(place.path)
    from satchel.usage._file_store import ChainStore, LineStore

    make = LineStore if place.kind == "jsonl" else ChainStore
    return lambda: make(place.path)


def state_file() -> str:
    """Return the path of the database, in the user's state folder."""
    import platformdirs

    folder = platformdirs.user_state_path("satchel", appauthor=False)
    return os.path.join(folder, "usage.db")  # noqa: PTH118 - callers need a string
