"""What ``satchel check --for`` shows: skills down, clients across, and the reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from satchel.checking import plan_repairs
from satchel.clients import PROPERTIES
from satchel.text import plural

if TYPE_CHECKING:
    from satchel.checking import LibraryPrediction, PackPrediction
    from satchel.clients import Loader, Prediction

# Loaders that are named before the rest is counted.
_MAX_NAMED: Final = 3


class Mark(NamedTuple):
    """How a state is written: in a narrow grid, in a wide one, and in the legends."""

    sign: str
    word: str
    short: str
    meaning: str
    of_loaders: str
    style: dict[str, Any]


# Each state, the worst first. A colour never says more than the sign does.
MARKS: Final = {
    "breaks-neighbours": Mark(
        "!",
        "breaks",
        "breaks its library",
        "neither it nor any skill next to it is listed",
        "breaks",
        {"fg": "bright_white", "bg": "red", "bold": True},
    ),
    "dropped": Mark(
        "d", "dropped", "dropped", "not listed", "dropped by", {"fg": "red"}
    ),
    "lost": Mark(
        "l",
        "lost",
        "lost with it",
        "not listed until the skill that breaks is fixed",
        "lost to",
        {"fg": "red"},
    ),
    "wrong": Mark(
        "m",
        "misread",
        "misread",
        "listed with a wrong name or description",
        "misread by",
        {"fg": "magenta"},
    ),
    "cut": Mark(
        "c",
        "cut",
        "cut",
        "only the beginning of its description is listed",
        "cut by",
        {"fg": "yellow"},
    ),
    "unknown": Mark(
        "?", "unknown", "unknown", "nobody looked", "unknown to", {"fg": "cyan"}
    ),
    "loaded": Mark(".", "loaded", "loaded", "", "loaded by", {"fg": "green"}),
}


@dataclass(frozen=True, slots=True)
class Grid:
    """Skills that some loader does not load whole, the worst first.

    ``columns`` has the loaders for which all rows are equal, the worst first, and
    ``states`` the keys in `MARKS`, row by row.
    """

    rows: "tuple[PackPrediction, ...]"
    columns: "tuple[tuple[Loader, ...], ...]"
    states: tuple[tuple[str, ...], ...]
    more: int

    @classmethod
    def of(cls, library: "LibraryPrediction", most: int | None = None) -> "Grid":
        """Return at most so many rows; ``more`` counts the others."""
        pairs = (
            (tuple(_state(pack, outcome) for outcome in pack.outcomes), pack)
            for pack in library.packs
        )
        bad = [pair for pair in pairs if {*pair[0]} - {"loaded"}]
        # Equal ones stay in the order of their paths.
        worst = sorted(bad, key=lambda pair: badness(pair[0]))[:most]
        alike: dict[tuple[str, ...], list[Loader]] = {}
        for at, loader in enumerate(library.loaders):
            alike.setdefault(tuple(row[at] for row, _ in worst), []).append(loader)
        columns = sorted(alike, key=badness)
        return cls(
            tuple(pack for _, pack in worst),
            tuple(tuple(alike[column]) for column in columns),
            tuple(zip(*columns, strict=True)),
            len(bad) - len(worst),
        )

    @property
    def present(self) -> list[str]:
        """The states that occur, the worst first."""
        return [state for state in MARKS if any(state in row for row in self.states)]


def _state(pack: "PackPrediction", outcome: "Prediction") -> str:
    return "lost" if pack.is_lost(outcome) else outcome.verdict


def badness(states: Iterable[str]) -> tuple[int, ...]:
    """Return a key that sorts worse states before better ones."""
    states = tuple(states)
    return tuple(-states.count(state) for state in MARKS)


@dataclass(frozen=True, slots=True)
class LoaderProblem:
    """A property for which loaders do not load skills whole.

    ``loaders`` are by their verdict, ``places`` are the skills' files with the line.
    """

    key: str
    loaders: "dict[str, dict[Loader, None]]"
    places: dict[str, None]

    @property
    def about(self) -> str:
        """What is wrong, as a sentence without a full stop."""
        if self.key not in PROPERTIES:
            return "nothing is wrong: it does so with every skill"
        return PROPERTIES[self.key].about

    @property
    def fix(self) -> str:
        """What to do; empty where nothing helps."""
        return PROPERTIES[self.key].fix if self.key in PROPERTIES else ""

    def rank(self) -> tuple[int, ...]:
        """Return a key that sorts what harms more skills more before the rest."""
        counts = (len(self.loaders.get(state, ())) for state in MARKS)
        return tuple(-count * len(self.places) for count in counts)


def problems_of(library: "LibraryPrediction") -> list[LoaderProblem]:
    """Return every reason why a skill is not loaded whole, the worst first."""
    problems: dict[str, LoaderProblem] = {}
    for pack in library.packs:
        for outcome in pack.outcomes:
            if pack.is_lost(outcome):
                continue  # the skill that breaks has the reason
            for key in outcome.reasons:
                problem = problems.setdefault(key, LoaderProblem(key, {}, {}))
                problem.loaders.setdefault(outcome.verdict, {})[outcome.loader] = None
                problem.places[f"{pack.path}:{pack.lines[key]}"] = None
    return sorted(problems.values(), key=LoaderProblem.rank)


def names_of(loaders: "Iterable[Loader]") -> list[str]:
    """Return their keys, with a star where only the documentation was read."""
    return [f"{one.key}{'*' * (one.how == 'documented')}" for one in loaders]


def some_of(keys: Sequence[str]) -> str:
    """Return them in one phrase; of many, the first and how many more there are."""
    if len(keys) <= _MAX_NAMED + 1:
        return ", ".join(keys)
    return f"{', '.join(keys[:_MAX_NAMED])} and {len(keys) - _MAX_NAMED} more"


@dataclass(frozen=True, slots=True)
class FirstRepairs:
    """What to fix first and what that gives, in words; pairs of a place and a fix."""

    what: str
    back: str
    repairs: list[tuple[str, str]]


def first_repairs(library: "LibraryPrediction") -> FirstRepairs | None:
    """Return the few lines that bring back the most skills; None without any."""
    plan = plan_repairs(library)
    if not plan.lines:
        return None
    count = len(plan.lines)
    thing = "line" if all(repair.line for repair in plan.lines) else "place"
    by_count: dict[int, list[str]] = {}
    for key, number in plan.back.items():
        by_count.setdefault(number, []).append(key)
    (first, keys), *others = by_count.items()
    back = f"{plural(first, 'skill')} back in {some_of(keys)}"
    for second, keys in others[:1]:
        back += f"; {second:,} in {some_of(keys)}"
    if rest := sum(len(keys) for _, keys in others[1:]):
        back += f"; fewer in {rest} more"
    return FirstRepairs(
        f"Fix this {thing}" if count == 1 else f"Fix these {count} {thing}s",
        back,
        [
            (f"{one.path}:{one.line}" if one.line else one.path, "; ".join(one.fixes))
            for one in plan.lines
        ],
    )
