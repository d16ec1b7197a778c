"""The loaders of one pack, put together by what becomes of it and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.compat.properties import PROPERTIES

if TYPE_CHECKING:
    from satchel.compat import Loader, Outcome, Verdict
    from satchel.runtime.outlook import PackOutlook

__all__ = ["HEADS", "Group", "Reason", "groups_of", "losses_of"]

HEADS: Final["dict[Verdict, str]"] = {
    "breaks-neighbours": "breaks",
    "dropped": "drops",
    "wrong": "misreads",
    "cut": "cuts",
    "unknown": "not known",
}
"""What each verdict but the good one is called in print, the worst first."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, on which line, and what to do; ``line`` 0 and ``fix`` empty are none."""

    about: str
    line: int = 0
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The loaders to which the same becomes of a pack for the same reasons."""

    verdict: "Verdict"
    loaders: "tuple[Loader, ...]"
    reasons: tuple[Reason, ...]


def groups_of(pack: "PackOutlook") -> Iterator[Group]:
    """Yield the groups, the worst verdict first, then the larger ones.

    Where a pack is lost only with the one beside it, see `losses_of`.
    """
    for verdict in HEADS:
        alike: dict[tuple[Reason, ...], list[Loader]] = {}
        for outcome in pack.of(verdict):
            if pack.is_lost(outcome):
                continue
            reasons = tuple(_reasons(pack, outcome))
            alike.setdefault(reasons, []).append(outcome.loader)
        for reasons, loaders in sorted(
            alike.items(), key=lambda item: (-len(item[1]), item[1])
        ):
            yield Group(verdict, tuple(loaders), reasons)


def losses_of(pack: "PackOutlook") -> dict[str, list[str]]:
    """Return the packs that take this one down, each with the loaders that let them."""
    lost: dict[str, list[str]] = {}
    for outcome in pack.outcomes:
        if pack.is_lost(outcome):
            key = outcome.loader.key
            lost.setdefault(pack.by[key], []).append(key)
    return dict(sorted(lost.items()))


def _reasons(pack: "PackOutlook", outcome: "Outcome") -> Iterator[Reason]:
    for key in outcome.reasons:
        if outcome.verdict == "unknown":
            known = PROPERTIES.get(key)
            yield Reason(f"nobody looked: {known.about if known else 'a plain pack'}")
        elif key in PROPERTIES:
            fix = PROPERTIES[key].fix
            yield Reason(PROPERTIES[key].about, pack.lines[key], fix)
        else:
            yield Reason("it does so with every pack")
