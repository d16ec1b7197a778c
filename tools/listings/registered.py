"""All that can be run: clients, then frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tools.listings.clients import CLIENTS
from tools.listings.frameworks import FRAMEWORKS

if TYPE_CHECKING:
    from tools.listings.clients import Lister

LISTERS: Final[dict[str, Lister]] = {**CLIENTS, **FRAMEWORKS}
