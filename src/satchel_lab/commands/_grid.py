"""What ``satchel predict`` shows: skills down, clients across, and the reasons."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, Final, NamedTuple

from satchel.cli import one_line
from satchel.text import plural
from satchel_lab._markup import html_page
from satchel_lab.checking import (
    LibraryPrediction,
    PackPrediction,
    plan_repairs,
    some_of,
)
from satchel_lab.clients import PROPERTIES, Loader, advice_for


class Mark(NamedTuple):
    """How a state is written: in a narrow grid, in a wide one, and in the legends.

    ``short`` and ``before_loaders`` are for states whose word says too little there.
    """

    sign: str
    word: str
    style: dict[str, Any]
    meaning: str = ""
    short: str = ""
    before_loaders: str = ""

    @property
    def of_loaders(self) -> str:
        """The words before the names of loaders that do this."""
        return self.before_loaders or f"{self.word} by"


# Each state, the worst first. A colour never says more than the sign does.
MARKS: Final = {
    "breaks-neighbours": Mark(
        "!",
        "breaks",
        {"fg": "bright_white", "bg": "red", "bold": True},
        "neither it nor any skill next to it is listed",
        "breaks its library",
        "breaks",
    ),
    "dropped": Mark("d", "dropped", {"fg": "red"}, "not listed"),
    "lost": Mark(
        "l",
        "lost",
        {"fg": "red"},
        "not listed until the skill that breaks is fixed",
        "lost with it",
        "lost to",
    ),
    "wrong": Mark(
        "m", "misread", {"fg": "magenta"}, "listed with a wrong name or description"
    ),
    "cut": Mark(
        "c", "cut", {"fg": "yellow"}, "only the beginning of its description is listed"
    ),
    "unknown": Mark(
        "?", "unknown", {"fg": "cyan"}, "nobody looked", before_loaders="unknown to"
    ),
    "hidden": Mark(
        "h",
        "hidden",
        {"fg": "green"},
        "the skill says that the model may not start it",
        "hidden on purpose",
    ),
    "loaded": Mark(".", "loaded", {"fg": "green"}),
}


@dataclass(frozen=True, slots=True)
class Grid:
    """Skills that some loader does not load whole, the worst first.

    ``columns`` has the loaders for which all rows are equal, the worst first, and
    ``states`` the keys in `MARKS`, row by row.
    """

    rows: tuple[PackPrediction, ...]
    columns: tuple[tuple[Loader, ...], ...]
    states: tuple[tuple[str, ...], ...]
    more: int

    @classmethod
    def of(cls, library: LibraryPrediction, most: int | None = None) -> "Grid":
        """Return at most so many rows; ``more`` counts the others."""
        states = (
            tuple("lost" if pack.is_lost(o) else o.verdict for o in pack.outcomes)
            for pack in library.packs
        )
        pairs = zip(states, library.packs, strict=True)
        bad = [pair for pair in pairs if {*pair[0]} - {"loaded", "hidden"}]
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
    loaders: dict[str, dict[Loader, None]]
    places: dict[str, None]
    asked: tuple[Loader, ...] = ()

    @property
    def about(self) -> str:
        """What is wrong, as a sentence without a full stop."""
        if self.key not in PROPERTIES:
            return "nothing is wrong: it does so with every skill"
        return PROPERTIES[self.key].about

    @property
    def fix(self) -> str:
        """What to do; empty where nothing helps."""
        return advice_for(self.key, self.asked) if self.key in PROPERTIES else ""

    def rank(self) -> tuple[int, ...]:
        """Return a key that sorts what harms more skills more before the rest."""
        counts = (len(self.loaders.get(state, ())) for state in MARKS)
        return tuple(-count * len(self.places) for count in counts)


def problems_of(library: LibraryPrediction) -> list[LoaderProblem]:
    """Return every reason why a skill is not loaded whole, the worst first."""
    problems: dict[str, LoaderProblem] = {}
    for pack in library.packs:
        for outcome in pack.outcomes:
            # The skill that breaks has the reason, or its author wants it so.
            if pack.is_lost(outcome) or outcome.verdict == "hidden":
                continue
            for key in outcome.reasons:
                problem = problems.setdefault(
                    key, LoaderProblem(key, {}, {}, library.loaders)
                )
                problem.loaders.setdefault(outcome.verdict, {})[outcome.loader] = None
                problem.places[f"{pack.path}:{pack.lines[key][0]}"] = None
    return sorted(problems.values(), key=LoaderProblem.rank)


def names_of(loaders: Iterable[Loader]) -> list[str]:
    """Return their keys, with a star where only the documentation was read."""
    return [f"{one.key}{'*' * (one.how == 'documented')}" for one in loaders]


@dataclass(frozen=True, slots=True)
class FirstRepairs:
    """What to fix first and what that gives, in words; pairs of a place and a fix."""

    what: str
    back: str
    repairs: list[tuple[str, str]]


def first_repairs(library: LibraryPrediction) -> FirstRepairs | None:
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


_STYLE: Final = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
td, th { border: 1px solid #8886; padding: .15rem .5rem; text-align: left; }
th { background: Canvas; vertical-align: bottom; }
thead th { position: sticky; top: 0; }
.breaks { background: #c00; color: #fff; font-weight: bold; }
.dropped, .lost { background: #f5535333; }
.misread { background: #c058e033; }
.cut { background: #e5b30033; }
.unknown { background: #18a0c033; }
.loaded { background: #30a04622; }
code { font: 13px ui-monospace, monospace; }"""


def client_page(body: Iterable[str]) -> str:
    """Return a page about skills as clients see them."""
    return html_page("Skills as clients see them", _STYLE, body)


def render_html(library: LibraryPrediction) -> str:
    """Return the whole grid, and below it every reason with every place."""
    grid, problems = Grid.of(library), problems_of(library)
    skills, clients = len(library.packs), len(library.loaders)
    lines = [
        f"<h1>{plural(skills, 'skill')} in {plural(clients, 'client')}</h1>",
        f"<p>{skills - len(grid.rows):,} loaded whole by all of them.</p>",
    ]
    if grid.rows:
        lines += [*_first_repairs(library), *_legend(grid), *_table(grid)]
        lines += _problems(problems)
    return client_page(lines)


def _first_repairs(library: LibraryPrediction) -> Iterator[str]:
    plan = first_repairs(library)
    if plan is not None:
        yield f"<p><b>{plan.what}:</b> {plan.back}</p><ul>"
        for place, fix in plan.repairs:
            yield f"<li><code>{_text(place)}</code>: {_text(fix)}</li>"
        yield "</ul>"


def _legend(grid: Grid) -> Iterator[str]:
    yield "<p>"
    for mark in (MARKS[state] for state in grid.present if MARKS[state].meaning):
        yield f'<b class="{mark.word}">{mark.word}</b>: {mark.meaning}.'
    yield "* by its documentation, not run.</p>"


def _table(grid: Grid) -> Iterator[str]:
    names = ("<br>".join(names_of(loaders)) for loaders in grid.columns)
    heads = "".join(f"<th>{name}</th>" for name in ("skill", *names))
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for pack, states in zip(grid.rows, grid.states, strict=True):
        marks = (MARKS[state].word for state in states)
        cells = "".join(f'<td class="{word}">{word}</td>' for word in marks)
        yield f"<tr><th><code>{_text(pack.pack)}</code></th>{cells}</tr>"
    yield "</tbody></table>"


def _problems(problems: Iterable[LoaderProblem]) -> Iterator[str]:
    yield "<h2>Why, and what to do</h2>"
    for problem in problems:
        yield f"<h3>{_text(problem.about)}</h3>"
        yield f"<p>{_text(problem.fix)}</p><ul>"
        for state, loaders in problem.loaders.items():
            names = ", ".join(loader.key for loader in loaders)
            yield f"<li>{MARKS[state].of_loaders} {names}</li>"
        yield f"</ul><details><summary>{plural(len(problem.places), 'skill')}</summary>"
        yield "<br>".join(f"<code>{_text(place)}</code>" for place in problem.places)
        yield "</details>"


def _text(text: str) -> str:
    return escape(one_line(text))
