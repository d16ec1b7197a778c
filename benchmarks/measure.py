"""Rounds in turn, ratios pair by pair, and tables.

Machines are shared, and a second that one of two took longer says nothing. So each
round runs every competitor once, one after another, and a ratio is taken within a
round: what slows a round down slows both sides of it.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some figures, the least and the greatest of them."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """Return the spread of at least one figure."""
        ordered = sorted(figures)
        return cls(statistics.median(ordered), ordered[0], ordered[-1])

    def __format__(self, spec: str) -> str:
        """Return ``median (least to greatest)``, each formatted by ``spec``."""
        figures = (self.median, self.least, self.greatest)
        median, least, greatest = (format(figure, spec) for figure in figures)
        return f"{median} ({least} to {greatest})"


@dataclass(frozen=True, slots=True)
class Bar:
    """A ratio that was promised, and the one that was measured.

    ``at_least`` tells that the measured ratio has to be the greater one.
    """

    what: str
    promised: float
    measured: Spread
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the median keeps the promise."""
        if self.at_least:
            return self.measured.median >= self.promised
        return self.measured.median <= self.promised

    def row(self) -> tuple[str, ...]:
        """Return a row of the table of bars."""
        word = "at least" if self.at_least else "at most"
        return (
            self.what,
            f"{word} {self.promised:g}",
            f"{self.measured:.2f}",
            "met" if self.is_met else "**missed**",
        )


BAR_HEAD = ("bar", "promised", "measured", "")


def in_turn(
    competitors: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, list[float]]:
    """Run every competitor once a round; return their figures by name, by round.

    Every other round goes backwards, so that none is always the one who comes after
    a slow one.
    """
    figures: dict[str, list[float]] = {name: [] for name in competitors}
    for number in range(rounds):
        names = list(competitors)
        for name in reversed(names) if number % 2 else names:
            figures[name].append(competitors[name]())
    return figures


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Return the spread of the ratios, taken round by round."""
    pairs = zip(numerators, denominators, strict=True)
    return Spread.of(over / under for over, under in pairs)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
