"""What becomes of a pack in a loader, as values."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from satchel.compat.loaders import Loader

__all__ = ["VERDICTS", "Outcome", "Shown", "Verdict", "worst_verdict"]

Verdict = Literal["loaded", "cut", "wrong", "unknown", "dropped", "breaks-neighbours"]

VERDICTS: Final[dict[Verdict, str]] = {
    "loaded": "listed with its name and its whole description",
    "cut": "listed, with a part of its description, from the beginning",
    "wrong": "listed, with an empty, mistaken or invented description or name",
    "unknown": "nobody measured or documented it",
    "dropped": "not listed; the packs beside it are",
    "breaks-neighbours": "not listed, and packs beside it are not listed either",
}
"""Each verdict and exactly what it means, the mildest first.

A name counts as its own if it is the declared one or the folder's; descriptions are
compared with their white space folded. ``unknown`` stands before what is certain to
be no better.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a loader shows of a pack that it lists; None where it is not known."""

    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one loader makes of one pack.

    ``reasons`` are the keys of the properties that bring the verdict about, in the
    order of the table; for ``unknown`` those that nothing is known of. ``fix`` says
    what to change so that this loader takes the pack; empty where nothing needs to.
    ``shown`` says what it lists where that is not what the pack says.
    """

    loader: "Loader"
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    fix: str = ""
    shown: Shown | None = None


_RANK: Final = {verdict: rank for rank, verdict in enumerate(VERDICTS)}


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the gravest of them; ``loaded`` where there is none."""
    worst: Verdict = "loaded"
    for verdict in verdicts:
        if _RANK[verdict] > _RANK[worst]:
            worst = verdict
    return worst
