"""How other loaders will see packs, and what to change: `satchel check --for`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.checking._candidates import LocatedPack, ReasonLines, located_packs
from satchel.checking._library import named_folders, open_library
from satchel.clients import (
    PROPERTIES,
    Loader,
    Prediction,
    choose_loaders,
    loaders,
    predict,
    worst_verdict,
)
from satchel.model import DEFAULT_LIMITS, Finding, Limits, Severity

if TYPE_CHECKING:
    from satchel.clients import LoaderVerdict


LOADER_GROUPS: Final = {
    "all": "everything that something is known of",
    "measured": "what was run",
    "documented": "what was only read about",
    "clients": "programs that people start",
    "frameworks": "libraries that agents are built with",
    "validators": "programs that only say whether a pack is good",
}
"""Names that stand for several loaders."""

FINDING_OF_VERDICT: Final[dict[str, tuple[str, Severity]]] = {
    "breaks-neighbours": ("client-breaks", "error"),
    "dropped": ("client-drops", "error"),
    "wrong": ("client-misreads", "warning"),
    "cut": ("client-cuts", "warning"),
}
"""What each verdict is called as a finding, and how grave it is, the worst first."""

_MESSAGE_OF_VERDICT: Final = {
    "breaks-neighbours": "not listed, nor are packs beside it",
    "dropped": "not listed",
    "wrong": "listed with a wrong name or description",
    "cut": "listed with the beginning of its description",
}
_NAMED: Final = 4
"""Loaders that a message names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class PackPrediction:
    """What each chosen loader makes of one pack.

    ``pack`` and ``path`` begin with what the user named. ``by`` names, for a loader's
    key, the pack beside this one that takes it down with itself. ``lines`` has, for a
    reason, the line of ``path`` that brings it about.
    """

    pack: str
    path: str
    outcomes: tuple[Prediction, ...]
    by: dict[str, str]
    lines: dict[str, int]

    def verdict(self, outcome: Prediction) -> "LoaderVerdict":
        """Return what becomes of the pack, counting what the packs beside it do."""
        return "dropped" if self.is_lost(outcome) else outcome.verdict

    def is_lost(self, outcome: Prediction) -> bool:
        """Tell whether a loader would list it, but for a pack beside it."""
        own = outcome.verdict
        return outcome.loader.key in self.by and worst_verdict((own, "dropped")) != own

    def of(self, verdict: "LoaderVerdict") -> tuple[Prediction, ...]:
        """Return the outcomes that come to this."""
        return tuple(each for each in self.outcomes if self.verdict(each) == verdict)

    def findings(self) -> Iterator[Finding]:
        """Yield one for each verdict and each reason for it, the worst first."""
        for verdict, (code, severity) in FINDING_OF_VERDICT.items():
            reasons: dict[str, list[Prediction]] = {}
            for outcome in self.outcomes:
                if self.verdict(outcome) != verdict:
                    continue
                own = outcome.verdict == verdict
                for reason in outcome.reasons if own else ("",):
                    reasons.setdefault(reason, []).append(outcome)
            for reason, outcomes in reasons.items():
                told, fix = self._why(reason, outcomes)
                names = named_loaders([each.loader for each in outcomes])
                message = f"{_MESSAGE_OF_VERDICT[verdict]} by {names}: {told}"
                line = self.lines.get(reason, 1)
                yield Finding(code, severity, message, self.path, line, fix)

    def _why(self, reason: str, outcomes: list[Prediction]) -> tuple[str, str]:
        if reason in PROPERTIES:
            return PROPERTIES[reason].about, PROPERTIES[reason].fix
        if reason:
            return "it takes not even a plain pack as this one is", ""
        others = sorted({self.by[each.loader.key] for each in outcomes})
        return f"{', '.join(others)} takes it down", f"mend {', '.join(others)}"


@dataclass(frozen=True, slots=True)
class LibraryPrediction:
    """Some packs, each before the same loaders."""

    loaders: tuple[Loader, ...]
    packs: tuple[PackPrediction, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, pack by pack, the worst of each first."""
        return tuple(each for pack in self.packs for each in pack.findings())


def predict_library(
    paths: Sequence[str],
    wanted: Iterable[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    skip_others: bool = False,
) -> LibraryPrediction:
    """Return what becomes of the packs below ``paths`` in some loaders.

    Args:
        paths: Packs, or folders of packs.
        wanted: Keys of loaders, or names of `GROUPS`.
        limits: Bounds on what is read.
        skip_others: Pass by a file that lies in no pack.

    Raises:
        UnknownLoaderError: Nothing is known of a loader; carries close keys.
        MissingPathError: A path does not exist.
        ConfigError: A path is a file that lies in no pack.
        SourceUnavailableError: A folder gave no answer.
    """
    chosen = _choose(wanted)
    places = named_folders(paths, skip_others=skip_others)
    with open_library(places, profile="lenient", limits=limits) as library:
        met = located_packs(library, limits)
    outcomes = [predict(each.candidate, chosen) for each in met]
    breakers = _breakers(met, outcomes)
    packs = tuple(
        _pack_prediction(each, said, breakers)
        for each, said in zip(met, outcomes, strict=True)
    )
    return LibraryPrediction(chosen, packs)


def named_loaders(chosen: Iterable[Loader]) -> str:
    """Return their keys in one phrase, with no more than a few of them."""
    keys = [loader.key for loader in chosen]
    if len(keys) <= _NAMED:
        return ", ".join(keys)
    return f"{', '.join(keys[: _NAMED - 1])} and {len(keys) - _NAMED + 1} more"


def _choose(wanted: Iterable[str]) -> tuple[Loader, ...]:
    chosen: dict[str, Loader] = {}
    for name in wanted:
        word = name.strip().lower()
        if word in LOADER_GROUPS:
            found = tuple(each for each in loaders() if _is_in(each, word))
        else:
            found = choose_loaders([name])
        chosen |= {each.key: each for each in found}
    return tuple(chosen.values())


def _is_in(loader: Loader, group: str) -> bool:
    return group in {"all", loader.how, f"{loader.kind}s"}


def _breakers(
    met: Sequence[LocatedPack], outcomes: Sequence[tuple[Prediction, ...]]
) -> dict[tuple[str, str], list[str]]:
    """Return the packs that take others down, by their library and the loader's key."""
    found: dict[tuple[str, str], list[str]] = {}
    for each, said in zip(met, outcomes, strict=True):
        for outcome in said:
            if outcome.verdict == "breaks-neighbours":
                key = each.library, outcome.loader.key
                found.setdefault(key, []).append(each.pack)
    return found


def _pack_prediction(
    met: LocatedPack,
    outcomes: tuple[Prediction, ...],
    breakers: dict[tuple[str, str], list[str]],
) -> PackPrediction:
    others = {
        outcome.loader.key: next(
            (
                pack
                for pack in breakers.get((met.library, outcome.loader.key), ())
                if pack != met.pack
            ),
            "",
        )
        for outcome in outcomes
    }
    causes = ReasonLines(met.candidate)
    reasons = {reason for outcome in outcomes for reason in outcome.reasons}
    return PackPrediction(
        pack=met.pack,
        path=met.path,
        outcomes=outcomes,
        by={key: pack for key, pack in others.items() if pack},
        lines={reason: causes.line(reason) for reason in sorted(reasons)},
    )
