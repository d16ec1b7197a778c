"""What is no file where one is expected, and files that cannot be read."""

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


def _beside(make: Callable[[Path], None]) -> Callable[[Path], None]:
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


PACKS: Final[tuple[HostilePack, ...]] = (
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
        "fifo-reference", writes=_beside(_fifo), what="a declared reference is a FIFO"
    ),
    _special(
        "socket-reference",
        writes=_beside(_socket),
        what="a declared reference is a socket",
    ),
    _special(
        "folder-reference",
        writes=_beside(Path.mkdir),
        what="a declared reference is a folder",
    ),
    _special(
        "dev-zero-reference",
        writes=_beside(_link_to("/dev/zero")),
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
        writes=_beside(_closed),
        what="a declared reference without the right to read it",
    ),
)
