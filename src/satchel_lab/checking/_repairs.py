"""The few lines to change so that loaders list the most skills again."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from satchel_lab.checking._prediction import LibraryPrediction, PackPrediction
from satchel_lab.clients import PROPERTIES, LoaderVerdict, Prediction, worst_verdict

# A plan is what a person does at once, so it has no more lines than this.
_MAX_LINES: Final = 5
# Sets of lines that are tried: those that promise the most for each line.
_MAX_TRIED: Final = 60
# A plan ends before lines that give less than this share of what the first ones give.
_LEAST_SHARE: Final = 1 / 3

_BREAKS: Final = "breaks-neighbours"
_NOT_LISTED: Final = ("dropped", _BREAKS)
_LISTED: Final = ("loaded", "cut", "wrong")
# These are about the file's name or the place of its folder, and about no line.
_OF_THE_PLACE: Final = ("deeply-nested", "linked-folder", "lower-case-file", "nested")

# Some loaders break at tools in a list, others at tools in a text: no line suits all.
_EITHER_WAY: Final = (
    *("tools-list", "tools-text", "tools-commas", "tools-mapping"),
    *("tools-underscore-list", "tools-underscore-text"),
)

# A pack, by its number, and a line of its SKILL.md; 0 is its name or place.
_Spot = tuple[int, int]
_Spots = frozenset[_Spot]
_NOTHING: Final[_Spots] = frozenset()


@dataclass(frozen=True, slots=True)
class LineRepair:
    """A line to change, and how; ``line`` 0 means the name or the place of ``path``."""

    path: str
    line: int
    fixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """Lines to change, and how many skills each loader then lists again, by its key."""

    lines: tuple[LineRepair, ...] = ()
    back: dict[str, int] = field(default_factory=dict[str, int])


def plan_repairs(library: LibraryPrediction) -> RepairPlan:
    """Return the lines that give the most for each line; none where none helps.

    All other properties of a pack stay as they are, so a skill counts only if nothing
    else keeps the loader from listing it.
    """
    search = _RepairSearch(library)
    chosen, first = _NOTHING, 0.0
    while True:
        gains = {
            more: search.back(chosen | more).total() - search.back(chosen).total()
            for spots in search.candidates
            if 0 < len(more := spots - chosen) <= _MAX_LINES - len(chosen)
        }
        # Of equal ones the first counts, so that equal calls give equal plans.
        best = max(gains, key=lambda one: gains[one] / len(one), default=_NOTHING)
        share = gains[best] / len(best) if best else 0.0
        if not share or share < first * _LEAST_SHARE:
            break
        chosen, first = chosen | best, first or share
    return RepairPlan(
        tuple(search.repair(spot) for spot in sorted(chosen)),
        dict(search.back(chosen).most_common()),
    )


class _RepairSearch:
    """What could be changed, and how many skills that brings back."""

    def __init__(self, library: LibraryPrediction) -> None:
        self._packs = library.packs
        self._lines = [_lines_to_change(pack) for pack in library.packs]
        # By library and loader: the packs at which it breaks, and those it could list.
        self._breaking: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._listed: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for at, pack in enumerate(library.packs):
            for outcome in pack.outcomes:
                key = pack.library, outcome.loader.key
                if outcome.verdict == _BREAKS:
                    self._breaking[key].add(at)
                elif outcome.verdict in _LISTED:
                    self._listed[key].add(at)
        promises: Counter[_Spots] = Counter()
        for spots, promise in self._promises():
            promises[spots] += promise
        promises.pop(_NOTHING, None)
        self.candidates: list[_Spots] = sorted(
            promises, key=lambda one: (-promises[one] / len(one), sorted(one))
        )[:_MAX_TRIED]

    def _promises(self) -> Iterator[tuple[_Spots, int]]:
        """Yield lines that may bring skills back, and about how many."""
        for key, breaking in self._breaking.items():
            spots: set[_Spot] = set()
            for at in breaking:
                outcomes = self._packs[at].outcomes
                (outcome,) = (one for one in outcomes if one.loader.key == key[1])
                spots |= self._spots(at, outcome, (_BREAKS,))
            yield frozenset(spots), len(self._listed[key])
        for at, pack in enumerate(self._packs):
            for outcome in pack.outcomes:
                if outcome.verdict in _NOT_LISTED:
                    yield self._spots(at, outcome, _NOT_LISTED), 1

    def _spots(self, at: int, outcome: Prediction, bad: tuple[str, ...]) -> _Spots:
        lines, verdicts = self._lines[at], outcome.by_property.items()
        keys = [key for key, verdict in verdicts if verdict in bad]
        return frozenset((at, line) for key in keys for line in lines.get(key, ()))

    def back(self, fixed: _Spots) -> "Counter[str]":
        """Return how many more skills each loader lists once these lines are fixed."""
        touched = {at for at, _ in fixed}
        back: Counter[str] = Counter()
        for library in {self._packs[at].library for at in touched}:
            here = {at for at in touched if self._packs[at].library == library}
            for index, outcome in enumerate(self._packs[next(iter(here))].outcomes):
                key = library, outcome.loader.key
                breaking, listed = self._breaking[key], self._listed[key]
                after = {at: self._verdict(at, index, fixed) for at in here}
                if breaking - {at for at in here if after[at] != _BREAKS}:
                    continue
                now = listed | {at for at in here if after[at] in _LISTED}
                back[outcome.loader.key] += len(now) - (0 if breaking else len(listed))
        return +back

    def _verdict(self, at: int, index: int, fixed: _Spots) -> LoaderVerdict:
        lines = self._lines[at]
        verdicts = self._packs[at].outcomes[index].by_property.items()
        return worst_verdict(
            verdict
            for key, verdict in verdicts
            if not (spots := lines.get(key)) or any((at, n) not in fixed for n in spots)
        )

    def repair(self, spot: _Spot) -> LineRepair:
        """Return what to change at a spot: all that keeps a loader from listing it."""
        at, line = spot
        keys = [key for key, lines in self._lines[at].items() if line in lines]
        fixes = dict.fromkeys(PROPERTIES[key].fix for key in keys)
        return LineRepair(self._packs[at].path, line, tuple(fixes))


def _lines_to_change(pack: PackPrediction) -> dict[str, tuple[int, ...]]:
    """Return the lines of the properties that keep some loader from listing a pack."""
    bad = {
        key
        for outcome in pack.outcomes
        for key, verdict in outcome.by_property.items()
        if verdict in _NOT_LISTED and key in PROPERTIES and key not in _EITHER_WAY
    }
    return {
        key: (0,) if key in _OF_THE_PLACE else lines
        for key, lines in pack.lines.items()
        if key in bad
    }
