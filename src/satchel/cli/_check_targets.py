"""Where ``satchel check`` looks when no path is given."""

import os
from typing import TYPE_CHECKING

from satchel.checking import count_packs, usual_folders
from satchel.cli._options import find_settings
from satchel.cli._terminal import echo_error
from satchel.errors import MissingPathError, SkillError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from satchel.model import Limits


class NoPackError(SkillError):
    """There is no pack to check: says where it was looked for, and what one is."""

    def __init__(self, places: "Iterable[str]", depth: int) -> None:
        """Take the places as they are shown, and how many folders deep they go."""
        self.places = tuple(places)
        self.depth = depth
        super().__init__(self.places, depth)

    def __str__(self) -> str:
        """Return two sentences."""
        names = (
            "this folder" if place == os.curdir else place for place in self.places
        )
        looked = ", ".join(names) or "no place at all"
        return (
            f"no pack was found: looked in {looked}, {self.depth} folders deep, and in "
            "folders of clients there, such as .claude/skills. A pack is a folder with "
            "a SKILL.md: name its folder, or start one with satchel new NAME"
        )


def project_places(config: str | None, limits: "Limits") -> tuple[str, ...]:
    """Return the folders in which a project has its skills, and say which they are.

    Args:
        config: The configuration file that names some; None is the nearest one, and
            ``none`` no file.
        limits: Bounds on the search.

    Raises:
        NoPackError: There is no pack at all.
        MissingPathError: The file names a folder that does not exist.
    """
    also = () if config == "none" else _configured(config)
    folders = usual_folders(also, limits=limits)
    if not folders:
        raise NoPackError((*also, os.curdir), limits.scan_depth)
    echo_error(f"looked in {', '.join(folders)}{_packs_elsewhere(folders, limits)}")
    return folders


def _packs_elsewhere(folders: tuple[str, ...], limits: "Limits") -> str:
    """Say how many packs lie in other folders of a project."""
    if folders == (os.curdir,):
        return ""
    inside = [
        path for path in folders if not os.path.relpath(path).startswith(os.pardir)
    ]
    mine = sum(count_packs(path, limits=limits) for path in inside)
    more = count_packs(os.curdir, limits=limits) - mine
    if more <= 0:
        return ""
    lie = "1 more pack lies" if more == 1 else f"{more:,} more packs lie"
    return f"; {lie} elsewhere in this folder: satchel check ."


def _configured(config: str | None) -> tuple[str, ...]:
    """Return the folders of this machine that the configuration file names."""
    path = find_settings() if config is None else config
    if path is None:
        return ()
    from pathlib import Path

    from satchel.config import load_config

    named = tuple(e for e in load_config(Path(path)).skills if "://" not in e)
    for folder in named:
        if not Path(folder).exists():
            raise MissingPathError(folder)
    return named
