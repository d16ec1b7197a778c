"""Which skill a query finds, with no model: every case, ranked as `find` does."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from satchel.model import Catalog, Hit
from satchel.search import SegmentRanker
from satchel_lab.evals._dialects import EvalCase
from satchel_lab.evals._library import EvalLibrary

# How deep a rank is looked for, at least: `find_skills` shows a model as many.
DEPTH: Final = 10
# The 97.5th percentile of the normal distribution: intervals hold 95 of 100 times.
_Z: Final = 1.959964

Verdict: TypeAlias = Literal["hit", "found", "missed", "quiet", "fires"]
"""``hit``: first; ``found``: among the first k; ``quiet`` and ``fires`` of controls."""
Outcome: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
"""What two runs know a case by: its query, and the skills for it, and against it."""
GOOD: Final = frozenset({"hit", "quiet"})


@dataclass(frozen=True, slots=True)
class Routed:
    """A case, and who was found for it.

    ``rank`` is that of the best right skill, from 1; None where none was found.
    ``winner`` is the first hit where that is a wrong one, with its confidence; empty
    for none. ``words`` are the words of the query that the winner has.
    """

    case: EvalCase
    verdict: Verdict
    rank: int | None
    winner: str = ""
    confidence: float = 0.0
    words: tuple[str, ...] = ()

    @property
    def key(self) -> Outcome:
        """What two runs know a case by."""
        return self.case.query, self.case.expected, self.case.forbidden

    @property
    def good(self) -> bool:
        """Whether it went as its author expects."""
        return self.verdict in GOOD


@dataclass(frozen=True, slots=True)
class Share:
    """A share of some cases with its 95 % interval; ``of`` is 0 where there is none."""

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True)
class SkillFigures:
    """The queries of one skill: how many, how many hit, found, and its controls."""

    skill: str
    queries: int
    hits: int
    found: int
    reciprocal: float
    controls: int
    fired: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """A skill whose queries another one takes.

    ``lacks`` are words of those queries that the skill's name and description have
    not, ``has`` those of them that the other one's have.
    """

    skill: str
    taken_by: str
    queries: tuple[str, ...]
    lacks: tuple[str, ...]
    has: tuple[str, ...]


def route(
    cases: Iterable[EvalCase], library: EvalLibrary, k: int
) -> tuple[Routed, ...]:
    """Return what is found for each case, in the order of the cases.

    A control fires where the skill that should stay quiet is the first hit and no weak
    one; a control of the whole library, where any skill is.
    """
    cases = tuple(cases)
    ranker = SegmentRanker()
    # Queries that differ in spaces are one.
    asked = {case.query: " ".join(case.query.split()) for case in cases}
    queries = dict.fromkeys(asked.values())
    view = Catalog(library.skills, readers=library.readers)
    view = involved(view, queries, ranker)
    depth = max(DEPTH, k)
    hits = {query: ranker.rank(view, query, depth, whole=True) for query in queries}
    return tuple(_routed(case, hits[asked[case.query]], k) for case in cases)


def involved(view: Catalog, queries: Iterable[str], ranker: SegmentRanker) -> Catalog:
    """Return the catalog of the skills that have a word of any query.

    How rare a word is depends on the number of skills: others must change nothing.
    """
    ids = ranker.having_any(view, queries)
    entries = tuple(entry for entry in view if entry.id in ids)
    return view if len(entries) == len(view.entries) else replace(view, entries=entries)


def _routed(case: EvalCase, hits: Sequence[Hit], k: int) -> Routed:
    first = hits[0] if hits else None
    if case.is_control:
        fires = first is not None and not first.weak
        if case.forbidden:
            fires = fires and not {*_ids(first)}.isdisjoint(case.forbidden)
        if not fires or first is None:
            return Routed(case, "quiet", None)
        return Routed(case, "fires", None, *_winner(first))
    right = {*case.expected}
    ranks = (at for at, hit in enumerate(hits, 1) if not right.isdisjoint(_ids(hit)))
    rank = next(ranks, None)
    if rank == 1 or first is None:
        return Routed(case, "hit" if rank else "missed", rank)
    verdict: Verdict = "found" if rank is not None and rank <= k else "missed"
    return Routed(case, verdict, rank, *_winner(first))


def _ids(hit: Hit | None) -> tuple[str, ...]:
    """Return the skills of a row; copies count as the skill itself."""
    return () if hit is None else (hit.id, *hit.copies)


def _winner(hit: Hit) -> tuple[str, float, tuple[str, ...]]:
    return hit.id, hit.confidence, hit.terms


def share(outcomes: Mapping[str, Sequence[bool]]) -> Share:
    """Return the share of what is true, with Wilson's interval, clustered.

    Queries of one skill stand or fall together, so as many queries say less than as
    many skills. The number of cases counts only as far as the variance between the
    clusters, here the keys, allows (the design effect of cluster sampling).
    """
    total = sum(map(len, outcomes.values()))
    if not total:
        return Share(0.0, 0.0, 1.0, 0)
    value = sum(map(sum, outcomes.values())) / total
    clusters = len(outcomes)
    effective = float(total)
    if clusters > 1 and 0 < value < 1:
        residuals = (sum(some) - value * len(some) for some in outcomes.values())
        variance = sum(r * r for r in residuals) * clusters / (clusters - 1) / total**2
        if variance:
            effective = min(total, max(1.0, value * (1 - value) / variance))
    low, high = wilson(value, effective)
    return Share(value, low, high, total)


def wilson(value: float, cases: float) -> tuple[float, float]:
    """Return Wilson's score interval of a share of so many cases."""
    z2 = _Z * _Z
    middle = (value + z2 / (2 * cases)) / (1 + z2 / cases)
    spread = value * (1 - value) / cases + z2 / (4 * cases * cases)
    half = _Z * math.sqrt(spread) / (1 + z2 / cases)
    return max(0.0, middle - half), min(1.0, middle + half)


def by_skill(routed: Iterable[Routed]) -> tuple[SkillFigures, ...]:
    """Return the figures of each skill that a case names, by its id."""
    queries: dict[str, list[Routed]] = defaultdict(list)
    controls: dict[str, list[Routed]] = defaultdict(list)
    for one in routed:
        for skill in one.case.expected:
            queries[skill].append(one)
        if one.case.is_control:
            for skill in one.case.forbidden:
                controls[skill].append(one)
    return tuple(
        SkillFigures(
            skill,
            len(own := queries[skill]),
            sum(one.verdict == "hit" for one in own),
            sum(one.verdict in ("hit", "found") for one in own),
            sum(1 / one.rank for one in own if one.rank),
            len(quiet := controls[skill]),
            sum(one.verdict == "fires" for one in quiet),
        )
        for skill in sorted({*queries, *controls})
    )


def confusions(routed: Iterable[Routed], library: EvalLibrary) -> tuple[Confusion, ...]:
    """Return who takes whose queries, most queries first, then by id."""
    taken: dict[tuple[str, str], list[Routed]] = defaultdict(list)
    for one in routed:
        if one.winner and one.case.expected:
            taken[one.case.expected[0], one.winner].append(one)
    pairs: list[Confusion] = []
    for (skill, winner), cases in taken.items():
        queries = tuple(one.case.query for one in cases)
        lacks = library.telling(queries, not_by=(skill,))
        has = library.telling(queries, said_by=winner, not_by=(skill,))
        pairs.append(Confusion(skill, winner, queries, lacks, has))
    return tuple(sorted(pairs, key=lambda c: (-len(c.queries), c.skill, c.taken_by)))
