"""The libraries that are listed: 12 packs that ship, and 100 public ones.

Public packs are not committed. Of a folder of libraries those are taken that every
loader takes: valid by the specification, with text files only, and not large. They are
sorted by name, and 100 are drawn at equal distances, so that equal folders give equal
packs.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHIPPED: Final = Path(__file__).parents[2] / "src" / "satchel" / "packs"
FEW: Final = 12
MANY: Final = 100
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Of the fields of the specification, those that every loader takes as they should be.
_FIELDS: Final = {"name", "description", "license", "metadata"}
_MAX_DESCRIPTION: Final = 1024
_MAX_NAME: Final = 64
_MAX_FILES: Final = 20
_MAX_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack's folder, and what its SKILL.md says."""

    folder: Path
    name: str
    description: str
    body: str
    files: int


@dataclass(frozen=True, slots=True)
class Library:
    """Packs in one folder, and the one that is loaded: the median of their bodies."""

    about: str
    folder: Path
    packs: tuple[Pack, ...]

    @property
    def loaded(self) -> Pack:
        """The pack to load, one with further files if there is any."""
        with_files = [pack for pack in self.packs if pack.files] or self.packs
        by_size = sorted(with_files, key=lambda pack: (len(pack.body), pack.name))
        return by_size[len(by_size) // 2]


def write_libraries(home: Path, public: Path | None) -> Iterator[Library]:
    """Copy the packs into folders below ``home``, and yield each library.

    Raises:
        ValueError: ``public`` has too few packs that every loader takes.
    """
    shipped = read_packs(sorted(SHIPPED.iterdir()))[:FEW]
    yield _write(home / "few", f"{FEW} role packs that ship with Satchel", shipped)
    if public is None:
        return
    folders = sorted(path.parent for path in public.rglob("SKILL.md"))
    packs = sorted(read_packs(folders), key=lambda pack: pack.name)
    if len(packs) < MANY:
        raise ValueError(
            f"{public} has {len(packs)} packs that every loader takes, and {MANY} are "
            "needed: name a folder with more public libraries."
        )
    drawn = [packs[number * len(packs) // MANY] for number in range(MANY)]
    about = f"{MANY} packs of public libraries"
    yield _write(home / "many", about, drawn)


def read_packs(folders: Sequence[Path]) -> list[Pack]:
    """Return the packs that every loader takes, the first of each name."""
    packs: dict[str, Pack] = {}
    for folder in folders:
        pack = _read(folder)
        if pack is not None:
            packs.setdefault(pack.name, pack)
    return list(packs.values())


def _read(folder: Path) -> Pack | None:
    skill = folder / "SKILL.md"
    paths = [path for path in folder.rglob("*") if not path.is_dir()]
    if skill not in paths or len(paths) > _MAX_FILES or not all(map(_is_plain, paths)):
        return None
    head, _, body = skill.read_text("utf-8").removeprefix("---\n").partition("\n---\n")
    try:
        fields = yaml.safe_load(head)
    except yaml.YAMLError:
        return None
    if not isinstance(fields, dict) or not _FIELDS.issuperset(fields):
        return None
    name, description = fields.get("name"), fields.get("description")
    is_valid = (
        isinstance(name, str)
        and isinstance(description, str)
        and name == folder.name
        and len(name) <= _MAX_NAME
        and _NAME.fullmatch(name)
        and 0 < len(description) <= _MAX_DESCRIPTION
        and "\n" not in description.strip()
        and body.strip()
    )
    if not is_valid:
        return None
    return Pack(
        folder, str(name), " ".join(str(description).split()), body, len(paths) - 1
    )


def _is_plain(path: Path) -> bool:
    if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
        return False
    try:
        path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _write(folder: Path, about: str, packs: Sequence[Pack]) -> Library:
    for pack in packs:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(pack.folder, folder / pack.name, ignore=ignored)
    return Library(about, folder, tuple(packs))
