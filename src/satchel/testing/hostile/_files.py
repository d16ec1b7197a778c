"""Special files, files that cannot be read, and folders that are deep or wide."""

import os
import socket
from collections.abc import Callable
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

_special: Final = partial(HostilePack, kind="special", threat="T7")


def _fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        raise CannotMake("this system has no FIFOs")
    os.mkfifo(path)


def _socket(path: Path) -> None:
    if not hasattr(socket, "AF_UNIX"):
        raise CannotMake("this system has no sockets in folders")
    # An address may be no longer than about a hundred bytes, so it is relative.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _link_to(target: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        if not Path(target).exists():
            raise CannotMake(f"this system has no {target}")
        path.symlink_to(target)

    return make


def _closed(path: Path) -> None:
    """Take all rights from what is there, or from a new file."""
    if not hasattr(os, "geteuid"):
        raise CannotMake("this system keeps rights in another way")
    if not os.geteuid():
        raise CannotMake("root reads it all the same")
    if not path.exists():
        path.write_text(front(), "utf-8")
    path.chmod(0)


def _instead(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return what makes it in place of the SKILL.md."""

    def writes(library: Path) -> None:
        pack = library / BAD
        pack.mkdir()
        make(pack / "SKILL.md")

    return writes


def _next_to(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return what makes it as ``references/guide.md`` of a pack that declares it."""

    def writes(library: Path) -> None:
        pack = write_skill(library, BAD, front(more="references: [guide.md]").encode())
        (pack / "references").mkdir()
        make(pack / "references" / "guide.md")

    return writes


def _pack_itself(make: Callable[[Path], None]) -> Callable[[Path], None]:
    return lambda library: make(library / BAD)


def _closed_folder(library: Path) -> None:
    _closed(write_skill(library, BAD, front().encode()))


def _inner_skill(path: Path) -> None:
    """Make a folder named SKILL.md with a SKILL.md in it."""
    path.mkdir()
    (path / "SKILL.md").write_text(front(), "utf-8")


SPECIAL_PACKS: Final[tuple[HostilePack, ...]] = (
    _special("fifo", writes=_instead(_fifo), what="SKILL.md is a FIFO"),
    _special("socket", writes=_instead(_socket), what="SKILL.md is a socket"),
    _special("folder", writes=_instead(Path.mkdir), what="SKILL.md is a folder"),
    _special(
        "folder-in-folder",
        writes=_instead(_inner_skill),
        what="SKILL.md is a folder with a SKILL.md",
    ),
    _special(
        "dev-zero", writes=_instead(_link_to("/dev/zero")), what="SKILL.md is endless"
    ),
    _special(
        "dev-random",
        writes=_instead(_link_to("/dev/urandom")),
        what="SKILL.md is endless noise",
    ),
    _special(
        "dev-null", writes=_instead(_link_to("/dev/null")), what="SKILL.md is no bytes"
    ),
    _special(
        "dev-tty",
        writes=_instead(_link_to("/dev/tty")),
        what="SKILL.md is the terminal",
    ),
    _special(
        "dev-stdin",
        writes=_instead(_link_to("/dev/stdin")),
        what="SKILL.md is what the reader is fed",
    ),
    _special(
        "proc-mem",
        writes=_instead(_link_to("/proc/self/mem")),
        what="SKILL.md is the reader's own memory",
    ),
    _special(
        "fifo-reference", writes=_next_to(_fifo), what="a declared reference is a FIFO"
    ),
    _special(
        "socket-reference",
        writes=_next_to(_socket),
        what="a declared reference is a socket",
    ),
    _special(
        "folder-reference",
        writes=_next_to(Path.mkdir),
        what="a declared reference is a folder",
    ),
    _special(
        "dev-zero-reference",
        writes=_next_to(_link_to("/dev/zero")),
        what="a declared reference is endless",
    ),
    _special("fifo-pack", writes=_pack_itself(_fifo), what="the pack itself is a FIFO"),
    _special(
        "file-pack",
        writes=_pack_itself(Path.touch),
        what="the pack itself is a file",
    ),
    _special(
        "closed-skill",
        writes=_instead(_closed),
        what="SKILL.md without the right to read it",
    ),
    _special(
        "closed-pack", writes=_closed_folder, what="a pack without the right to list it"
    ),
    _special(
        "closed-reference",
        writes=_next_to(_closed),
        what="a declared reference without the right to read it",
    ),
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
        # Relative to the folder above: the whole path may be too long for a system
        # call.
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


TREE_PACKS: Final[tuple[HostilePack, ...]] = (
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
