"""The hits of several queries as one list, by reciprocal rank fusion."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from satchel.model import Hit

# As many of each query's hits take part; with 60, the usual constant of reciprocal
# rank fusion, a first place is worth less than two second ones.
_FUSED_HITS: Final = 100
_FUSION: Final = 60


def fused(
    rank: Callable[[str, int], list[Hit]], queries: Sequence[str], k: int
) -> list[Hit]:
    """Return at most ``k`` of the hits of several queries, as one list."""
    depth = max(k, _FUSED_HITS)
    lists = [rank(text, depth) for text in dict.fromkeys(queries)]
    if len(lists) == 1:
        return lists[0][:k]
    best: dict[str, Hit] = {}
    scores: dict[str, float] = {}
    for hits in lists:
        for place, hit in enumerate(hits, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (_FUSION + place)
            if hit.id not in best or hit.confidence > best[hit.id].confidence:
                best[hit.id] = hit
    order = sorted(scores, key=lambda skill_id: (-round(scores[skill_id], 6), skill_id))
    return [
        replace(best[skill_id], score=round(scores[skill_id], 6))
        for skill_id in order[:k]
    ]
