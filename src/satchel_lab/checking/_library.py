"""The packs that a user named, opened for a check, and what is around them."""

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.catalog import CatalogRules, DisabledPattern, ParseOptions, Registry
from satchel.errors import ConfigError, MissingPathError, SourceUnavailableError
from satchel.files import is_archive_name
from satchel.model import SKILL_FILE, Catalog, Descriptor, FileReader, Finding, Limits
from satchel.protocols import SkillSource
from satchel.runtime import SystemClock
from satchel.skill_md import Profile
from satchel.sources import CLIENT_FOLDERS, LocalSource, archive
from satchel_lab.lint import Neighbour, PythonReader

NO_OTHERS: Final[Mapping[str, Path]] = {}
# Folders above a pack that may be its project, where there is no ``.git``.
_MOST_ABOVE: Final = 8
# A project is at least so deep: ``/``, ``/home`` and ``/tmp`` are not projects.
_LEAST_PARTS: Final = 3
# What a plugin has at its root, and the clients that it is for.
_ANY_PLUGIN: Final = ("Claude Code", "VS Code", "Cursor")
_PLUGINS: Final = {
    ".claude-plugin": ("Claude Code",),
    ".codex-plugin": ("Codex",),
    ".cursor-plugin": ("Cursor",),
    ".github/plugin": ("VS Code",),
    ".plugin": _ANY_PLUGIN,
    "gemini-extension.json": ("Gemini CLI",),
    "openclaw.plugin.json": ("OpenClaw",),
    "plugin.json": _ANY_PLUGIN,
}


# Folders of what a repository makes of its skills, next to those that begin with a dot.
_MADE: Final = frozenset(["build", "dist", "generated", "out", "target"])


def made_in(path: str) -> str:
    """Return the first folder of a path that has copies for a client; empty if none."""
    parts = path.split("/")
    return next((p for p in parts if p in _MADE or re.match(r"\.\w", p)), "")


def client_finder() -> Callable[[Path], frozenset[str]]:
    """Return what finds the clients that a place names: by its folder, or a plugin."""

    @cache
    def at(folder: Path) -> frozenset[str]:
        path = f"{folder.as_posix()}/"
        named = {
            name
            for client in CLIENT_FOLDERS
            if any(f"/{place}/" in path for place in (*client.project, *client.user))
            for name in client.name.split(" and ")
        }
        for place, clients in _PLUGINS.items():
            # Strings: it asks for each folder of a library.
            named.update(clients if os.path.exists(f"{path}{place}") else ())  # noqa: PTH110
        top = len(folder.parts) <= _LEAST_PARTS or (folder / ".git").exists()
        return frozenset(named if top else named | at(folder.parent))

    # As it is written: a linked folder is in the place of its link.
    return lambda folder: at(Path(os.path.abspath(folder)))  # noqa: PTH100


def path_finder(
    folder: Path, others: Mapping[str, Path] = NO_OTHERS
) -> Callable[[str], Neighbour | None]:
    """Return a function that finds paths outside of a pack, within its project.

    ``others`` are the folders of skills by their names, for paths that begin with
    ``//NAME/``. It only looks whether something is there; no file is opened.
    """
    here = Path(os.path.realpath(folder))
    project = _project_of(here)

    @cache
    def find(path: str) -> Neighbour | None:
        if path.startswith("//"):
            name, _, rest = path[2:].partition("/")
            other = others.get(name)
            return Neighbour(name) if other and (other / rest).exists() else None
        # With `/`, from the root of the project, or of the plugin or the pack in it.
        starts = (here, *here.parents) if path.startswith("/") else (here,)
        for start in starts:
            place = Path(os.path.normpath(start / path.lstrip("/")))
            if not place.is_relative_to(project) or place == project:
                return None
            try:
                if not place.exists():
                    continue
            except (OSError, ValueError):  # a name that the system refuses
                return None
            if place.is_relative_to(here):
                return Neighbour(inside=place.relative_to(here).as_posix())
            return Neighbour(_skill_of(place, project))
        return None

    return find


def _project_of(folder: Path) -> Path:
    for parent in folder.parents:
        if (parent / ".git").exists():
            return parent
    near = folder.parents[:_MOST_ABOVE]
    deep = [parent for parent in near if len(parent.parts) >= _LEAST_PARTS]
    return deep[-1] if deep else folder


def _skill_of(place: Path, project: Path) -> str:
    """Return the name of the innermost folder around ``place`` that is a skill."""
    for folder in (place, *place.parents):
        if folder == project:
            break
        if (folder / SKILL_FILE).is_file():
            return folder.name
    return ""


if TYPE_CHECKING:
    from satchel_lab.evals import EvalFile, PassedOver

# A check waits for slow disks: half an answer would look like a clean one.
_PATIENCE_S: Final = 3_600.0
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
    python: PythonReader = field(default_factory=PythonReader, compare=False)
    # The clients that the place of a pack names, by its folder.
    clients_of: Callable[[Path], frozenset[str]] = field(
        default_factory=client_finder, compare=False
    )

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
    # An archive in every folder; a .zip may be a file of a pack.
    if place.suffix.lower() == ".skill":
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
    folders: Iterable[PackFolder],
    *,
    profile: Profile,
    limits: Limits,
    disabled: Iterable[str] = (),
) -> Generator[PackLibrary]:
    """Read every pack below some folders, but those with a ``disabled`` id."""
    folders = tuple(folders)
    sources = [_source(folder, limits) for folder in folders]
    registry = Registry(
        sources,
        accept=ParseOptions(profile=profile, limits=limits),
        rules=CatalogRules(disabled=tuple(map(DisabledPattern, disabled))),
        clock=SystemClock(),
        deadline_s=_PATIENCE_S,
    )
    python = PythonReader()
    # Closed in any case: a source may have a thread or a connection.
    try:
        registry.sync()
        catalog = registry.latest
        for state in catalog.sources:
            if state.error:
                raise SourceUnavailableError(state.label, state.error)
        conflicts = (pack for one in catalog.unresolved for pack in one.owners)
        excluded = (
            pack.descriptor for pack in catalog.excluded if pack.reason != "disabled"
        )
        packs = (*catalog.entries, *conflicts, *excluded)
        yield PackLibrary(folders, catalog, packs, python)
    finally:
        python.close()
        registry.close()


def _source(folder: PackFolder, limits: Limits) -> SkillSource:
    if os.path.isfile(folder.path):  # noqa: PTH113
        return archive(folder.path, label=folder.shown, limits=limits)
    return LocalSource(
        folder.path, label=folder.shown, limits=limits, shown=folder.shown
    )


def eval_files(library: PackLibrary) -> "Iterator[EvalFile | PassedOver | Finding]":
    """Yield the eval files of all packs, by the location of the pack."""
    from satchel_lab.evals import pack_files

    packs = {pack.origin.location: pack for pack in library.packs}
    for _, pack in sorted(packs.items()):
        yield from pack_files(pack, library.reader(pack))
