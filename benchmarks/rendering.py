"""Rendering 1,000 skills, next to `html.escape` and join over the same texts."""

from __future__ import annotations

import html
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, in_turn, ratio, table
from satchel import Catalog, Satchel
from satchel.prompt import Format, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.library import Library

SKILLS: Final = 1_000
# One rendering takes some milliseconds; a round is the best of so many.
TIMES: Final = 7
BUDGET_TOKENS: Final = 4_000
_BASE: Final = "html.escape and join"
_FORMATS: Final[tuple[Format, ...]] = ("xml-id", "xml-spec", "markdown", "json")


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    entries = Satchel(library.folder).registry.latest.entries
    # Every so many, so that not all ids begin with one letter.
    step = max(1, len(entries) // SKILLS)
    catalog = Catalog(entries[::step][:SKILLS])
    pairs = [(entry.id, entry.description) for entry in catalog]
    chars = sum(len(description) for _, description in pairs)
    print(f"## Rendering {len(pairs):,} skills, {chars:,} characters of description\n")

    def plain() -> object:
        return "".join(
            f"  <skill>\n    <id>{html.escape(id)}</id>\n"
            f"    <description>{html.escape(description)}</description>\n  </skill>\n"
            for id, description in pairs
        )

    competitors: dict[str, Callable[[], object]] = {_BASE: plain}
    for form in _FORMATS:
        for budget in (None, BUDGET_TOKENS):
            shown = "no budget" if budget is None else f"{budget:,} tokens"
            competitors[f"{form}, {shown}"] = partial(
                render, catalog, format=form, budget_tokens=budget
            )
    timed = {name: _timed(call) for name, call in competitors.items()}
    figures = in_turn(timed, rounds)
    base = figures[_BASE]
    print(
        table(
            ("", "ms", "over escape and join"),
            (
                (
                    name,
                    f"{Spread.of(1000 * each for each in seconds):.2f}",
                    f"{ratio(seconds, base):.2f}",
                )
                for name, seconds in figures.items()
            ),
        )
    )
    return [
        Bar(f"rendering {name}, over escape and join", 3, ratio(figures[name], base))
        for name in figures
        if name.startswith("xml-id")
    ]


def _timed(call: Callable[[], object]) -> Callable[[], float]:
    def best() -> float:
        seconds: list[float] = []
        for _ in range(TIMES):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    return best
