"""``satchel predict`` for people at a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from string import ascii_lowercase, ascii_uppercase
from typing import Final

import click

from satchel.cli import bold, one_line
from satchel.text import cells, plural
from satchel_lab.checking import LibraryPrediction, some_of
from satchel_lab.commands._grid import (
    MARKS,
    Grid,
    LoaderProblem,
    first_repairs,
    names_of,
    problems_of,
)

_MAX_ROWS: Final = 20
_MAX_DETAILS: Final = 10
# A text has at most so many lines, however many skills there are: details give way.
_MAX_LINES: Final = 60
# Columns that names of skills get at least, and those that are enough for most.
_MIN_NAME: Final = 16
_GOOD_NAME: Final = 36
# More lines of loaders than this are joined, next to a grid that is full.
_MAX_KEY_LINES: Final = 8
# Loaders that load everything are counted if they are more than this.
_MAX_LOADED: Final = 3
_INDENT: Final = "    "


def render_grid(library: LibraryPrediction, command: str, columns: int) -> str:
    """Return the grid of the worst skills, what to fix first, details, and a summary.

    ``command`` shows the rest.
    """
    grid = Grid.of(library, _MAX_ROWS)
    if not grid.rows:
        return click.style(_summary(library), fg="green")
    lines = [*_grid_lines(grid, columns), "", *_plan_lines(library, columns)]
    problems = problems_of(library)
    details = [list(_detail(problem, columns)) for problem in problems[:_MAX_DETAILS]]
    end: list[str] = []
    shown = 0
    for shown in range(len(details), -1, -1):
        end = ["", *_end(library, grid.more, len(problems) - shown, command, columns)]
        if len(lines) + sum(map(len, details[:shown])) + len(end) <= _MAX_LINES:
            break
    rest = [line for detail in details[:shown] for line in detail]
    return "\n".join([*lines, *rest, *end])


def _grid_lines(grid: Grid, columns: int) -> Iterator[str]:
    """Yield the grid, its legend, and which loaders are in which column."""
    base, names = _row_names(grid)
    longest = max(map(cells, [base, *names]))
    titles = [", ".join(names_of(loaders)) for loaders in grid.columns]
    letters = [*ascii_uppercase, *ascii_lowercase, *titles][: len(titles)]
    words = [[MARKS[state].word for state in row] for row in grid.states]
    signs = [[MARKS[state].sign for state in row] for row in grid.states]
    # The first that has room: names and words, letters and words, letters and signs,
    # signs without spaces between them.
    for heads, texts, gap in (
        (titles, words, "  "),
        (letters, words, "  "),
        (letters, signs, " "),
        (letters, signs, ""),
    ):
        widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
        room = columns - sum(width + len(gap) for width in widths) - (not gap)
        if room >= min(longest, _GOOD_NAME if gap == "  " else _MIN_NAME):
            break
    room = min(max(room, _MIN_NAME), longest)
    between = gap or " "
    head = gap.join(map(str.ljust, heads, widths)).rstrip()
    yield bold(f"{_padded(base, room)}{between}{head}")
    for name, row, states in zip(names, texts, grid.states, strict=True):
        # The spaces are outside, so that a colour ends with its word.
        marks = (
            click.style(text, **MARKS[state].style) + " " * (width - len(text))
            for text, width, state in zip(row, widths, states, strict=True)
        )
        yield f"{_padded(name, room)}{between}{gap.join(marks)}".rstrip()
    yield ""
    yield from _flowed(_legend(grid, signs=texts is signs), columns, gap="   ")
    if heads is letters:
        yield from _key(grid, letters, columns)


def _row_names(grid: Grid) -> tuple[str, list[str]]:
    """Return the folder that all rows have in common, and their names in it."""
    paths = [one_line(pack.pack).split("/") for pack in grid.rows]
    above = zip(*(path[:-1] for path in paths), strict=False)
    shared = [*takewhile(lambda parts: len({*parts}) == 1, above)]
    base = "".join(f"{part}/" for part, *_ in shared)
    return base, ["/".join(path[len(shared) :]) for path in paths]


def _padded(text: str, columns: int) -> str:
    """Return the text as wide as ``columns``; of a longer one the end."""
    if cells(text) > columns:
        while cells(text) >= columns:
            text = text[1:]
        text = f"…{text}"
    return text + " " * (columns - cells(text))


def _legend(grid: Grid, *, signs: bool) -> Iterator[str]:
    for state in grid.present:
        mark = MARKS[state]
        if signs:
            yield f"{click.style(mark.sign, **mark.style)} {mark.short or mark.word}"
        elif mark.meaning:
            yield f"{click.style(mark.word, **mark.style)}: {mark.meaning}"
    if any("*" in name for loaders in grid.columns for name in names_of(loaders)):
        yield "* documented, not run"


def _key(grid: Grid, letters: Sequence[str], columns: int) -> Iterator[str]:
    """Yield the loaders of each column, on lines of their own while those are few."""
    groups: list[list[str]] = []
    columns_of = zip(*grid.states, strict=True)
    for letter, loaders, states in zip(letters, grid.columns, columns_of, strict=True):
        *names, last = names_of(loaders)
        if {*states} == {"loaded"} and len(loaders) > _MAX_LOADED:
            names, last = [], f"the other {len(loaders)} clients"
        first, *more = [*(f"{name}," for name in names), last]
        groups.append([f"{bold(letter)} {first}", *more])
    apart = [line for one in groups for line in _flowed(one, columns, rest="  ")]
    if len(apart) > _MAX_KEY_LINES + _MAX_ROWS - len(grid.rows):
        joined = [[f"  {first}", *more] for first, *more in groups]
        apart = [*_flowed((part for group in joined for part in group), columns)]
    yield from apart


def _plan_lines(library: LibraryPrediction, columns: int) -> Iterator[str]:
    plan = first_repairs(library)
    if plan is None:
        return
    words = f"{bold(f'{plan.what}:')} {plan.back}".split(" ")
    yield from _flowed(words, columns, rest=_INDENT)
    for place, fix in plan.repairs:
        yield from _wrapped(f"  {_place(place)}: {fix}", columns)
    yield ""


def _detail(problem: LoaderProblem, columns: int) -> Iterator[str]:
    """Yield where and what, for which loaders, and what to do."""
    first, *more = problem.places
    also = f" (and {plural(len(more), 'more skill')})" if more else ""
    worst = min(problem.loaders, key=[*MARKS].index)
    keys = [loader.key for loader in problem.loaders[worst]]
    who = f"{MARKS[worst].of_loaders} {some_of(keys)}"
    if others := sum(map(len, problem.loaders.values())) - len(keys):
        who += f"; {others} more {'is' if others == 1 else 'are'} affected"
    fix = f". Fix: {problem.fix}" if problem.fix else ""
    text = f"{_place(first)}: {problem.about}{also}; {who}{fix}"
    yield from _wrapped(text, columns)


def _place(path: str) -> str:
    return one_line(path.removeprefix("./"))


def _end(
    library: LibraryPrediction, skills: int, reasons: int, command: str, columns: int
) -> Iterator[str]:
    yield bold(_summary(library))
    if skills or reasons:
        counts = ((skills, "more skill"), (reasons, "more reason"))
        rest = " and ".join(plural(count, what) for count, what in counts if count)
        yield from _wrapped(f"{rest}: {one_line(command)}", columns)


def _summary(library: LibraryPrediction) -> str:
    packs, loaders = library.packs, library.loaders
    fine = ("loaded", "hidden")
    whole = sum(all(pack.verdict(o) in fine for o in pack.outcomes) for pack in packs)
    hidden = sum(bool(pack.of("hidden")) for pack in packs)
    as_asked = f"; {hidden:,} hidden on purpose" if hidden else ""
    count, where = plural(len(packs), "skill"), f"all {len(loaders)} clients"
    if len(loaders) == 1:
        where = loaders[0].title
    elif len(loaders) == 2:  # noqa: PLR2004 - both
        where = "both clients"
    if whole == len(packs):
        return f"{count} loaded whole by {where}{as_asked}"
    loaded = f"{whole:,}" if whole else "none"
    return f"{count}: {loaded} loaded whole by {where}{as_asked}"


def _flowed(
    parts: Iterable[str],
    columns: int,
    *,
    gap: str = " ",
    first: str = "",
    rest: str = "",
) -> Iterator[str]:
    """Yield lines of at most ``columns`` of parts that are not broken."""
    line = ""
    for part in parts:
        longer = f"{line}{gap}{part}" if line else f"{first}{part.lstrip()}"
        if line and cells(click.unstyle(longer)) > columns:
            yield line
            longer = f"{rest}{part.lstrip()}"
        line = longer
    if line:
        yield line


def _wrapped(text: str, columns: int) -> Iterator[str]:
    first = text[: len(text) - len(text.lstrip())]
    return _flowed(text.split(), columns, first=first, rest=_INDENT)
