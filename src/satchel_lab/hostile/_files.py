"""Special files and links, files that cannot be read, folders deep or wide."""

import os
import socket
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Final

from satchel_lab.hostile._pack import (
    BAD,
    GOOD_NAME,
    SECRET,
    CannotMake,
    HostilePack,
    Writes,
    front,
    write_skill,
    written,
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


def _pack(name: str, make: Writes, what: str) -> HostilePack:
    """Return a pack that is something else than a folder."""
    return _special(name, lambda library: make(library / BAD), what)


def _skill(name: str, make: Writes, what: str) -> HostilePack:
    """Return a pack with something that is made in place of its SKILL.md."""

    def writes(library: Path) -> None:
        pack = library / BAD
        pack.mkdir()
        make(pack / "SKILL.md")

    return _special(name, writes, what)


def _reference(name: str, make: Writes, what: str) -> HostilePack:
    """Return a pack with something made as the one reference that it declares."""

    def writes(library: Path) -> None:
        pack = write_skill(library, BAD, front(more="references: [guide.md]").encode())
        (pack / "references").mkdir()
        make(pack / "references" / "guide.md")

    return _special(name, writes, what)


def _inner_skill(path: Path) -> None:
    path.mkdir()
    (path / "SKILL.md").write_text(front(), "utf-8")


SPECIAL_PACKS: Final[tuple[HostilePack, ...]] = (
    _skill("fifo", _fifo, "SKILL.md is a FIFO"),
    _skill("socket", _socket, "SKILL.md is a socket"),
    _skill("folder", Path.mkdir, "SKILL.md is a folder"),
    _skill("folder-in-folder", _inner_skill, "SKILL.md is a folder with a SKILL.md"),
    _skill("dev-zero", _link_to("/dev/zero"), "SKILL.md is endless"),
    _skill("dev-random", _link_to("/dev/urandom"), "SKILL.md is endless noise"),
    _skill("dev-null", _link_to("/dev/null"), "SKILL.md is no bytes"),
    _skill("dev-tty", _link_to("/dev/tty"), "SKILL.md is the terminal"),
    _skill("dev-stdin", _link_to("/dev/stdin"), "SKILL.md is what the reader is fed"),
    _skill(
        "proc-mem", _link_to("/proc/self/mem"), "SKILL.md is the reader's own memory"
    ),
    _reference("fifo-reference", _fifo, "a declared reference is a FIFO"),
    _reference("socket-reference", _socket, "a declared reference is a socket"),
    _reference("folder-reference", Path.mkdir, "a declared reference is a folder"),
    _reference(
        "dev-zero-reference", _link_to("/dev/zero"), "a declared reference is endless"
    ),
    _pack("fifo-pack", _fifo, "the pack itself is a FIFO"),
    _pack("file-pack", Path.touch, "the pack itself is a file"),
    _skill("closed-skill", _closed, "SKILL.md without the right to read it"),
    _special(
        "closed-pack",
        lambda library: _closed(write_skill(library, BAD, front().encode())),
        "a pack without the right to list it",
    ),
    _reference(
        "closed-reference", _closed, "a declared reference without the right to read it"
    ),
)


def _deep(name: str, top: str, level: str, what: str) -> HostilePack:
    """Return a pack of two hundred folders in each other, and a SKILL.md below."""

    def writes(library: Path) -> None:
        if os.mkdir not in os.supports_dir_fd:
            raise CannotMake("this system makes no folder relative to another")
        if top != BAD:
            write_skill(library, BAD, front().encode())
        (library / top).mkdir()
        fd = os.open(library / top, os.O_RDONLY)
        for _ in range(200):
            # Relative to the folder above: the whole path may be too long for a system
            # call.
            os.mkdir(level, dir_fd=fd)
            below = os.open(level, os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = below
        file = os.open("SKILL.md", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd)
        os.close(fd)
        os.write(file, b"x" if top != BAD else front().encode())
        os.close(file)

    return HostilePack(name, "tree", "T8", writes, what)


_SKILL: Final = f"{BAD}/SKILL.md"
_SKILL_MD: Final = {_SKILL: front()}
_NAMES: Final = [f"{BAD}-{i:04}" for i in range(1_000)]
_INNER: Final = [f"inner-{i}" for i in range(500)]
_DEPENDENCIES: Final = ("node_modules", ".git", ".venv/lib", "__pycache__")
# A path that ends in a slash is an empty folder.
_TREES: Final[dict[tuple[str, str], Callable[[], Mapping[str, str]]]] = {
    ("wide", "three thousand empty folders"): lambda: {
        f"{BAD}/{i:05}/": "" for i in range(3_000)
    },
    ("many-files", "a pack of ten thousand files"): lambda: {
        **_SKILL_MD,
        **{f"{BAD}/{i:05}.md": "" for i in range(10_000)},
    },
    ("many-files-no-skill", "twenty thousand files and no SKILL.md"): lambda: {
        f"{BAD}/{i:05}.md": "" for i in range(20_000)
    },
    ("many-packs", "a thousand packs that are well"): lambda: {
        f"{name}/SKILL.md": front(name=name) for name in _NAMES
    },
    ("many-bad-packs", "a thousand that are not"): lambda: {
        f"{name}/SKILL.md": "---\nname: [\n---\n" for name in _NAMES
    },
    ("bushy", "five folders in each of five, 3,906 in all"): lambda: {
        f"{BAD}/{'/'.join(way)}/": "" for way in product("01234", repeat=5)
    },
    ("packs-in-pack", "five hundred packs in a pack"): lambda: {
        **_SKILL_MD,
        **{f"{BAD}/{p}/SKILL.md": front(name=p) for p in _INNER},
    },
    ("dependencies", "packs in node_modules, .git, .venv and __pycache__"): lambda: {
        f"{place}/p{i}/SKILL.md": front(name=f"p{i}")
        for place in _DEPENDENCIES
        for i in range(100)
    },
}
TREE_PACKS: Final[tuple[HostilePack, ...]] = (
    *(written("tree", name, "T8", what, _TREES[name, what]) for name, what in _TREES),
    _deep("deep", BAD, "d", "a pack under two hundred folders"),
    _deep("deep-in-pack", f"{BAD}/references", "d", "two hundred folders in a pack"),
    _deep(
        "deeper-than-a-path",
        BAD,
        "d" * 40,
        "folders in folders for 8,000 bytes of path",
    ),
)


# By name, threat and what it is: each link, and where it leads. A manifest is written,
# and what leads nowhere is a folder. Next to the library is a secret, as a SKILL.md.
_GUIDE: Final = f"{BAD}/references/guide.md"
_OUT: Final = "{outside}/secret.md"
_LINKS: Final[dict[tuple[str, str, str], Mapping[str, str]]] = {
    ("skill-out", "T3", "SKILL.md is a link to a secret"): {_SKILL: _OUT},
    ("skill-out-relative", "T3", "the same by ../.."): {
        _SKILL: "../../outside/secret.md"
    },
    ("skill-to-neighbour", "T3", "SKILL.md is a link to that of the good neighbour"): {
        _SKILL: f"../{GOOD_NAME}/SKILL.md"
    },
    ("folder-out", "T3", "references/ is a link to a folder of secrets"): {
        **_SKILL_MD,
        f"{BAD}/references": "../../outside",
    },
    ("nested-pack-out", "T3", "a link below the first level to a pack elsewhere"): {
        "../outside/other/SKILL.md": front(SECRET, "outside"),
        f"{BAD}/inner": "{outside}/other",
    },
    ("reference-out", "T3", "a declared reference is a link to a secret"): {
        _SKILL: front(more="references: [guide.md]"),
        _GUIDE: _OUT,
    },
    ("to-root", "T8", "the pack is a link to /"): {BAD: "/"},
    ("to-parent", "T8", "the pack is a link to what the library is in"): {BAD: ".."},
    ("magic", "T3", "links to /proc/self/root and cwd"): {
        f"{BAD}/{name}": f"/proc/self/{name}" for name in ("root", "cwd")
    },
    ("to-library", "T8", "a link back to the library"): {f"{BAD}/again": "{library}"},
    ("to-itself", "T8", "a link to itself"): {BAD: BAD},
    ("pair", "T8", "two folders that link each other"): {
        f"{BAD}/a/other": "../b",
        f"{BAD}/b/other": "../a",
    },
    ("pack-cycle", "T8", "a link inside a pack back to the pack"): {
        **_SKILL_MD,
        f"{BAD}/references/again": "..",
    },
    ("broken", "T8", "links to nothing"): {
        _SKILL: "nowhere.md",
        f"{BAD}-folder": "nowhere",
    },
    # Systems give up after forty.
    ("chain", "T8", "sixty links in a row"): {
        f"{BAD}-{i}": f"{BAD}-{i - 1}" if i else GOOD_NAME for i in range(60)
    },
    ("farm", "T8", "a thousand links to the neighbour"): {
        f"{BAD}-{i:03}": GOOD_NAME for i in range(1_000)
    },
    ("doubling", "T8", "links that make sixteen million paths of 25 folders"): {
        f"{BAD}-{i:02}/{way}": f"../{BAD}-{i + 1:02}"
        for i in range(24)
        for way in ("left", "right")
    }
    | {f"{BAD}-24": ""},
    ("hard-link-out", "T5", "a reference that is a hard link to a secret"): {
        **_SKILL_MD,
        _GUIDE: _OUT,
    },
    ("hard-link-skill", "T5", "the neighbour's SKILL.md under another name"): {
        _SKILL: f"{{library}}/{GOOD_NAME}/SKILL.md"
    },
}


def _linked(name: str, threat: str, what: str) -> HostilePack:
    links = _LINKS[name, threat, what]

    def writes(library: Path) -> None:
        outside = library.parent / "outside"
        if any(to.endswith(("/outside", "/secret.md")) for to in links.values()):
            outside.mkdir()
            (outside / "secret.md").write_text(front(SECRET), "utf-8")
        for path, target in links.items():
            place, to = library / path, target.format(library=library, outside=outside)
            place.parent.mkdir(parents=True, exist_ok=True)
            if not to:
                place.mkdir()
            elif to.startswith("---"):
                place.write_text(to, "utf-8")
            elif name.startswith("hard"):
                os.link(to, place)
            else:
                place.symlink_to(to, target_is_directory=not to.endswith(".md"))

    return HostilePack(name, "link", threat, writes, what)


LINK_PACKS: Final[tuple[HostilePack, ...]] = tuple(_linked(*row) for row in _LINKS)
