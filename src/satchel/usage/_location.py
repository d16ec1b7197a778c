"""Where events go: what ``SATCHEL_USAGE`` says, else a default."""

import os
from collections.abc import Mapping
from typing import Final

from satchel.products import has_product, import_product
from satchel.protocols import UsageSink
from satchel.usage._sinks import LoggingSink

VARIABLE: Final = "SATCHEL_USAGE"
_STORES: Final = "satchel_server"


def usage_sinks(
    environ: Mapping[str, str] | None = None, default: str = "log"
) -> tuple[UsageSink, ...]:
    """Return the sinks that ``SATCHEL_USAGE`` asks for; an empty value counts as unset.

    ``default`` is used if it is not set: ``log`` for the library, ``sqlite`` for the
    command line and for servers; where nothing can store events, there is no sink. The
    caller closes the sinks.

    Raises:
        ConfigError: The value is neither ``off`` nor a URL of a sink.
        ProductMissingError: It asks for a store, and ``satchel_server`` is missing.
    """
    url = (os.environ if environ is None else environ).get(VARIABLE, "").strip()
    if not url and default != "log" and not has_product(_STORES):
        return ()
    url = url or f"{default}:"
    return () if url.lower() in ("off", "off:") else (open_sink(url),)


def open_sink(url: str) -> UsageSink:
    """Return the sink for a URL; a file is opened with the first event.

    Raises:
        ConfigError: The URL names no sink.
        ProductMissingError: It names a store, and ``satchel_server`` is missing.
    """
    if url.rstrip("/") == "log:":
        return LoggingSink()
    stores = import_product(f"{_STORES}.usage", f"{VARIABLE}={url}")
    sink: UsageSink = stores.open_store(url)
    return sink


def state_file() -> str:
    """Return the path of the database, in the user's state folder."""
    import platformdirs

    folder = platformdirs.user_state_path("satchel", appauthor=False)
    return os.path.join(folder, "usage.db")  # noqa: PTH118 - callers need a string
