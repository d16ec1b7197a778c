"""How other loaders will see packs, which break others, and what to change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from satchel.model import DEFAULT_LIMITS, Finding
from satchel.text import first_names
from satchel_lab.checking._candidates import LocatedPack, located_packs, reason_lines
from satchel_lab.checking._library import named_folders, open_library
from satchel_lab.clients import (
    PROPERTIES,
    ClientListing,
    Loader,
    LoaderVerdict,
    Prediction,
    advice_for,
    choose_loaders,
    listing_rules,
    loaders,
    predict,
    predict_listing,
    read_skill,
    unknown_rule,
    worst_verdict,
)

# Names that mean several loaders.
LOADER_GROUPS: Final = {
    "all": "every known loader",
    "measured": "loaders that were run",
    "documented": "loaders whose documentation was read",
    "clients": "programs that people start",
    "frameworks": "libraries that agents are built with",
    "validators": "programs that only say whether a pack is good",
}

# The code of each verdict as a finding, the worst first.
CODE_OF_VERDICT: Final = {
    "breaks-neighbours": "client-breaks",
    "dropped": "client-drops",
    "wrong": "client-misreads",
    "cut": "client-cuts",
}

# Loaders that a message names before it counts the rest.
_MAX_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class PackPrediction:
    """What each chosen loader makes of one pack.

    ``pack`` and ``path`` begin with what the user named. ``by`` has, for the key of a
    loader, another pack of the library that breaks this one. ``lines`` has, for a
    property that a verdict comes from, the lines of ``path`` that cause it. ``library``
    is the folder in which loaders find it.
    """

    pack: str
    path: str
    outcomes: tuple[Prediction, ...]
    by: dict[str, str]
    lines: dict[str, tuple[int, ...]]
    library: str = ""

    def verdict(self, outcome: Prediction) -> LoaderVerdict:
        """Return the verdict on the pack, with the effect of packs next to it."""
        return "dropped" if self.is_lost(outcome) else outcome.verdict

    def is_lost(self, outcome: Prediction) -> bool:
        """Tell whether only another pack keeps a loader from listing this one."""
        own = outcome.verdict
        return outcome.loader.key in self.by and worst_verdict((own, "dropped")) != own

    def of(self, verdict: LoaderVerdict) -> tuple[Prediction, ...]:
        """Return the outcomes with this verdict."""
        return tuple(one for one in self.outcomes if self.verdict(one) == verdict)

    def findings(self) -> Iterator[Finding]:
        """Yield one for each verdict and each reason for it, the worst first."""
        for verdict, code in CODE_OF_VERDICT.items():
            reasons: dict[str, list[Prediction]] = {}
            for outcome in self.outcomes:
                if self.verdict(outcome) != verdict:
                    continue
                own = outcome.verdict == verdict
                for reason in outcome.reasons if own else ("",):
                    reasons.setdefault(reason, []).append(outcome)
            for reason, outcomes in reasons.items():
                why, fix = self._why(reason, outcomes)
                names = some_of([one.loader.key for one in outcomes])
                line = self.lines.get(reason, (1,))[0]
                yield Finding.of(code, self.path, line, loaders=names, why=why, fix=fix)

    def _why(self, reason: str, outcomes: list[Prediction]) -> tuple[str, str]:
        if reason in PROPERTIES:
            asked = [outcome.loader for outcome in self.outcomes]
            return PROPERTIES[reason].about, advice_for(reason, asked)
        if reason:
            return "it does not even list a plain pack such as this one", ""
        others = sorted({self.by[one.loader.key] for one in outcomes})
        return f"{', '.join(others)} breaks it", f"fix {', '.join(others)}"


@dataclass(frozen=True, slots=True)
class LibraryPrediction:
    """What the same loaders make of several packs."""

    loaders: tuple[Loader, ...]
    packs: tuple[PackPrediction, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, pack by pack, the worst of each first."""
        return tuple(finding for pack in self.packs for finding in pack.findings())


def predict_library(
    paths: Sequence[str], names: Iterable[str], *, skip_others: bool = False
) -> LibraryPrediction:
    """Return what some loaders make of the packs below ``paths``.

    Args:
        paths: Packs, or folders of packs.
        names: Keys of loaders, or names of `LOADER_GROUPS`.
        skip_others: Skip files that are in no pack.

    Raises:
        UnknownLoaderError: A loader is unknown; carries close keys.
        MissingPathError: A path does not exist.
        ConfigError: A path is a file that is in no pack.
        SourceUnavailableError: A folder gave no answer.
    """
    chosen = choose(names)
    packs = _packs_below(paths, skip_others=skip_others)
    outcomes = {pack.path: predict(pack.candidate, chosen) for pack in packs}
    breakers: dict[tuple[str, str], list[str]] = {}
    for pack in packs:
        for outcome in outcomes[pack.path]:
            if outcome.verdict == "breaks-neighbours":
                key = pack.library, outcome.loader.key
                breakers.setdefault(key, []).append(pack.pack)
    return LibraryPrediction(
        chosen,
        tuple(_pack_prediction(pack, outcomes[pack.path], breakers) for pack in packs),
    )


def _packs_below(paths: Sequence[str], *, skip_others: bool) -> tuple[LocatedPack, ...]:
    folders = named_folders(paths, skip_others=skip_others)
    with open_library(folders, profile="lenient", limits=DEFAULT_LIMITS) as library:
        return located_packs(library, DEFAULT_LIMITS)


def some_of(keys: Sequence[str]) -> str:
    """Return them in one phrase; of many, the first and how many more there are."""
    return first_names(keys, _MAX_NAMED - (len(keys) > _MAX_NAMED))


def choose(names: Iterable[str]) -> tuple[Loader, ...]:
    """Return the loaders of these keys and groups, each once."""
    chosen: dict[str, Loader] = {}
    for name in names:
        word = name.strip().lower()
        if word in LOADER_GROUPS:
            group = tuple(
                one for one in loaders() if word in {"all", one.how, f"{one.kind}s"}
            )
        else:
            group = choose_loaders([name])
        chosen |= {loader.key: loader for loader in group}
    return tuple(chosen.values())


def _pack_prediction(
    pack: LocatedPack,
    outcomes: tuple[Prediction, ...],
    breakers: dict[tuple[str, str], list[str]],
) -> PackPrediction:
    """Return the prediction; ``breakers`` are by their library and the loader's key."""
    by: dict[str, str] = {}
    for outcome in outcomes:
        key = outcome.loader.key
        for other in breakers.get((pack.library, key), ()):
            if other != pack.pack:
                by.setdefault(key, other)
    reasons = {key for outcome in outcomes for key in outcome.by_property}
    lines = reason_lines(pack.candidate, sorted(reasons))
    return PackPrediction(pack.pack, pack.path, outcomes, by, lines, pack.library)


@dataclass(frozen=True, slots=True)
class ClientListings:
    """What one client shows of a library at each window.

    ``asked`` is the version that was asked for, empty where none was. ``not_loaded``
    are the packs that the client does not load: all, if one of them breaks the others.
    """

    asked: str
    listings: tuple[ClientListing, ...]
    not_loaded: tuple[str, ...]

    @property
    def is_other_version(self) -> bool:
        """Whether another version than the one asked for was measured."""
        return bool(self.asked) and self.asked != self.listings[0].rule.version


@dataclass(frozen=True, slots=True)
class LibraryListing:
    """What the same clients show of the same packs."""

    packs: int
    clients: tuple[ClientListings, ...]

    @property
    def listings(self) -> tuple[ClientListing, ...]:
        """Every listing: client by client, window by window."""
        return tuple(one for client in self.clients for one in client.listings)


def predict_library_listing(
    paths: Sequence[str],
    names: Iterable[str],
    windows: Sequence[int],
    *,
    skip_others: bool = False,
) -> LibraryListing:
    """Return what clients show of the packs below ``paths``, taken as one library.

    Args:
        paths: Packs, or folders of packs.
        names: Keys of clients, as ``KEY`` or ``KEY@VERSION``, or groups of them.
        windows: Context windows, in tokens.
        skip_others: Skip files that are in no pack.

    Raises:
        UnknownLoaderError: A client is unknown; carries close keys.
        MissingPathError: A path does not exist.
        SourceUnavailableError: A folder gave no answer.
    """
    asked = {key: version for key, _, version in (n.partition("@") for n in names)}
    chosen = choose(asked)
    packs = _packs_below(paths, skip_others=skip_others)
    outcomes_of = [(pack, predict(pack.candidate, chosen)) for pack in packs]
    clients = (
        _client(
            loader,
            asked.get(loader.key, ""),
            [(pack, outcomes[at]) for pack, outcomes in outcomes_of],
            windows,
        )
        for at, loader in enumerate(chosen)
    )
    return LibraryListing(len(packs), tuple(clients))


def _client(
    loader: Loader,
    asked: str,
    packs: Sequence[tuple[LocatedPack, Prediction]],
    windows: Sequence[int],
) -> ClientListings:
    rule = listing_rules().get(loader.key) or unknown_rule(loader)
    broken = any(outcome.verdict == "breaks-neighbours" for _, outcome in packs)
    read = [(pack.pack, read_skill(pack.candidate, one)) for pack, one in packs]
    skills = [skill for _, skill in read if skill is not None and not broken]
    return ClientListings(
        asked,
        tuple(predict_listing(rule, skills, window) for window in windows),
        tuple(pack for pack, skill in read if skill is None or broken),
    )
