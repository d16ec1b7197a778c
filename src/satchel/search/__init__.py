"""Rank the skills of a catalog by a query."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.search._fusion import fused as fused
    from satchel.search._ranker import SegmentRanker as SegmentRanker
    from satchel.search._words import Stemmer as Stemmer, query_words as query_words

__getattr__ = lazy_door(
    __name__,
    {
        "_fusion": "fused",
        "_ranker": "SegmentRanker",
        "_words": "Stemmer query_words",
    },
)
