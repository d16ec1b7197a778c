"""Paths outside of a pack, within its project."""

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from satchel.lint import Neighbour
from satchel.model import SKILL_FILE

NO_OTHERS: Final[Mapping[str, Path]] = {}
# Folders above a pack that may be its project, where there is no ``.git``.
_MOST_ABOVE: Final = 8
# A project is at least so deep: ``/``, ``/home`` and ``/tmp`` are not projects.
_LEAST_PARTS: Final = 3


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
        start = project if path.startswith("/") else here
        place = Path(os.path.normpath(start / path.lstrip("/")))
        if not place.is_relative_to(project) or place == project:
            return None
        try:
            if not place.exists():
                return None
        except (OSError, ValueError):  # a name that the system refuses
            return None
        if place.is_relative_to(here):
            return Neighbour(inside=place.relative_to(here).as_posix())
        return Neighbour(_skill_of(place, project))

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
