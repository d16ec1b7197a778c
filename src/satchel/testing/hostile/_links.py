"""Links: out of the library, in circles, and by the thousand."""

import os
from functools import partial
from pathlib import Path
from typing import Final

from satchel.testing.hostile._pack import (
    BAD,
    GOOD_NAME,
    SECRET,
    HostilePack,
    add_to,
    front,
    write_skill,
)

PACKS: Final[list[HostilePack]] = []
_link: Final = partial(add_to, PACKS, "link")


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
    """Link to a folder of secrets from inside the pack, where none is followed."""
    _outside(library)
    pack = _pack(library)
    (pack / "references").symlink_to("../../outside", target_is_directory=True)


@_link("nested-pack-out", "T3", "a link below the first level to a pack elsewhere")
def _nested_pack_out(library: Path) -> None:
    """Link to a pack elsewhere from below the library's first level."""
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
def _chain(library: Path) -> None:
    """Make sixty links in a row; systems give up after forty."""
    (library / "bad-0").symlink_to(GOOD_NAME, target_is_directory=True)
    for i in range(1, 60):
        (library / f"bad-{i}").symlink_to(f"bad-{i - 1}", target_is_directory=True)


@_link("farm", "T8", "a thousand links to the neighbour")
def _farm(library: Path) -> None:
    for i in range(1_000):
        (library / f"bad-{i:03}").symlink_to(GOOD_NAME, target_is_directory=True)


@_link("doubling", "T8", "links that make sixteen million paths of 25 folders")
def _doubling(library: Path) -> None:
    """Make 24 folders with two links each to the next: 16 million ways through."""
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
