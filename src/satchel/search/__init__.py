"""Rank the skills of a catalog by a query."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.search._fts import FtsRanker

__all__ = [
    "FtsRanker",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_fts": "FtsRanker",
    },
)
