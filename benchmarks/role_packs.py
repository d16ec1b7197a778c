"""How well `find` tells the 17 role packs apart: ``python -m benchmarks packs``.

Each pack has ``evals/trigger_eval.json`` next to it: ten queries as users type them
that should load it and five that should not, most of these the work of a neighbour.
They were written before the descriptions were, and a pack's last four and last two
were not looked at while the descriptions were written: the tables give these apart.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import BAR_HEAD, Bar, Spread, table
from satchel import Satchel, sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PACKS: Final = Path(__file__).parents[1] / "src" / "satchel" / "packs"
EVALS: Final = "evals/trigger_eval.json"
SEEN_TRIGGERS: Final = 6
SEEN_OTHERS: Final = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """A query next to a pack, and which pack `find` puts first ("" for none)."""

    pack: str
    query: str
    should_trigger: bool
    held_out: bool
    first: str
    weak: bool

    @property
    def is_first(self) -> bool:
        """Whether the query's own pack is the first hit."""
        return self.first == self.pack


def measure() -> list[Outcome]:
    """Ask every query of every pack, with all packs in the catalog."""
    outcomes: list[Outcome] = []
    with Satchel(sources.roles()) as skills:
        for entry in skills.catalog:
            text = (PACKS / entry.id / EVALS).read_text("utf-8")
            place = {True: 0, False: 0}
            for row in json.loads(text):
                should = bool(row["should_trigger"])
                place[should] += 1
                hits = skills.find(row["query"], 1)
                outcomes.append(
                    Outcome(
                        entry.id,
                        row["query"],
                        should,
                        place[should] > (SEEN_TRIGGERS if should else SEEN_OTHERS),
                        hits[0].id if hits else "",
                        bool(hits) and hits[0].weak,
                    )
                )
    return outcomes


def share(outcomes: Iterable[Outcome], *, should_trigger: bool) -> float:
    """Return how often the pack of a query is first, of those of one kind."""
    asked = [item for item in outcomes if item.should_trigger == should_trigger]
    return sum(item.is_first for item in asked) / len(asked)


def bars(outcomes: Sequence[Outcome]) -> list[Bar]:
    """Return what was promised next to what was measured.

    A pack that is first and labelled as a weak match is not counted as wrong: the label
    says that it may not fit. `run` prints the share with those, too.
    """
    right = share(outcomes, should_trigger=True)
    others = [item for item in outcomes if not item.should_trigger]
    wrong = sum(item.is_first and not item.weak for item in others) / len(others)
    return [
        Bar(
            "Hit@1 of what should load the pack",
            0.85,
            Spread.of([right]),
            at_least=True,
        ),
        Bar("first and not weak, of what should not", 0.10, Spread.of([wrong])),
    ]


def run() -> bool:
    """Print a row for each pack, each miss, and the bars; tell whether all are met."""
    outcomes = measure()
    rows: list[tuple[str, ...]] = []
    for pack in dict.fromkeys(item.pack for item in outcomes):
        own = [item for item in outcomes if item.pack == pack]
        yes, no = (
            [item for item in own if item.should_trigger == should]
            for should in (True, False)
        )
        rows.append(
            (
                pack,
                f"{sum(item.is_first for item in yes)} of {len(yes)}",
                f"{sum(item.is_first for item in no)} of {len(no)}",
            )
        )
    print(table(("pack", "first where it should be", "where it should not"), rows))
    wrong = [item for item in outcomes if item.is_first != item.should_trigger]
    print(
        table(
            ("query", "next to", "first"),
            ((item.query, item.pack, item.first or "none") for item in wrong),
        )
    )
    promised = bars(outcomes)
    print(table(BAR_HEAD, (bar.row() for bar in promised)))
    at_all = share(outcomes, should_trigger=False)
    print(f"First of what should not, weak or not: {at_all:.2f}.")
    held_out = [item for item in outcomes if item.held_out]
    figures = (share(held_out, should_trigger=should) for should in (True, False))
    print("Of the queries held out: {:.2f} and {:.2f}.".format(*figures))
    return all(bar.is_met for bar in promised)


if __name__ == "__main__":
    sys.exit(not run())
