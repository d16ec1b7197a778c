"""The skills in the folders around sessions, as each client reads them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.errors import SourceUnavailableError
from satchel.model import DEFAULT_LIMITS
from satchel_lab.checking import PackFolder, PackLibrary, located_packs, open_library
from satchel_lab.clients import (
    PROPERTIES,
    LibrarySkill,
    choose_loaders,
    predict,
    read_skill,
)
from satchel_lab.evals import EvalLibrary
from satchel_lab.sessions._formats import FORMATS

# Where Codex keeps the skills that it brings along.
_OF_CLIENT: Final = ".system"


@dataclass(frozen=True, slots=True)
class FolderSkill:
    """A skill at one place: what each client that reads its folder makes of it.

    ``written`` is when its SKILL.md was written, ``came`` when it came to its place at
    the earliest; copying a file may keep the one and not the other. ``shown`` has the
    skill as a client loads it, ``reasons`` why one does not.
    """

    id: str
    folder: str
    root: str
    written: float
    came: float
    shown: Mapping[str, LibrarySkill]
    reasons: Mapping[str, str]

    def names(self, client: str) -> frozenset[str]:
        """Return what a client may call it: by its folder, or as it declares."""
        shown = self.shown.get(client)
        declared = {shown.name} if shown else {one.name for one in self.shown.values()}
        return frozenset({os.path.basename(self.folder), *declared})  # noqa: PTH119

    def is_read_by(self, client: str) -> bool:
        """Tell whether a client looks into its folder."""
        return client in self.shown or client in self.reasons


def roots_of(client: str, cwd: str, config: str) -> dict[str, frozenset[str]]:
    """Return the folders of skills around a session, each with who reads it.

    A path in a session is what anyone wrote into a file, so nothing of it is opened but
    the folders in which clients keep skills, and never one on another machine.
    """
    home = Path(config).parent if config else Path.home()
    levels = list(_levels(cwd))
    readers: dict[str, set[str]] = {}
    for key, kind in FORMATS.items():
        own = Path(config) if config and key == client else kind.configs()
        for folders in kind.client_folders:
            places = [Path(folder) for folder in folders.managed]
            for name in folders.user:
                first, _, rest = name.partition("/")
                places.append(own / rest if first == kind.config else home / name)
            places += [level / name for level in levels for name in folders.project]
            for place in places:
                if place.is_dir():
                    readers.setdefault(os.path.abspath(place), set()).add(key)  # noqa: PTH100
    return {root: frozenset(clients) for root, clients in readers.items()}


def _levels(cwd: str) -> Iterator[Path]:
    """Yield the working folder of a session and those above it, up to ``.git``."""
    is_local = os.path.isabs(cwd) and not cwd.startswith(("//", "\\\\"))  # noqa: PTH117
    if "\0" in cwd or not is_local:
        return
    here = Path(os.path.normpath(cwd))
    tops = (up for up, path in enumerate((here, *here.parents)) if _has_git(path))
    yield from (here, *here.parents)[: next(tops, 0) + 1]


def _has_git(path: Path) -> bool:
    try:
        return (path / ".git").exists()
    except (OSError, ValueError):
        return False


def open_folders(roots: Iterable[str], stack: ExitStack) -> tuple[PackLibrary, bool]:
    """Return the skills of these folders, but of those that cannot be read."""
    folders = [PackFolder(root, root) for root in roots]
    skipped = False
    while True:
        opened = open_library(folders, profile="lenient", limits=DEFAULT_LIMITS)
        try:
            return stack.enter_context(opened), skipped
        except SourceUnavailableError as error:
            rest = [folder for folder in folders if folder.shown != error.name]
            if len(rest) == len(folders):
                raise
            folders, skipped = rest, True


def folder_skills(
    library: PackLibrary, evals: EvalLibrary, roots: Mapping[str, frozenset[str]]
) -> Iterator[FolderSkill]:
    """Yield the skills of these folders; each root has the clients that read it."""
    loaders = {one.key: one for one in choose_loaders(FORMATS)}
    for pack in located_packs(library, DEFAULT_LIMITS):
        if f"{os.sep}{_OF_CLIENT}{os.sep}" in pack.path:
            continue
        root = max((r for r in roots if pack.path.startswith(f"{r}{os.sep}")), key=len)
        shown: dict[str, LibrarySkill] = {}
        reasons: dict[str, str] = {}
        for client in roots[root]:
            prediction = predict(pack.candidate, [loaders[client]])[0]
            if skill := read_skill(pack.candidate, prediction):
                shown[client] = skill
            else:
                keys = [key for key in prediction.reasons if key in PROPERTIES]
                about = PROPERTIES[keys[0]].about if keys else prediction.verdict
                reasons[client] = about
        if skill_id := evals.id_of.get(pack.pack):
            file = os.stat(pack.path)  # noqa: PTH116 - a string
            folder = os.stat(pack.pack)  # noqa: PTH116
            came = max(file.st_mtime, file.st_ctime, folder.st_ctime)
            yield FolderSkill(
                skill_id, pack.pack, root, file.st_mtime, came, shown, reasons
            )
