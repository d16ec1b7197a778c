"""The packs that a user named, opened for a check."""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

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
from satchel.protocols import SkillSource
from satchel.runtime import SystemClock
from satchel.skill_md import Profile
from satchel.sources import LocalSource, archive

# A check waits for slow disks: half an answer would look like a clean one.
_PATIENCE_S: Final = 3_600.0
# What is an archive in every folder; a .zip may be a file of a pack.
_ARCHIVE: Final = ".skill"
_URLS: Final = ("http://", "https://", "mcp+http://", "mcp+https://")


class PackFolder(NamedTuple):
    """A folder to search for packs, and how it is shown; or an archive of one pack."""

    path: str
    shown: str


@dataclass(frozen=True)
class PackLibrary:
    """Every pack below some folders, listed or not, with a way to its files."""

    folders: tuple[PackFolder, ...]
    catalog: Catalog
    packs: tuple[Descriptor, ...]

    @cached_property
    def folder_of_skill(self) -> Mapping[str, Path]:
        """The folder of each skill, by its name."""
        return {pack.id: self.folder_of(pack.origin.location) for pack in self.packs}

    def reader(self, pack: Descriptor) -> FileReader:
        """Return the reader of a pack's files."""
        return self.catalog.readers[pack.origin.source]

    def folder_of(self, location: str) -> Path:
        """Return the folder of a pack, by its location as it is shown."""
        for folder in self.folders:
            if location == folder.shown:
                return Path(folder.path)
            inside = location.removeprefix(f"{folder.shown}/")
            if inside != location:
                return Path(folder.path, inside)
        return Path(location)

    def rank(self, pack: Descriptor) -> tuple[int, str]:
        """Return the place of a pack: by the named folder, then by its path."""
        shown = [folder.shown for folder in self.folders]
        return shown.index(pack.origin.source), pack.origin.location

    @cached_property
    def refused(self) -> frozenset[str]:
        """The locations of packs that the profile, or a limit, refuses."""
        return frozenset(
            pack.descriptor.origin.location
            for pack in self.catalog.excluded
            if pack.reason == "refused"
        )

    @property
    def locations(self) -> frozenset[str]:
        """The locations of packs, each once."""
        return frozenset(
            origin.location for pack in self.packs for origin in pack.origins
        )


def named_folders(
    paths: Iterable[str], *, skip_others: bool = False
) -> list[PackFolder]:
    """Return the folders to search for what a user named, each once.

    A file means the pack that it is in, an archive means itself. A folder in another
    that was named is shown as a part of that one, so that a pack has one name.
    """
    roots: dict[str, None] = {}
    for path in paths:
        root = _root(path, certain=not skip_others)
        if root is not None:
            roots[root] = None
        elif not skip_others:
            detail = (
                f"expected a pack, a file of one, its {SKILL_FILE}, a folder of packs "
                "or a .skill archive"
            )
            raise ConfigError(path, detail)
    return [PackFolder(root, root) for root in _with_outermost_names(roots)]


def usual_folders(
    also: Iterable[str] = (), *, limits: Limits = DEFAULT_LIMITS
) -> tuple[str, ...]:
    """Return the folders of the working folder in which projects keep skills.

    Those are ``skills`` and the folders of clients (`satchel.clients`) with a pack in
    them. The working folder itself is returned where it is a pack, or where its packs
    are only elsewhere in it; nothing where it has none.
    """
    if not Path(SKILL_FILE).exists():
        likely = dict.fromkeys((*also, *PROJECT_FOLDERS))
        folders = tuple(folder for folder in likely if _has_pack(folder, limits))
        if folders:
            return folders
    return (os.curdir,) if _has_pack(os.curdir, limits) else ()


def count_packs(folder: str, *, limits: Limits = DEFAULT_LIMITS) -> int:
    """Return how many packs are in a folder, also in folders of clients."""
    results = LocalSource(folder, limits=limits, client_folders=True).scan()
    return sum(isinstance(result, Found) for result in results)


def _has_pack(folder: str, limits: Limits) -> bool:
    if not Path(folder).is_dir():
        return False
    try:
        return count_packs(folder, limits=limits) > 0
    except SourceUnavailableError:
        return True  # opening it reports why it cannot be read


def _with_outermost_names(roots: Iterable[str]) -> Iterable[str]:
    """Return roots, those in others as parts of the outermost; each once."""
    # The last part stays as it is written: a link is a folder of its own name.
    names: dict[str, str] = {}
    for root in roots:
        head, tail = os.path.split(os.path.abspath(root))  # noqa: PTH100
        names.setdefault(os.path.join(os.path.realpath(head), tail), root)  # noqa: PTH118
    return dict.fromkeys(_outermost_name(place, names) for place in names)


def _outermost_name(place: str, names: dict[str, str]) -> str:
    name, above = names[place], place
    while (folder := os.path.dirname(above)) != above:  # noqa: PTH120
        above = folder
        if above in names:
            inside = place.removeprefix(above).strip(os.sep)
            longer = f"{names[above].rstrip('/')}/{inside.replace(os.sep, '/')}"
            # A link and `..` may lead to another place than they read.
            name = longer if _is_same(longer, names[place]) else name
    return name


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def _root(path: str, *, certain: bool) -> str | None:
    """Return the folder that a path means, or the archive; None for neither.

    ``certain`` says that a .zip outside of packs is a pack, because a user named it.
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
        # `Path("..").parent` is `.`, which is below it and not above.
        above = folder.parent if folder.name not in ("", "..") else folder / ".."
        # A pack does not reach out of its repository.
        if (folder / ".git").exists() or above.resolve() == folder.resolve():
            return path if certain and is_archive_name(place.name) else None
        folder = above
    return str(folder)


@contextmanager
def open_library(
    folders: Iterable[PackFolder], *, profile: Profile, limits: Limits
) -> Generator[PackLibrary]:
    """Read every pack below some folders."""
    folders = tuple(folders)
    sources = [_source(folder, limits) for folder in folders]
    registry = Registry(
        sources,
        accept=ParseOptions(profile=profile, limits=limits),
        rules=CatalogRules(),
        clock=SystemClock(),
        deadline_s=_PATIENCE_S,
    )
    # Closed in any case: a source may have a thread or a connection.
    try:
        registry.sync()
        catalog = registry.latest
        for state in catalog.sources:
            if state.error:
                raise SourceUnavailableError(state.label, state.error)
        yield PackLibrary(folders, catalog, tuple(_every_pack(catalog)))
    finally:
        registry.close()


def _source(folder: PackFolder, limits: Limits) -> SkillSource:
    if os.path.isfile(folder.path):  # noqa: PTH113
        return archive(folder.path, label=folder.shown, limits=limits)
    return LocalSource(
        folder.path,
        label=folder.shown,
        limits=limits,
        shown=folder.shown,
        client_folders=True,
    )


def _every_pack(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield every pack, whether it is listed, excluded, refused or in a conflict."""
    yield from catalog.entries
    for conflict in catalog.unresolved:
        yield from conflict.owners
    for excluded in catalog.excluded:
        yield excluded.descriptor
