"""Finding skills with filters, for a user, or by several queries at once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from satchel.model import Descriptor, Hit

if TYPE_CHECKING:
    from satchel.runtime._components import Components

# As many of each query's hits take part; with 60, the usual constant of reciprocal
# rank fusion, a first place is worth less than two second ones.
_FUSED_HITS: Final = 100
_FUSION: Final = 60


def find(
    components: "Components",
    query: str | Sequence[str],
    k: int,
    accepts: Callable[[Descriptor], bool],
    *,
    whole: bool,
) -> list[Hit]:
    """Return at most ``k`` hits that are accepted; of several queries, fused."""
    rank = partial(_rank, components, accepts=accepts, whole=whole)
    if isinstance(query, str):
        return rank(query, k)
    depth = max(k, _FUSED_HITS)
    lists = [rank(text, depth) for text in dict.fromkeys(query)]
    if len(lists) == 1:
        return lists[0][: max(k, 0)]
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
        for skill_id in order[: max(k, 0)]
    ]


def _rank(
    components: "Components",
    query: str,
    k: int,
    *,
    accepts: Callable[[Descriptor], bool],
    whole: bool,
) -> list[Hit]:
    catalog, ranker = components.registry.catalog, components.ranker
    if ranker is None:
        return components.search.rank(catalog, query, k, accepts, whole=whole)
    # A ranker of somebody else's knows no filter. What is left out below must not take
    # the place of others, so all is asked for.
    hits: list[Hit] = []
    for hit in ranker.rank(catalog, query, len(catalog)):
        entry = catalog.get(hit.id)
        if entry is not None and accepts(entry):
            hits.append(hit)
    return hits[: max(k, 0)]
