"""The engine that scores with numpy, where that is installed."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from satchel.search._segment import ORDINAL_BITS, Weighted


def numpy_engine(
    documents: int, terms: Sequence[Weighted], live: bytes | None, k: int
) -> list[tuple[int, int]]:
    """Score with numpy, some five times as fast; postings are read where they are."""
    # Looked up here, so that neither checkers nor programs need the extra `search`.
    np: Any = import_module("numpy")
    # 64 terms, impacts to 255 and weights to 2^15 stay below 2^31.
    scores = np.zeros(documents, np.int32)
    for postings, weight in terms:
        numbers = np.frombuffer(postings, np.uint32)
        # A document is in a term's postings once, so `+=` loses nothing.
        scores[numbers >> ORDINAL_BITS] += (numbers & 255).astype(np.int32) * weight
    if live is not None:
        scores[np.frombuffer(live, np.uint8) == 0] = 0
    last = max(0, documents - k)
    least = max(1, int(np.partition(scores, last)[last])) if documents else 1
    places = np.flatnonzero(scores >= least)
    return list(zip(scores[places].tolist(), places.tolist(), strict=True))
