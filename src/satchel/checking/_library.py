"""Packs that somebody named, opened to be checked."""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.clients import PROJECT_FOLDERS
from satchel.errors import ConfigError, MissingPathError, SourceUnavailableError
from satchel.files import is_archive_name
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileReader,
    Found,
    Limits,
)
from satchel.runtime import SystemClock
from satchel.sources import LocalSource, archive

if TYPE_CHECKING:
    from satchel.protocols import SkillSource
    from satchel.skill_md import Profile


_PATIENCE_S: Final = 3_600.0
"""A check waits for slow disks: half an answer would look like a clean one."""
_ARCHIVE: Final = ".skill"
"""What is an archive wherever it lies; a .zip may be a file of a pack."""
_URLS: Final = ("http://", "https://", "mcp+http://", "mcp+https://")


class PackFolder(NamedTuple):
    """A folder that is searched for packs, and what is shown in its place.

    It may be an archive, which holds one pack.
    """

    folder: str
    shown: str


@dataclass(frozen=True)
class PackLibrary:
    """Every pack below some places, listed or not, with a way to its files."""

    places: tuple[PackFolder, ...]
    catalog: Catalog
    packs: tuple[Descriptor, ...]

    @cached_property
    def folders(self) -> Mapping[str, Path]:
        """Where each skill lies, by its name."""
        return {pack.id: self.folder_of(pack.origin.location) for pack in self.packs}

    def reader(self, pack: Descriptor) -> FileReader:
        """Return what reads the files of a pack."""
        return self.catalog.readers[pack.origin.source]

    def folder_of(self, location: str) -> Path:
        """Return the folder of a pack, by what is shown of where it lies."""
        for place in self.places:
            if location == place.shown:
                return Path(place.folder)
            inside = location.removeprefix(f"{place.shown}/")
            if inside != location:
                return Path(place.folder, inside)
        return Path(location)

    def rank(self, pack: Descriptor) -> tuple[int, str]:
        """Return where a pack is in the order of what was named, and then of paths."""
        shown = [place.shown for place in self.places]
        return shown.index(pack.origin.source), pack.origin.location

    @cached_property
    def refused(self) -> frozenset[str]:
        """Where packs lie of which the profile, or a limit, takes nothing."""
        return frozenset(
            held.descriptor.origin.location
            for held in self.catalog.excluded
            if held.reason == "refused"
        )

    @property
    def locations(self) -> frozenset[str]:
        """Where packs lie, each place once."""
        return frozenset(
            origin.location for pack in self.packs for origin in pack.origins
        )


def named_folders(
    paths: Iterable[str], *, skip_others: bool = False
) -> list[PackFolder]:
    """Return the folders to search for what a user named, each once.

    A folder is searched; a file means the pack that it lies in, an archive itself.
    What lies in another that was named is called as that one is: however it is
    written, a pack has one name.

    Args:
        paths: As they were written.
        skip_others: Pass by a file that lies in no pack, as a list of changed files
            has some.

    Raises:
        MissingPathError: A path does not exist.
        ConfigError: A file lies in no pack, or a path is an address.
    """
    roots: dict[str, None] = {}
    for path in paths:
        root = _root(path, certain=not skip_others)
        if root is not None:
            roots[root] = None
        elif not skip_others:
            detail = f"want a pack, a file of one, its {SKILL_FILE}, a folder of packs,"
            raise ConfigError(path, f"{detail} or a .skill archive")
    return [PackFolder(root, root) for root in _named_alike(roots)]


def usual_folders(
    also: Iterable[str] = (), *, limits: Limits = DEFAULT_LIMITS
) -> tuple[str, ...]:
    """Return the folders of the working folder in which projects keep skills.

    Those are ``skills`` and the folders of clients (`satchel.clients`), as far as they
    hold a pack. The working folder itself stands for them where it is a pack, or where
    packs lie only elsewhere in it; empty where there is none at all.

    Args:
        also: More folders, which a configuration file names.
        limits: Bounds on the search.
    """
    if not Path(SKILL_FILE).exists():
        likely = dict.fromkeys((*also, *PROJECT_FOLDERS))
        found = tuple(each for each in likely if _holds_pack(each, limits))
        if found:
            return found
    return (os.curdir,) if _holds_pack(os.curdir, limits) else ()


def count_packs(folder: str, *, limits: Limits = DEFAULT_LIMITS) -> int:
    """Return how many packs lie in a folder, those in folders of clients included.

    Raises:
        SourceUnavailableError: The folder is not there, or cannot be listed.
    """
    found = LocalSource(folder, limits=limits, client_folders=True).scan()
    return sum(isinstance(each, Found) for each in found)


def _holds_pack(folder: str, limits: Limits) -> bool:
    if not Path(folder).is_dir():
        return False
    try:
        return count_packs(folder, limits=limits) > 0
    except SourceUnavailableError:
        return True  # it is there, and whoever opens it is told why it cannot be read


def _named_alike(roots: Iterable[str]) -> Iterable[str]:
    """Return roots, those in others by the names of the outermost; each once."""
    names: dict[str, str] = {}
    for root in roots:
        head, tail = os.path.split(os.path.abspath(root))  # noqa: PTH100
        names.setdefault(os.path.join(os.path.realpath(head), tail), root)  # noqa: PTH118
    return dict.fromkeys(_by_outermost(place, names) for place in names)


def _by_outermost(place: str, names: dict[str, str]) -> str:
    name, above = names[place], place
    while (folder := os.path.dirname(above)) != above:  # noqa: PTH120
        above = folder
        if above in names:
            inside = place.removeprefix(above).strip(os.sep)
            longer = f"{names[above].rstrip('/')}/{inside.replace(os.sep, '/')}"
            # A link and `..` may lead elsewhere than they read.
            name = longer if _is_same(longer, names[place]) else name
    return name


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def _root(path: str, *, certain: bool) -> str | None:
    """Return the folder that a path means, or the archive; None for neither.

    ``certain`` is that a .zip outside of packs holds a pack, as somebody named it.
    """
    if path.startswith(_URLS):
        raise ConfigError(
            path, "an address cannot be checked: fetch it, check the copy"
        )
    place = Path(path)
    if place.is_dir():
        return path
    if not place.exists():
        raise MissingPathError(path)
    if place.name == SKILL_FILE:
        return path.removesuffix(SKILL_FILE).rstrip("/") or str(place.parent)
    if place.suffix.lower() == _ARCHIVE:
        return path
    folder = place.parent
    while not (folder / SKILL_FILE).is_file():
        above = folder.parent if folder.name not in ("", "..") else folder / ".."
        # A repository is as far as a pack may reach.
        if (folder / ".git").exists() or above.resolve() == folder.resolve():
            return path if certain and is_archive_name(place.name) else None
        folder = above
    return str(folder)


@contextmanager
def open_library(
    places: Iterable[PackFolder], *, profile: "Profile", limits: Limits
) -> Generator[PackLibrary]:
    """Read every pack below some places.

    Raises:
        SourceUnavailableError: A folder gave no answer.
    """
    places = tuple(places)
    sources = [_source(place, limits) for place in places]
    registry = Registry(
        sources,
        accept=ParseOptions(profile=profile, limits=limits),
        rules=CatalogRules(),
        clock=SystemClock(),
        deadline_s=_PATIENCE_S,
    )
    try:
        registry.sync()
        catalog = registry.latest
        for state in catalog.sources:
            if state.error:
                raise SourceUnavailableError(state.label, state.error)
        yield PackLibrary(places, catalog, tuple(_every_pack(catalog)))
    finally:
        registry.close()


def _source(place: PackFolder, limits: Limits) -> "SkillSource":
    if os.path.isfile(place.folder):  # noqa: PTH113
        return archive(place.folder, label=place.shown, limits=limits)
    return LocalSource(
        place.folder,
        label=place.shown,
        limits=limits,
        shown=place.shown,
        client_folders=True,
    )


def _every_pack(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield every pack, whether it is listed, withheld, refused or in a conflict."""
    yield from catalog.entries
    for conflict in catalog.unresolved:
        yield from conflict.owners
    for held in catalog.excluded:
        yield held.descriptor
