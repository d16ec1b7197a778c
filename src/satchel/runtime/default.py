"""The one registry of a process that asks for none of its own."""

import threading
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from satchel.runtime.front import Satchel

__all__ = ["default_registry"]

_making = threading.Lock()


def default_registry() -> "Satchel":
    """Return the process's own Satchel, made and synced at the first call.

    It reads satchel.toml where there is one, else the usual folders of clients
    (`satchel.sources.usual`). Call its ``sync()`` to look again.
    """
    with _making:
        return _make()


@cache
def _make() -> "Satchel":
    from pathlib import Path

    from satchel.config import find_config
    from satchel.errors import NoSources
    from satchel.runtime.front import Satchel
    from satchel.sources import usual

    try:
        return Satchel() if find_config(Path.cwd()) else Satchel(*usual())
    except NoSources:
        return Satchel(*usual())
