"""Folders that are deep, wide, or somebody else's."""

import os
from functools import partial
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import (
    BAD,
    CannotMake,
    HostilePack,
    front,
    write_skill,
)

_tree: Final = partial(HostilePack, kind="tree", threat="T8")


def _wide(library: Path) -> None:
    for i in range(3_000):
        (library / BAD / f"{i:05}").mkdir(parents=True)


def _many_files(library: Path) -> None:
    _fill(write_skill(library, BAD, front().encode()), 10_000)


def _many_files_no_skill(library: Path) -> None:
    (library / BAD).mkdir()
    _fill(library / BAD, 20_000)


def _fill(folder: Path, count: int) -> None:
    for i in range(count):
        os.close(os.open(folder / f"{i:05}.md", os.O_CREAT | os.O_WRONLY))


def _many_packs(library: Path) -> None:
    for i in range(1_000):
        name = f"{BAD}-{i:04}"
        write_skill(library, name, front(name=name).encode())


def _many_bad_packs(library: Path) -> None:
    for i in range(1_000):
        write_skill(library, f"{BAD}-{i:04}", b"---\nname: [\n---\n")


def _deep(library: Path) -> None:
    _go_down(library / BAD, 200, "d", front())


def _deep_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    _go_down(pack / "references", 200, "d", "x")


def _deeper_than_a_path(library: Path) -> None:
    """Make folders whose path is longer than a system call takes."""
    _go_down(library / BAD, 200, "d" * 40, front())


def _go_down(top: Path, levels: int, name: str, text: str) -> None:
    """Make a folder in a folder, and a SKILL.md at the bottom."""
    if os.mkdir not in os.supports_dir_fd:
        raise CannotMake("this system makes no folder relative to another")
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    file = os.open("SKILL.md", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd)
    os.close(fd)
    os.write(file, text.encode())
    os.close(file)


def _bushy(library: Path) -> None:
    """Make five folders in each of five, five levels down: 3,906 in all."""
    level = [library / BAD]
    for _ in range(6):
        for folder in level:
            folder.mkdir()
        level = [folder / str(i) for folder in level for i in range(5)]


def _packs_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    for i in range(500):
        write_skill(pack, f"inner-{i}", front(name=f"inner-{i}").encode())


def _dependencies(library: Path) -> None:
    for place in ("node_modules", ".git", ".venv/lib", "__pycache__"):
        for i in range(100):
            write_skill(library / place, f"p{i}", front(name=f"p{i}").encode())


PACKS: Final[tuple[HostilePack, ...]] = (
    _tree("wide", writes=_wide, what="three thousand empty folders"),
    _tree("many-files", writes=_many_files, what="a pack of ten thousand files"),
    _tree(
        "many-files-no-skill",
        writes=_many_files_no_skill,
        what="twenty thousand files and no SKILL.md",
    ),
    _tree("many-packs", writes=_many_packs, what="a thousand packs that are well"),
    _tree("many-bad-packs", writes=_many_bad_packs, what="a thousand that are not"),
    _tree("deep", writes=_deep, what="a pack under two hundred folders"),
    _tree("deep-in-pack", writes=_deep_in_pack, what="two hundred folders in a pack"),
    _tree(
        "deeper-than-a-path",
        writes=_deeper_than_a_path,
        what="folders in folders for 8,000 bytes of path",
    ),
    _tree("bushy", writes=_bushy, what="five folders in each of five, 3,906 in all"),
    _tree("packs-in-pack", writes=_packs_in_pack, what="five hundred packs in a pack"),
    _tree(
        "dependencies",
        writes=_dependencies,
        what="packs in node_modules, .git, .venv and __pycache__",
    ),
)
