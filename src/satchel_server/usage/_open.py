"""The sink that writes to the store of a URL."""

import os

from satchel.errors import ConfigError
from satchel_server.usage._background import Background
from satchel_server.usage._location import parse_location, store_at
from satchel_server.usage._spool import VARIABLE, Spool


def open_store(url: str) -> Background:
    """Return the sink that writes to the store of a URL, from its first event on.

    With ``SATCHEL_USAGE_SPOOL`` events are in that folder until a database has them.

    Raises:
        ConfigError: The URL names no store, or the spool is for another one.
    """
    location = parse_location(url)
    folder = os.environ.get(VARIABLE, "").strip()
    if not folder:
        return Background(store_at(location))
    if location.kind != "postgresql":
        detail = "it is for a postgresql: URL; other stores are on this disk"
        raise ConfigError(VARIABLE, detail)

    def bring_in(path: str) -> None:
        from satchel_server.usage._upkeep import merge_file, open_tables

        with open_tables(location.path) as store:
            merge_file(store, path)

    spool = Spool(os.path.abspath(folder), bring_in)  # noqa: PTH100 - costs start-up time
    return Background(store_at(location), spool=spool)
