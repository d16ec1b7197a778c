"""Special files, files that cannot be read, and folders that are deep or wide."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import (
    BAD,
    CannotMake,
    HostilePack,
    Writes,
    add_to,
    front,
    write_skill,
)


def _special(name: str, writes: Writes, what: str) -> HostilePack:
    return HostilePack(name, "special", "T7", writes, what)


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


def _link_to(target: str) -> Writes:
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


def _instead(make: Writes) -> Writes:
    """Return what makes it in place of the SKILL.md."""

    def writes(library: Path) -> None:
        pack = library / BAD
        pack.mkdir()
        make(pack / "SKILL.md")

    return writes


def _next_to(make: Writes) -> Writes:
    """Return what makes it as ``references/guide.md`` of a pack that declares it."""

    def writes(library: Path) -> None:
        pack = write_skill(library, BAD, front(more="references: [guide.md]").encode())
        (pack / "references").mkdir()
        make(pack / "references" / "guide.md")

    return writes


def _pack_itself(make: Writes) -> Writes:
    return lambda library: make(library / BAD)


def _closed_folder(library: Path) -> None:
    _closed(write_skill(library, BAD, front().encode()))


def _inner_skill(path: Path) -> None:
    """Make a folder named SKILL.md with a SKILL.md in it."""
    path.mkdir()
    (path / "SKILL.md").write_text(front(), "utf-8")


SPECIAL_PACKS: Final[tuple[HostilePack, ...]] = (
    _special("fifo", _instead(_fifo), "SKILL.md is a FIFO"),
    _special("socket", _instead(_socket), "SKILL.md is a socket"),
    _special("folder", _instead(Path.mkdir), "SKILL.md is a folder"),
    _special(
        "folder-in-folder",
        _instead(_inner_skill),
        "SKILL.md is a folder with a SKILL.md",
    ),
    _special("dev-zero", _instead(_link_to("/dev/zero")), "SKILL.md is endless"),
    _special(
        "dev-random", _instead(_link_to("/dev/urandom")), "SKILL.md is endless noise"
    ),
    _special("dev-null", _instead(_link_to("/dev/null")), "SKILL.md is no bytes"),
    _special("dev-tty", _instead(_link_to("/dev/tty")), "SKILL.md is the terminal"),
    _special(
        "dev-stdin",
        _instead(_link_to("/dev/stdin")),
        "SKILL.md is what the reader is fed",
    ),
    _special(
        "proc-mem",
        _instead(_link_to("/proc/self/mem")),
        "SKILL.md is the reader's own memory",
    ),
    _special("fifo-reference", _next_to(_fifo), "a declared reference is a FIFO"),
    _special("socket-reference", _next_to(_socket), "a declared reference is a socket"),
    _special(
        "folder-reference", _next_to(Path.mkdir), "a declared reference is a folder"
    ),
    _special(
        "dev-zero-reference",
        _next_to(_link_to("/dev/zero")),
        "a declared reference is endless",
    ),
    _special("fifo-pack", _pack_itself(_fifo), "the pack itself is a FIFO"),
    _special("file-pack", _pack_itself(Path.touch), "the pack itself is a file"),
    _special(
        "closed-skill", _instead(_closed), "SKILL.md without the right to read it"
    ),
    _special("closed-pack", _closed_folder, "a pack without the right to list it"),
    _special(
        "closed-reference",
        _next_to(_closed),
        "a declared reference without the right to read it",
    ),
)


TREE_PACKS: Final[list[HostilePack]] = []


def _tree(name: str, what: str) -> Callable[[Writes], Writes]:
    return add_to(TREE_PACKS, "tree", name, "T8", what)


@_tree("wide", "three thousand empty folders")
def _wide(library: Path) -> None:
    for i in range(3_000):
        (library / BAD / f"{i:05}").mkdir(parents=True)


@_tree("many-files", "a pack of ten thousand files")
def _many_files(library: Path) -> None:
    _fill(write_skill(library, BAD, front().encode()), 10_000)


@_tree("many-files-no-skill", "twenty thousand files and no SKILL.md")
def _many_files_no_skill(library: Path) -> None:
    (library / BAD).mkdir()
    _fill(library / BAD, 20_000)


def _fill(folder: Path, count: int) -> None:
    for i in range(count):
        os.close(os.open(folder / f"{i:05}.md", os.O_CREAT | os.O_WRONLY))


@_tree("many-packs", "a thousand packs that are well")
def _many_packs(library: Path) -> None:
    for i in range(1_000):
        name = f"{BAD}-{i:04}"
        write_skill(library, name, front(name=name).encode())


@_tree("many-bad-packs", "a thousand that are not")
def _many_bad_packs(library: Path) -> None:
    for i in range(1_000):
        write_skill(library, f"{BAD}-{i:04}", b"---\nname: [\n---\n")


@_tree("deep", "a pack under two hundred folders")
def _deep(library: Path) -> None:
    _go_down(library / BAD, 200, "d", front())


@_tree("deep-in-pack", "two hundred folders in a pack")
def _deep_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    _go_down(pack / "references", 200, "d", "x")


@_tree("deeper-than-a-path", "folders in folders for 8,000 bytes of path")
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


@_tree("bushy", "five folders in each of five, 3,906 in all")
def _bushy(library: Path) -> None:
    """Make five folders in each of five, five levels down: 3,906 in all."""
    level = [library / BAD]
    for _ in range(6):
        for folder in level:
            folder.mkdir()
        level = [folder / str(i) for folder in level for i in range(5)]


@_tree("packs-in-pack", "five hundred packs in a pack")
def _packs_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    for i in range(500):
        write_skill(pack, f"inner-{i}", front(name=f"inner-{i}").encode())


@_tree("dependencies", "packs in node_modules, .git, .venv and __pycache__")
def _dependencies(library: Path) -> None:
    for place in ("node_modules", ".git", ".venv/lib", "__pycache__"):
        for i in range(100):
            write_skill(library / place, f"p{i}", front(name=f"p{i}").encode())
