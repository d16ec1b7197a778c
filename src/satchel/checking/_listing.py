"""What clients show of a whole library: `satchel check --library --for`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from satchel.checking._candidates import LocatedPack, located_packs
from satchel.checking._library import named_folders, open_library
from satchel.checking._prediction import choose
from satchel.clients import (
    ClientListing,
    Loader,
    Prediction,
    listing_rules,
    predict,
    predict_listing,
    read_skill,
    unknown_rule,
)
from satchel.model import DEFAULT_LIMITS, Limits


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
    limits: Limits = DEFAULT_LIMITS,
    skip_others: bool = False,
) -> LibraryListing:
    """Return what clients show of the packs below ``paths``, taken as one library.

    Args:
        paths: Packs, or folders of packs.
        names: Keys of clients, as ``KEY`` or ``KEY@VERSION``, or groups of them.
        windows: Context windows, in tokens.
        limits: Limits on what is read.
        skip_others: Skip files that are in no pack.

    Raises:
        UnknownLoaderError: A client is unknown; carries close keys.
        MissingPathError: A path does not exist.
        SourceUnavailableError: A folder gave no answer.
    """
    asked = {key: version for key, _, version in (n.partition("@") for n in names)}
    chosen = choose(asked)
    folders = named_folders(paths, skip_others=skip_others)
    with open_library(folders, profile="lenient", limits=limits) as library:
        packs = located_packs(library, limits)
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
