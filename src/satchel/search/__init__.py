"""Finding the skills of a catalog that match a query."""

from satchel.search.fts import FtsRanker

__all__ = ["FtsRanker"]
