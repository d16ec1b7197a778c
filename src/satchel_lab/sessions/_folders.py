"""The skills in the folders around sessions, as each client reads them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.model import DEFAULT_LIMITS
from satchel.sources import CLIENT_FOLDERS
from satchel_lab.checking import PackLibrary, located_packs
from satchel_lab.clients import (
    PROPERTIES,
    LibrarySkill,
    choose_loaders,
    predict,
    read_skill,
)
from satchel_lab.evals import EvalLibrary
from satchel_lab.sessions._formats import FORMATS
from satchel_lab.sessions._rows import ClientSession

# Where Codex keeps the skills that it brings along.
_OF_CLIENT: Final = "/.system/"


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

    @property
    def names(self) -> set[str]:
        """What clients may call it: by its folder, or as it declares."""
        return {Path(self.folder).name, *(one.name for one in self.shown.values())}


def roots_of(session: ClientSession) -> dict[str, set[str]]:
    """Return the folders of skills around a session, each with who reads it.

    A path in a session is what anyone wrote into a file, so nothing of it is opened but
    the folders in which clients keep skills, and never one on another machine.
    """
    home = Path(session.config).parent if session.config else Path.home()
    levels = list(_levels(session.cwd))
    roots: dict[str, set[str]] = {}
    for key, kind in FORMATS.items():
        is_own = session.config and key == session.client
        config = Path(session.config) if is_own else kind.home
        for folders in (one for one in CLIENT_FOLDERS if one.name in kind.folders):
            users = (name.partition("/") for name in folders.user)
            places = [Path(folder) for folder in folders.managed]
            for first, _, rest in users:
                places.append((config if first == kind.config else home / first) / rest)
            places += [level / name for level in levels for name in folders.project]
            for place in filter(Path.is_dir, places):
                roots.setdefault(str(place.absolute()), set()).add(key)
    return roots


def _levels(cwd: str) -> Iterator[Path]:
    """Yield the working folder of a session and those above it, up to ``.git``."""
    is_local = Path(cwd).is_absolute() and not cwd.startswith(("//", "\\\\"))
    if is_local and "\0" not in cwd:
        here = Path(os.path.normpath(cwd))
        above = (here, *here.parents)
        with suppress(OSError, ValueError):  # a name that the system refuses
            tops = (up for up, path in enumerate(above) if (path / ".git").exists())
            yield from above[: next(tops, 0) + 1]


def folder_skills(
    library: PackLibrary, evals: EvalLibrary, roots: Mapping[str, set[str]]
) -> Iterator[FolderSkill]:
    """Yield the skills of these folders; each root has the clients that read it."""
    loaders = {one.key: one for one in choose_loaders(FORMATS)}
    for pack in located_packs(library, DEFAULT_LIMITS):
        skill_id = evals.id_of.get(pack.pack)
        if skill_id is None or _OF_CLIENT in pack.path.replace(os.sep, "/"):
            continue
        above = (r for r in roots if pack.path.startswith((f"{r}/", f"{r}{os.sep}")))
        root = max(above, key=len)
        shown: dict[str, LibrarySkill] = {}
        reasons: dict[str, str] = {}
        for client in roots[root]:
            prediction = predict(pack.candidate, [loaders[client]])[0]
            if skill := read_skill(pack.candidate, prediction):
                shown[client] = skill
            else:
                keys = (
                    PROPERTIES[k].about for k in prediction.reasons if k in PROPERTIES
                )
                reasons[client] = next(keys, prediction.verdict)
        file, folder = Path(pack.path).stat(), Path(pack.pack).stat()
        times = file.st_mtime, max(file.st_mtime, file.st_ctime, folder.st_ctime)
        yield FolderSkill(skill_id, pack.pack, root, *times, shown, reasons)
