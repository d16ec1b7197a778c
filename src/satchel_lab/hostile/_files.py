"""Special files and links, files that cannot be read, folders deep or wide."""

import os
import socket
from functools import partial
from pathlib import Path
from typing import Final

from satchel_lab.hostile._pack import (
    BAD,
    GOOD_NAME,
    SECRET,
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
    _special(
        "fifo-pack", lambda library: _fifo(library / BAD), "the pack itself is a FIFO"
    ),
    _special(
        "file-pack",
        lambda library: (library / BAD).touch(),
        "the pack itself is a file",
    ),
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


TREE_PACKS: Final[list[HostilePack]] = []
_tree: Final = partial(add_to, TREE_PACKS, "tree")


@_tree("wide", "T8", "three thousand empty folders")
def _wide(library: Path) -> None:
    for i in range(3_000):
        (library / BAD / f"{i:05}").mkdir(parents=True)


@_tree("many-files", "T8", "a pack of ten thousand files")
def _many_files(library: Path) -> None:
    _fill(write_skill(library, BAD, front().encode()), 10_000)


@_tree("many-files-no-skill", "T8", "twenty thousand files and no SKILL.md")
def _many_files_no_skill(library: Path) -> None:
    (library / BAD).mkdir()
    _fill(library / BAD, 20_000)


def _fill(folder: Path, count: int) -> None:
    for i in range(count):
        os.close(os.open(folder / f"{i:05}.md", os.O_CREAT | os.O_WRONLY))


@_tree("many-packs", "T8", "a thousand packs that are well")
def _many_packs(library: Path) -> None:
    for i in range(1_000):
        name = f"{BAD}-{i:04}"
        write_skill(library, name, front(name=name).encode())


@_tree("many-bad-packs", "T8", "a thousand that are not")
def _many_bad_packs(library: Path) -> None:
    for i in range(1_000):
        write_skill(library, f"{BAD}-{i:04}", b"---\nname: [\n---\n")


@_tree("deep", "T8", "a pack under two hundred folders")
def _deep(library: Path) -> None:
    _go_down(library / BAD, 200, "d", front())


@_tree("deep-in-pack", "T8", "two hundred folders in a pack")
def _deep_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    _go_down(pack / "references", 200, "d", "x")


@_tree("deeper-than-a-path", "T8", "folders in folders for 8,000 bytes of path")
def _deeper_than_a_path(library: Path) -> None:
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


@_tree("bushy", "T8", "five folders in each of five, 3,906 in all")
def _bushy(library: Path) -> None:
    level = [library / BAD]
    for _ in range(6):
        for folder in level:
            folder.mkdir()
        level = [folder / str(i) for folder in level for i in range(5)]


@_tree("packs-in-pack", "T8", "five hundred packs in a pack")
def _packs_in_pack(library: Path) -> None:
    pack = write_skill(library, BAD, front().encode())
    for i in range(500):
        write_skill(pack, f"inner-{i}", front(name=f"inner-{i}").encode())


@_tree("dependencies", "T8", "packs in node_modules, .git, .venv and __pycache__")
def _dependencies(library: Path) -> None:
    for place in ("node_modules", ".git", ".venv/lib", "__pycache__"):
        for i in range(100):
            write_skill(library / place, f"p{i}", front(name=f"p{i}").encode())


LINK_PACKS: Final[list[HostilePack]] = []
_link: Final = partial(add_to, LINK_PACKS, "link")


def _outside(library: Path) -> Path:
    """Write a secret that reads like a SKILL.md next to the library."""
    place = library.parent / "outside"
    place.mkdir()
    secret = place / "secret.md"
    secret.write_text(front(SECRET), "utf-8")
    return secret


def _pack(library: Path) -> Path:
    return write_skill(library, BAD, front().encode())


@_link("skill-out", "T3", "SKILL.md is a link to a secret")
def _skill_out(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to(_outside(library))


@_link("skill-out-relative", "T3", "the same by ../..")
def _skill_out_relative(library: Path) -> None:
    _outside(library)
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to("../../outside/secret.md")


@_link("skill-to-neighbour", "T3", "SKILL.md is a link to that of the good neighbour")
def _skill_to_neighbour(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to(f"../{GOOD_NAME}/SKILL.md")


@_link("folder-out", "T3", "references/ is a link to a folder of secrets")
def _folder_out(library: Path) -> None:
    _outside(library)
    pack = _pack(library)
    (pack / "references").symlink_to("../../outside", target_is_directory=True)


@_link("nested-pack-out", "T3", "a link below the first level to a pack elsewhere")
def _nested_pack_out(library: Path) -> None:
    place = library.parent / "outside" / "other"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(front(SECRET, "outside"), "utf-8")
    (library / BAD).mkdir()
    (library / BAD / "inner").symlink_to(place, target_is_directory=True)


@_link("reference-out", "T3", "a declared reference is a link to a secret")
def _reference_out(library: Path) -> None:
    secret = _outside(library)
    pack = write_skill(library, BAD, front(more="references: [guide.md]").encode())
    (pack / "references").mkdir()
    (pack / "references" / "guide.md").symlink_to(secret)


@_link("to-root", "T8", "the pack is a link to /")
def _to_root(library: Path) -> None:
    (library / BAD).symlink_to("/", target_is_directory=True)


@_link("to-parent", "T8", "the pack is a link to what the library is in")
def _to_parent(library: Path) -> None:
    (library / BAD).symlink_to("..", target_is_directory=True)


@_link("magic", "T3", "links to /proc/self/root and cwd")
def _magic(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "root").symlink_to("/proc/self/root", target_is_directory=True)
    (library / BAD / "cwd").symlink_to("/proc/self/cwd", target_is_directory=True)


@_link("to-library", "T8", "a link back to the library")
def _to_library(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "again").symlink_to(library, target_is_directory=True)


@_link("to-itself", "T8", "a link to itself")
def _to_itself(library: Path) -> None:
    (library / BAD).symlink_to(BAD)


@_link("pair", "T8", "two folders that link each other")
def _pair(library: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (library / BAD / one).mkdir(parents=True)
        (library / BAD / one / "other").symlink_to(f"../{other}")


@_link("pack-cycle", "T8", "a link inside a pack back to the pack")
def _pack_cycle(library: Path) -> None:
    pack = _pack(library)
    (pack / "references").mkdir()
    (pack / "references" / "again").symlink_to("..", target_is_directory=True)


@_link("broken", "T8", "links to nothing")
def _broken(library: Path) -> None:
    (library / BAD).mkdir()
    (library / BAD / "SKILL.md").symlink_to("nowhere.md")
    (library / "bad-folder").symlink_to("nowhere", target_is_directory=True)


@_link("chain", "T8", "sixty links in a row")
def _chain(library: Path) -> None:  # systems give up after forty
    (library / "bad-0").symlink_to(GOOD_NAME, target_is_directory=True)
    for i in range(1, 60):
        (library / f"bad-{i}").symlink_to(f"bad-{i - 1}", target_is_directory=True)


@_link("farm", "T8", "a thousand links to the neighbour")
def _farm(library: Path) -> None:
    for i in range(1_000):
        (library / f"bad-{i:03}").symlink_to(GOOD_NAME, target_is_directory=True)


@_link("doubling", "T8", "links that make sixteen million paths of 25 folders")
def _doubling(library: Path) -> None:
    for i in range(24):
        level = library / f"bad-{i:02}"
        level.mkdir()
        for way in ("left", "right"):
            (level / way).symlink_to(f"../bad-{i + 1:02}", target_is_directory=True)
    (library / "bad-24").mkdir()


@_link("hard-link-out", "T5", "a reference that is a hard link to a secret")
def _hard_link_out(library: Path) -> None:
    secret = _outside(library)
    pack = _pack(library)
    (pack / "references").mkdir()
    os.link(secret, pack / "references" / "guide.md")


@_link("hard-link-skill", "T5", "the neighbour's SKILL.md under another name")
def _hard_link_skill(library: Path) -> None:
    (library / BAD).mkdir()
    os.link(library / GOOD_NAME / "SKILL.md", library / BAD / "SKILL.md")
